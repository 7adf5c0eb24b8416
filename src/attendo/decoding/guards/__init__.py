"""Treatment of noisy input, which a model trained on clean sentences handles badly, and of degenerate output."""
