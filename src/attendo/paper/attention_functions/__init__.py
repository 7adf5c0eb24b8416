"""Section 3.2.1: scaled, unscaled and additive attention."""
