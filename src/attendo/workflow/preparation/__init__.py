"""Corpora to a prepared folder: units of work, stages, workers, and the account of every pair."""
