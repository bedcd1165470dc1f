"""Binary codes: packing, Hamming distances, distance histograms, and formulas that do not depend on tie order."""
