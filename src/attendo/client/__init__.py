"""A client of `attendo serve`, sync and async; needs no torch and no model."""
