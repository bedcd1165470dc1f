"""Analyses of a project, one file each.

An analysis is a module with `INPUTS` (the fields of `AnalysisInputs` that it needs), `Options` (a frozen dataclass) and
`analyse(inputs, options)`, which returns what is stored and shown as JSON. `eds.analysis.analyse` runs one by its name.
"""
