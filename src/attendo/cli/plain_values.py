"""Commands that read plain values of their options without pydantic.

Typer has pydantic convert every value and default of the command line, and importing pydantic takes a third as long as
everything else that translating a line needs. Text, file names, whole numbers and choices that are already valid are
converted here. Everything else is left to Typer: invalid values and other types.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from typer.core import TyperCommand, TyperGroup

from attendo.settings.characters import is_unicode

_MAX_DIGITS = 9


class _NotPlainError(Exception):
    """A value that Typer has to convert, or to refuse."""


class PlainCommand(TyperCommand):
    """A command that converts plain values itself."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the command line after the command's name."""
        _convert_plain_values(self.get_params(ctx))
        return super().parse_args(ctx, args)


class PlainGroup(TyperGroup):
    """A group of commands that converts plain values of its own options itself."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the words of the command line before the command's name."""
        _convert_plain_values(self.get_params(ctx))
        return super().parse_args(ctx, args)


def _convert_plain_values(parameters: Iterable[Any]) -> None:
    for parameter in parameters:
        by_typer = getattr(parameter, "get_runtime_param", None)  # which Typer has from 0.29 on
        if by_typer is not None:
            parameter.get_runtime_param = partial(_PlainFirst, by_typer)


@dataclass(frozen=True)
class _PlainFirst:
    """Converts the values of a parameter: plain values itself, all others through Typer."""

    by_typer: Callable[[], Any]
    """Makes Typer's own converter, which imports pydantic."""

    def coerce(self, value: Any, *, param: Any, ctx: Any) -> Any:
        """Converts a value; Typer handles missing values and callbacks.

        Args:
            value: the value from the command line, or the default.
            param: the option or argument.
            ctx: the command's context.
        """
        declared = param.type_descriptor
        is_list = param.multiple or param.nargs == -1
        if value is None:
            return () if is_list else None
        try:
            if not _is_usual(declared.parameter_info) or (is_list and isinstance(value, str)):
                raise _NotPlainError
            if not is_list:
                return plain(declared.annotation, declared.parameter_info, value)
            [item] = get_args(declared.annotation)
            return [plain(item, declared.parameter_info, each) for each in value]
        except _NotPlainError:
            return self.by_typer().coerce(value, param=param, ctx=ctx)


def _is_usual(info: Any) -> bool:
    """Whether a declaration uses only features that this module supports."""
    special = (
        info.parser, info.path_type, info.exists, info.writable, info.resolve_path, info.allow_dash, info.clamp,
        not info.file_okay, not info.dir_okay, not info.case_sensitive,
    )  # fmt: skip
    return not any(special)


def plain(annotation: Any, info: Any, value: Any) -> Any:
    """Converts a value that is clearly of the given type.

    Args:
        annotation: the type.
        info: the rest of the option's or argument's declaration.
        value: a word of the command line, or a default.

    Raises:
        _NotPlainError: Typer has to convert or reject it.
    """
    if get_origin(annotation) is Literal:
        return _if(value in get_args(annotation), value)
    if annotation is bool:
        return _if(isinstance(value, bool), value)
    if annotation is str:
        return _if(isinstance(value, str) and is_unicode(value), value)
    if annotation is Path:
        path = value if isinstance(value, Path) else Path(_if(isinstance(value, str) and is_unicode(value), value))
        return _if(os.access(path, os.R_OK) or not path.exists(), path)
    if annotation is int:
        is_number = type(value) is str and value.isascii() and value.isdigit() and len(value) <= _MAX_DIGITS
        number = int(_if(is_number or type(value) is int, value))
        least, most = info.min, info.max
        return _if((least is None or number >= least) and (most is None or number <= most), number)
    raise _NotPlainError


def _if(is_plain: bool, value: Any) -> Any:
    if not is_plain:
        raise _NotPlainError
    return value
