"""Checks a document against its schema, and reports all problems at once, in the file's words."""

import json
import types
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from attendo.errors import RecipeError
from attendo.settings.characters import is_unicode
from attendo.settings.overrides import KeyPath, Origins
from attendo.settings.problems import descriptions, located
from attendo.settings.schema import NONE, alternatives, entry_in, keys_of, table_in
from attendo.settings.toml import dotted, excerpt

DocumentT = TypeVar("DocumentT", bound=BaseModel)

MAX_PROBLEMS = 40
"""Maximum number of reported problems; further ones are mostly of the same kind."""


def checked(document: Mapping[str, Any], schema: type[DocumentT], origins: Origins) -> DocumentT:
    """Makes a document's dataclasses.

    Args:
        document: the document as read from TOML.
        schema: its contents; strict, and without additional keys.
        origins: the origins of its values.

    Raises:
        RecipeError: keys or values are invalid; one line for each problem.
    """
    if beyond := joined_problems(f"{origins.of(key)}: {problem}" for key, problem in _beyond_toml(document, ())):
        raise RecipeError(beyond)
    document = _with_nulls(document, schema)
    try:
        # As JSON, because pydantic's strict mode otherwise accepts no table for a dataclass and no list for a tuple.
        return schema.model_validate_json(json.dumps(document, default=_no_key_takes))
    except ValidationError as error:
        raise RecipeError(joined_problems(_problems(error, document, schema, origins))) from error


def joined_problems(problems: Iterable[str]) -> str:
    """Problems as one message, one line each; only the first of very many."""
    lines = list(islice(problems, MAX_PROBLEMS + 1))
    return "\n".join(lines if len(lines) <= MAX_PROBLEMS else [*lines[:-1], "and more; correct these first"])


def _problems(
    error: ValidationError, document: Mapping[str, Any], schema: type[BaseModel], origins: Origins
) -> Iterator[str]:
    seen = set()
    for problem in error.errors(include_url=False, include_context=False, include_input=False):
        place = located(problem["loc"], document, schema)
        if place.key not in seen:  # a value of a union type is reported once per type
            seen.add(place.key)
            for description in descriptions(problem["type"], problem["msg"], place, schema):
                yield f"{origins.of(place.key)}: {description}"


def _beyond_toml(value: Any, key: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    """Integers beyond 64 bits, as arrays and kernels have them, and halves of characters: Python has both, TOML not."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _beyond_toml(item, (*key, name))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _beyond_toml(item, (*key, str(number)))
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        yield key, f"{dotted(*key)} = {excerpt(value)} is beyond the 64 bits of TOML's integers; take a smaller one"
    elif isinstance(value, str) and not is_unicode(value):
        yield key, f"{dotted(*key)} = {excerpt(value)} is not UTF-8; type it in a terminal whose locale is UTF-8"


def _with_nulls(value: Any, annotation: Any) -> Any:
    """Replaces "none" by None wherever the annotation allows None and no string."""
    kinds = alternatives(annotation)
    if value == NONE and types.NoneType in kinds and str not in kinds:
        return None
    if isinstance(value, dict) and (table := table_in(annotation)) is not None:
        keys = keys_of(table)
        return {key: _with_nulls(item, keys.get(key)) for key, item in value.items()}
    if isinstance(value, list) and (entry := entry_in(annotation)) is not None:
        return [_with_nulls(item, entry) for item in value]
    return value


def _no_key_takes(date: Any) -> list[str]:
    """Converts a date or time of TOML to a value that every key rejects, since JSON would make it a string."""
    return [str(date)]
