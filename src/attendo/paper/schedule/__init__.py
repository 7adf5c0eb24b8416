"""Section 5.3: the learning rate, and what warm-up does."""
