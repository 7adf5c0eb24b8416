"""Constraints on translations, as the tokens that may follow a hypothesis."""
