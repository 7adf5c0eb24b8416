"""What a study declares in a TOML file beside its code: printed figures, rows, sizes by scale."""

import tomllib
from importlib.resources import files
from typing import Any

from pydantic import TypeAdapter


def declared(name: str, key: str, kind: Any) -> Any:
    """Reads a table or an array of a file.

    Args:
        name: the file, below the folder of this module.
        key: the table's or array's, at the top of the file.
        kind: its type, such as `tuple[Row, ...]` of a dataclass; what is read is checked by it.
    """
    tables = tomllib.loads(files("attendo.paper").joinpath(name).read_text(encoding="utf-8"))
    return TypeAdapter(kind).validate_python(tables[key])
