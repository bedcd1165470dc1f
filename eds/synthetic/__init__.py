"""A drawn fashion catalogue with known true similarity, and simulated experts who judge it."""
