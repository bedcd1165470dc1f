"""The published tables of VSD-Fashion computed again: each task of the release becomes a project."""
