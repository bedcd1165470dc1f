"""Datasets that studies of hashing use, one file each: where their files are, and the split of the literature.

A module has `read` (from a folder to `ImageArrays`), `SPLIT` (the usual split), `PLACES` (folders where a system keeps
it) and `GET` (how to get the files).
"""
