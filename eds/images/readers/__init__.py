"""Readers of catalogues: each module reads the lists of one format; its function `read` takes a `Source`."""
