"""Tables to dataclasses by pydantic, which accepts more than `settings.exact` and explains errors."""

from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")


def validated(kind: type[T], content: Any) -> tuple[T | None, list[tuple[str, str]]]:
    """Makes a dataclass of a table; see `exact.checked_table`."""
    try:
        return TypeAdapter(kind).validate_python(content), []
    except ValidationError as error:
        return None, [(".".join(map(str, each["loc"])), each["msg"]) for each in error.errors()]
