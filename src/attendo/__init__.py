"""The Transformer of *Attention Is All You Need* (2017): train, translate, parse, score, inspect.

The names of `__all__` are fetched when they are first used, so that `import attendo` needs no torch.
"""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from attendo.threads import set_up_openmp
from attendo.version import VERSION

if TYPE_CHECKING:
    from attendo.client.asynchronous import AsyncClient
    from attendo.client.sync import Client
    from attendo.decoding.constraints.line_constraints import Constraints
    from attendo.decoding.constraints.terminology import TermUse
    from attendo.decoding.lines.alignment import Alignment
    from attendo.decoding.lines.translation import Candidate, Translation
    from attendo.decoding.scoring import PairScore
    from attendo.decoding.search_settings import SearchSettings
    from attendo.errors import AttendoError, DataError, ModelError, RecipeError
    from attendo.parsing.sentences import Sentence
    from attendo.parsing.tree import Span, Tree
    from attendo.recipe import Recipe, load_recipe
    from attendo.terms.files import read_glossary
    from attendo.terms.glossary import Glossary
    from attendo.terms.term import Term
    from attendo.workflow.documents.files import translate_file
    from attendo.workflow.engines.aids import Aids
    from attendo.workflow.engines.engine import Engine
    from attendo.workflow.engines.parse import Parse, ParsedTree
    from attendo.workflow.engines.translate import load

__version__ = VERSION

__all__ = [
    "Aids",
    "Alignment",
    "AsyncClient",
    "AttendoError",
    "Candidate",
    "Client",
    "Constraints",
    "DataError",
    "Engine",
    "Glossary",
    "ModelError",
    "PairScore",
    "Parse",
    "ParsedTree",
    "Recipe",
    "RecipeError",
    "SearchSettings",
    "Sentence",
    "Span",
    "Term",
    "TermUse",
    "Translation",
    "Tree",
    "__version__",
    "load",
    "load_recipe",
    "read_glossary",
    "translate_file",
]

_HOMES = {
    "Aids": "attendo.workflow.engines.aids",
    "Alignment": "attendo.decoding.lines.alignment",
    "AsyncClient": "attendo.client.asynchronous",
    "AttendoError": "attendo.errors",
    "Candidate": "attendo.decoding.lines.translation",
    "Client": "attendo.client.sync",
    "Constraints": "attendo.decoding.constraints.line_constraints",
    "DataError": "attendo.errors",
    "Engine": "attendo.workflow.engines.engine",
    "Glossary": "attendo.terms.glossary",
    "ModelError": "attendo.errors",
    "PairScore": "attendo.decoding.scoring",
    "Parse": "attendo.workflow.engines.parse",
    "ParsedTree": "attendo.workflow.engines.parse",
    "Recipe": "attendo.recipe",
    "RecipeError": "attendo.errors",
    "SearchSettings": "attendo.decoding.search_settings",
    "Sentence": "attendo.parsing.sentences",
    "Span": "attendo.parsing.tree",
    "Term": "attendo.terms.term",
    "TermUse": "attendo.decoding.constraints.terminology",
    "Translation": "attendo.decoding.lines.translation",
    "Tree": "attendo.parsing.tree",
    "load": "attendo.workflow.engines.translate",
    "load_recipe": "attendo.recipe",
    "read_glossary": "attendo.terms.files",
    "translate_file": "attendo.workflow.documents.files",
}


def __getattr__(name: str) -> Any:
    """Fetches a public name from its module."""
    if name == "Wishes":
        warnings.warn(
            "attendo.Wishes is now called attendo.Constraints; the old name will go away",
            DeprecationWarning,
            stacklevel=2,
        )
        name = "Constraints"
    if name not in _HOMES:
        raise AttributeError(f"module 'attendo' has no attribute {name!r}")
    set_up_openmp()  # must run before anything loads torch
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return __all__
