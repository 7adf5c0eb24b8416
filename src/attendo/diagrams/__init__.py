"""Diagrams of a model, drawn from a recording of a run (Figures 1 and 2)."""
