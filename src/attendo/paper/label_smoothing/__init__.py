"""Section 5.4: what label smoothing does."""
