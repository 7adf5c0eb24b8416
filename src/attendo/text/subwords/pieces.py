"""How SentencePiece spells pieces of words."""

SPACE_MARK = "\u2581"
"""What SentencePiece writes for a space."""
