"""Public corpora by name: what they are made of, where that is from, and how it is fetched."""
