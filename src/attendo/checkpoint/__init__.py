"""Model folders and a run's checkpoints."""
