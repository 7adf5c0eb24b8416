"""What is declared in a file is checked by the type that it is read as."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import ValidationError

from attendo.paper.declared import declared


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Two numbers."""

    n: int
    d: float = 1.0


def test_an_array_of_tables_becomes_dataclasses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sizes.toml").write_text(
        'small = [{n = 1}, {n = 2, d = 3}]\nwrong = [{n = "many"}]\n', encoding="utf-8"
    )
    monkeypatch.setattr("attendo.paper.declared.files", lambda package: tmp_path)
    assert declared("sizes.toml", "small", tuple[Sizes, ...]) == (Sizes(n=1), Sizes(n=2, d=3.0))
    with pytest.raises(ValidationError, match="n\n"):
        declared("sizes.toml", "wrong", tuple[Sizes, ...])
    with pytest.raises(KeyError, match="large"):
        declared("sizes.toml", "large", tuple[Sizes, ...])
