"""Figure 3: heads that follow long-distance dependencies."""
