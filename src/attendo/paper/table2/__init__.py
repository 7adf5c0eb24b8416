"""Table 2: BLEU, and what the training cost."""
