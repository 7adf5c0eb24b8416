"""Table 1: what each layer type costs, and how far signals go in it."""
