"""Figures 1 and 2, drawn from what a model does."""
