"""A recipe's section with some keys changed, by arguments of calls or options of the command line."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from attendo.settings.exact import exactly

SectionT = TypeVar("SectionT")


def changed_section(
    section: SectionT, name: str, overrides: Sequence[str] = (), *, changes: Mapping[str, Any] | None = None
) -> SectionT:
    """A section with other values; complex cases and errors are left to `recipe.override_section`.

    Args:
        section: a section of a recipe.
        name: its name, such as `search`.
        overrides: assignments `section.key=value`, the value in recipe syntax.
        changes: keys with their values.

    Raises:
        RecipeError: an override names another section, or an invalid key or value.
    """
    if not overrides:
        own = {item.name: getattr(section, item.name) for item in fields(section)}  # type: ignore[arg-type]
        changed = exactly(type(section), own | dict(changes or {}))
        if changed is not None:
            return changed
    from attendo.recipe import override_section

    return override_section(section, name, overrides, changes=changes)
