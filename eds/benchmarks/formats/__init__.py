"""Formats of benchmarks, one file each."""
