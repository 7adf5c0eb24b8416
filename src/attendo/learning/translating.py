"""Translations that survive an interruption: a file for each text in the folder of the round."""

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
"""Number of lines that are translated between two checks whether to stop."""


class LearningReporter(Reporter, Protocol):
    """Receives the progress of learning."""

    def translating(self, label: str, done: int, total: int) -> None:
        """Reports that some lines of a text are translated."""


def translate_once(
    model: Path,
    lines: Sequence[str],
    path: Path,
    label: str,
    reporter: LearningReporter,
    should_stop: Callable[[], bool],
) -> list[str]:
    """Translates lines, or returns the translations that an earlier call wrote.

    Args:
        model: the model folder.
        lines: lines without line feeds.
        path: file for the translations, as JSON lines.
        label: name of the text in progress reports.
        reporter: receives the progress.
        should_stop: called now and then; True interrupts the translation.

    Raises:
        LearningInterruptedError: the translation was interrupted.
        DataError: the file has another number of translations.
    """
    if path.is_file():
        kept = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if len(kept) != len(lines):
            raise DataError(f"{path}: has {len(kept)} lines, not {len(lines)}; remove its folder and begin anew")
        return kept
    translations: list[str] = []
    if not lines:
        return translations
    with load(model) as engine:
        for start in range(0, len(lines), _AT_ONCE):
            if should_stop():
                raise LearningInterruptedError(f"{label}: interrupted at line {start:,}")
            translations += [
                translation.text for translation in engine.translate_lines(lines[start : start + _AT_ONCE])
            ]
            reporter.translating(label, len(translations), len(lines))
    write_text(path, "".join(json.dumps(text) + "\n" for text in translations))
    return translations
