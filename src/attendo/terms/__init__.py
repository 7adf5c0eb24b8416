"""Glossaries: reading them, the forms of their terms, where they occur, and what became of them."""
