"""Callers, their API keys, and their limits."""
