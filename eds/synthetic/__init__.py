"""A drawn fashion catalogue whose true similarity is known, and simulated experts who judge it."""
