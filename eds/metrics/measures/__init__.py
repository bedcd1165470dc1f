"""Measures, one file for each family: a file defines its formulas and what each measure is called.

Every `Definition` that a file of this folder holds is a measure; `eds.metrics.measure` finds them.
"""
