"""Section 5.4: the effect of label smoothing."""
