"""Spelling of pieces in SentencePiece."""

SPACE_MARK = "\u2581"
"""SentencePiece's character for a space."""
