"""Models exported to other programs and imported from them, with proof that both say the same."""
