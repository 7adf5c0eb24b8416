"""Section 6.1: averaging, beam and length penalty."""
