"""Model folders and the checkpoints of runs."""
