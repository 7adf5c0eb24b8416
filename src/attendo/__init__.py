"""The Transformer of *Attention Is All You Need* (2017): train, translate, parse, score, look inside.

The names of `__all__` are fetched when they are first used, so that `import attendo` needs no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from attendo.threads import set_up_openmp

if TYPE_CHECKING:
    from attendo.client.asynchronous import AsyncClient
    from attendo.client.sync import Client
    from attendo.decoding.alignment import Alignment
    from attendo.decoding.scoring import PairScore
    from attendo.decoding.translation import Candidate, Translation
    from attendo.decoding.wishes import Wishes
    from attendo.errors import AttendoError, DataError, ModelError, RecipeError
    from attendo.parsing.tree import Span, Tree
    from attendo.recipe import Recipe, load_recipe
    from attendo.workflow.parse import Parse, ParsedTree
    from attendo.workflow.parse_input import Sentence
    from attendo.workflow.translate import Engine, load

__version__ = "0.1.0"

__all__ = [
    "Alignment",
    "AsyncClient",
    "AttendoError",
    "Candidate",
    "Client",
    "DataError",
    "Engine",
    "ModelError",
    "PairScore",
    "Parse",
    "ParsedTree",
    "Recipe",
    "RecipeError",
    "Sentence",
    "Span",
    "Translation",
    "Tree",
    "Wishes",
    "__version__",
    "load",
    "load_recipe",
]

_HOMES = {
    "Alignment": "attendo.decoding.alignment",
    "AsyncClient": "attendo.client.asynchronous",
    "AttendoError": "attendo.errors",
    "Candidate": "attendo.decoding.translation",
    "Client": "attendo.client.sync",
    "DataError": "attendo.errors",
    "Engine": "attendo.workflow.translate",
    "ModelError": "attendo.errors",
    "PairScore": "attendo.decoding.scoring",
    "Parse": "attendo.workflow.parse",
    "ParsedTree": "attendo.workflow.parse",
    "Recipe": "attendo.recipe",
    "RecipeError": "attendo.errors",
    "Sentence": "attendo.workflow.parse_input",
    "Span": "attendo.parsing.tree",
    "Translation": "attendo.decoding.translation",
    "Tree": "attendo.parsing.tree",
    "Wishes": "attendo.decoding.wishes",
    "load": "attendo.workflow.translate",
    "load_recipe": "attendo.recipe",
}


def __getattr__(name: str) -> Any:
    """Fetches a public name from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module 'attendo' has no attribute {name!r}")
    set_up_openmp()  # before what may load torch
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return __all__
