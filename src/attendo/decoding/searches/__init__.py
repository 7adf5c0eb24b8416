"""Greedy search, beam search and sampling over one step interface."""
