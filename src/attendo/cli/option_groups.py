"""Groups of options: frozen dataclasses whose fields become options of a command, so that its function has few."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import wraps
from typing import Any, TypeVar, get_type_hints

ResultT = TypeVar("ResultT")


def with_groups(
    after: Mapping[str, str] | None = None, **groups: type
) -> Callable[[Callable[..., ResultT]], Callable[..., ResultT]]:
    """Makes a command from a function some of whose parameters are groups of options.

    Args:
        after: options that `--help` lists out of their parameter's order, each mapped to the option it follows.
        groups: dataclasses by the names of the parameters. Every field has a default, and an annotation that declares
            its option to Typer.
    """

    def decorate(command: Callable[..., ResultT]) -> Callable[..., ResultT]:
        parameters: list[inspect.Parameter] = []
        for parameter in inspect.signature(command).parameters.values():
            group = groups.get(parameter.name)
            parameters += [parameter] if group is None else _parameters(group)
        parameters = _moved(parameters, after or {})

        @wraps(command)
        def flat(**values: Any) -> ResultT:
            for name, group in groups.items():
                values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
            return command(**values)

        flat.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # what Typer reads
            [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
        )
        flat.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return flat

    return decorate


def option_names(group: type) -> dict[str, str]:
    """The command-line names of a group's options, by field name.

    Args:
        group: a dataclass whose fields are annotated with options that have names.
    """
    names = {}
    for name, annotation in get_type_hints(group, include_extras=True).items():
        option = annotation.__metadata__[0]
        # Typer has the first name in the place of the default until it reads the annotation.
        names[name] = next(text for text in (option.default, *option.param_decls) if str(text).startswith("--"))
    return names


def _parameters(group: type) -> list[inspect.Parameter]:
    """Makes a parameter for each field of a group."""
    hints = get_type_hints(group, include_extras=True)
    found = []
    for field in fields(group):
        assert field.default is not MISSING, f"{group.__name__}.{field.name} needs a default"
        found.append(
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=hints[field.name],
            )
        )
    return found


def _moved(parameters: list[inspect.Parameter], after: Mapping[str, str]) -> list[inspect.Parameter]:
    """Moves each named parameter to just after another."""
    for name, predecessor in after.items():
        [parameter] = [parameter for parameter in parameters if parameter.name == name]
        parameters = [other for other in parameters if other is not parameter]
        place = [other.name for other in parameters].index(predecessor)
        parameters.insert(place + 1, parameter)
    return parameters
