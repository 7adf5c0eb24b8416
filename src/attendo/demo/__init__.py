"""The embedded default: a phrasebook the project writes itself, and the report about a model trained on it."""
