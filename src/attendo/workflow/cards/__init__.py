"""The README.md of a model folder."""
