"""Figures 1 and 2, drawn from a model's own computation."""
