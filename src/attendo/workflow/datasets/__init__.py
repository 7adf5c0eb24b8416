"""Public corpora by name: their parts, origins and download."""
