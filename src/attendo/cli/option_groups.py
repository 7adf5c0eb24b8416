"""Groups of options: frozen dataclasses whose fields become options of a command, so that its function has few."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import wraps
from typing import Any, TypeVar, get_type_hints

ResultT = TypeVar("ResultT")


def with_groups(**groups: type) -> Callable[[Callable[..., ResultT]], Callable[..., ResultT]]:
    """Makes a command of a function of which some parameters are groups of options.

    Args:
        groups: dataclasses by the names of the parameters. Every field has a default, and an annotation that says to
            Typer which option it is.
    """

    def decorate(command: Callable[..., ResultT]) -> Callable[..., ResultT]:
        parameters: list[inspect.Parameter] = []
        for parameter in inspect.signature(command).parameters.values():
            group = groups.get(parameter.name)
            parameters += [parameter] if group is None else _parameters(group)

        @wraps(command)
        def flat(**values: Any) -> ResultT:
            for name, group in groups.items():
                values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
            return command(**values)

        flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what Typer reads
        flat.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return flat

    return decorate


def _parameters(group: type) -> list[inspect.Parameter]:
    """A parameter for each field of a group."""
    hints = get_type_hints(group, include_extras=True)
    found = []
    for field in fields(group):
        assert field.default is not MISSING, f"{group.__name__}.{field.name} needs a default"
        found.append(
            inspect.Parameter(
                field.name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=field.default,
                annotation=hints[field.name],
            )
        )
    return found
