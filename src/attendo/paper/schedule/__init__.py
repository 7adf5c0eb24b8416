"""Section 5.3: the learning rate, and the effect of its warm-up."""
