"""Connections, bodies and answers of HTTP, before and after an API; nothing here translates."""
