"""Benchmarks: what others published, read in and handed on, one file a format. See README.md."""

from eds.benchmarks.vsd import Annotations, Files, read_annotations

__all__ = ["Annotations", "Files", "read_annotations"]
