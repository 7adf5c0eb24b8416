"""The layer types of Table 1 beside full self-attention."""
