"""Languages as clients name them, and detection of a text's language."""
