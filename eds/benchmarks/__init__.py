"""Benchmarks: what others published, read in and handed on, one file a format. See README.md."""

from eds.benchmarks.benchmark import Benchmark, Place
from eds.benchmarks.card import Card
from eds.benchmarks.formats.vsd import Annotations, Files, read_annotations

__all__ = ["Annotations", "Benchmark", "Card", "Files", "Place", "read_annotations"]
