"""Errors caused by a user's data, files or settings; the command line prints each as one line and exits with 1.

AttendoError
├── DataError      a corpus, a shard or a text that cannot be used
├── RecipeError    a recipe, or a --set, that is invalid
└── ModelError     a model or run folder that is missing, damaged or of another kind
"""


class AttendoError(Exception):
    """A problem of the user's data, files or settings; the message names the cause and a remedy."""


class DataError(AttendoError):
    """A corpus, a shard or a text that cannot be used."""


class RecipeError(AttendoError):
    """A recipe, or a `--set`, that is invalid."""


class ModelError(AttendoError):
    """A model or run folder that is missing, torn or of another kind."""
