"""What can go wrong by a user's data, files or settings; the command line prints each as one line and exits with 1.

AttendoError
├── DataError      a corpus, a shard or a text that cannot be used as it is
├── RecipeError    a recipe, or a --set, that cannot be meant as it stands
└── ModelError     a model or run folder that is missing, torn or of another kind
"""


class AttendoError(Exception):
    """A problem of the user's data, files or settings; the message names it and the way out."""


class DataError(AttendoError):
    """A corpus, a shard or a text that cannot be used as it is."""


class RecipeError(AttendoError):
    """A recipe, or a `--set`, that cannot be meant as it stands."""


class ModelError(AttendoError):
    """A model or run folder that is missing, torn or of another kind."""
