"""Attention heads (Figures 3 to 5): sentences of known structure, measures against chance, ablation, pictures."""
