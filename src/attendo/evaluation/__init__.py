"""Scores of translations over sacrebleu, with their signatures."""
