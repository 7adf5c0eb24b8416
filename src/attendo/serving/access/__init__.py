"""Who asks, by which key, and how much a caller may have."""
