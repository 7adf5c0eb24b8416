"""TOML of unknown origin to frozen dataclasses and back, with all problems of a file reported at once."""
