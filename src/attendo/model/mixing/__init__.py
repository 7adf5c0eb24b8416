"""The layer types of Table 1 other than full self-attention."""
