"""Glossaries: reading them, the forms of their terms, where they occur, and their outcomes."""
