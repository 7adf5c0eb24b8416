"""Constituency trees: reading, writing and drawing them, and EVALB's figures; no tensors."""
