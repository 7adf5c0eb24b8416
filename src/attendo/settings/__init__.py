"""TOML of unknown origin to frozen dataclasses and back, with every problem of a file told at once."""
