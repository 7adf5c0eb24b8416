"""The inference of Section 6.1: greedy and beam search over one step interface, and the engine around it."""
