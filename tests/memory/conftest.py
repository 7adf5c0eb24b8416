"""Translation memories written by hand, and a cache of each test's own."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from attendo.memory.lookup import Memory
from attendo.memory.opening import open_memory

LANGUAGES = ("en", "de")


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


def write_pairs(path: Path, pairs: Sequence[tuple[str, str]]) -> Path:
    """Writes pairs with a tab between their sides, as a file without a line that names the columns."""
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    return path


def memory_of(path: Path, pairs: Sequence[tuple[str, str]], threshold: int = 75) -> Memory:
    return open_memory([write_pairs(path, pairs)], LANGUAGES, threshold=threshold)


def po(*messages: tuple[str, str, str]) -> str:
    """A PO file of messages: context, source and translation each."""
    head = 'msgid ""\nmsgstr ""\n"Language: de\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    entries = []
    for context, source, target in messages:
        lines = [f'msgctxt "{context}"'] if context else []
        entries.append("\n".join([*lines, f'msgid "{source}"', f'msgstr "{target}"\n']))
    return "\n".join([head, *entries])
