"""Figure 2: scaled dot-product and multi-head attention, drawn from what a model's attention does."""
