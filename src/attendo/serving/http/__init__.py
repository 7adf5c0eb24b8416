"""Connections, bodies and answers of HTTP, before and after an API; no model here translates."""
