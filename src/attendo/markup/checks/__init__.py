"""Checks of a translation against its source, for errors that break software or that readers notice."""
