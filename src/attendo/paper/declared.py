"""Reads a study's declarations from a TOML file beside its code: printed figures, rows, sizes by scale."""

import tomllib
from importlib.resources import files
from typing import Any

from pydantic import TypeAdapter


def declared(name: str, key: str, kind: Any) -> Any:
    """Reads a top-level table or array of a TOML file.

    Args:
        name: path of the file, relative to the folder of this module.
        key: key of the table or array.
        kind: type that the value is validated as, such as `tuple[Row, ...]` of a dataclass.
    """
    tables = tomllib.loads(files("attendo.paper").joinpath(name).read_text(encoding="utf-8"))
    return TypeAdapter(kind).validate_python(tables[key])
