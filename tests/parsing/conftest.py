"""Trees of any shape, and where the data lies that does not belong to the project."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("ATTENDO_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
"""Treebanks and EVALB's own files, beside the checkout."""


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """Gives a file of the shared data; skips the test where it is not there."""

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"{name} is not in {SHARED}")
        return path

    return find
