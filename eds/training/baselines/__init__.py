"""Hashing without gradients, one file each: `fit(vectors, bits, seed, classes)` returns a head."""
