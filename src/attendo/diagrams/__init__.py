"""Diagrams of a model: what it does, found by letting it do it, and drawn (Figures 1 and 2)."""
