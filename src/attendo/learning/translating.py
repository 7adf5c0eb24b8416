"""Translations that outlive an interruption: a file for each text, kept in the folder of the round."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from attendo.errors import DataError
from attendo.files import write_text
from attendo.learning.tuning import LearningInterruptedError
from attendo.workflow.engines.translate import load
from attendo.workflow.runs.reporting import Reporter

_AT_ONCE = 200
"""Lines between two looks at whether to stop."""


class LearningReporter(Reporter, Protocol):
    """Who is told how learning goes."""

    def translating(self, label: str, done: int, total: int) -> None:
        """Some lines of a text are translated."""


def translate_once(
    model: Path,
    lines: Sequence[str],
    path: Path,
    label: str,
    reporter: LearningReporter,
    should_stop: Callable[[], bool],
) -> list[str]:
    """Translates lines, or gives the translations that an earlier start wrote.

    Args:
        model: the model folder.
        lines: without line feeds.
        path: where the translations are kept, as JSON lines.
        label: what is translated, for the progress.
        reporter: who is told.
        should_stop: asked now and then.

    Raises:
        LearningInterruptedError: it was interrupted.
        DataError: the kept translations are not those of these lines.
    """
    if path.is_file():
        kept = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if len(kept) != len(lines):
            raise DataError(f"{path}: has {len(kept)} lines, not {len(lines)}; remove its folder and begin anew")
        return kept
    written: list[str] = []
    if not lines:
        return written
    with load(model) as engine:
        for start in range(0, len(lines), _AT_ONCE):
            if should_stop():
                raise LearningInterruptedError(f"{label}: interrupted at line {start:,}")
            written += [found.text for found in engine.translate_lines(lines[start : start + _AT_ONCE])]
            reporter.translating(label, len(written), len(lines))
    write_text(path, "".join(json.dumps(text) + "\n" for text in written))
    return written
