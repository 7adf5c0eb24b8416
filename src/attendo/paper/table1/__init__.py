"""Table 1: the cost of each layer type, and the length of the paths between its positions."""
