"""Attention weights of every head of every layer for one sentence pair: as data, as pictures, as a page to explore."""
