"""Checks of a translation against its source: what software needs to go on working, and what readers notice."""
