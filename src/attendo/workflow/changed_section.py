"""A recipe's section with some keys changed, as calls and options of the command line ask for it."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from attendo.settings.exact import exactly

SectionT = TypeVar("SectionT")


def changed_section(
    section: SectionT, name: str, overrides: Sequence[str] = (), *, changes: Mapping[str, Any] | None = None
) -> SectionT:
    """A section with other values; see `recipe.override_section`, which is asked where more is to be said.

    Args:
        section: a section of a recipe.
        name: what it is called, such as `search`.
        overrides: `section.key=value`, as a recipe writes it.
        changes: keys with their values.

    Raises:
        RecipeError: an override names another section, or a key or value that cannot be meant.
    """
    if not overrides:
        own = {item.name: getattr(section, item.name) for item in fields(section)}  # type: ignore[arg-type]
        changed = exactly(type(section), own | dict(changes or {}))
        if changed is not None:
            return changed
    from attendo.recipe import override_section

    return override_section(section, name, overrides, changes=changes)
