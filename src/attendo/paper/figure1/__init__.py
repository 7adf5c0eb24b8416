"""Figure 1: the architecture, drawn from what a model does."""
