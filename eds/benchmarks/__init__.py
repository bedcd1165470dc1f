"""Benchmarks: published ones come in, our own go out, and the paper's tables are reproduced. See README.md."""
