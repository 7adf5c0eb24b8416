"""Models exported to other programs and imported from them, with verification that both give the same results."""
