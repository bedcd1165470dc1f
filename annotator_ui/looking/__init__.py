"""Look around: search, the map of the catalogue, near duplicates and who proposed a pair; for leads."""
