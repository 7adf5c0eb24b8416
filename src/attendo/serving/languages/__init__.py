"""Languages as clients name them, and which one a text is in."""
