"""The published tables of VSD-Fashion, computed again and compared cell by cell."""
