"""Section 6.1: checkpoint averaging, beam size and length penalty."""
