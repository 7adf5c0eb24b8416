"""Translates one part of a text into a file."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol

from attendo.decoding.lines.alignment import Alignment
from attendo.decoding.lines.translation import Translation
from attendo.workflow.engines.engine import Engine
from attendo.workflow.translation.part_files import PartRecord, PartsFolder, copied, since
from attendo.workflow.translation.text_parts import TextPart, read_part


class LineFormat(Protocol):
    """The format of a line's translations."""

    def __call__(self, translation: Translation, number: int, alignments: Sequence[Alignment], *, n_best: int) -> str:
        """Returns the lines of the output that a line of the text becomes, each with its end.

        Args:
            translation: the line and its translations.
            number: the line's number, from 1.
            alignments: one for each translation; empty if not requested.
            n_best: number of translations requested.
        """


@dataclass(frozen=True, kw_only=True)
class Output:
    """The format of the output for each translation."""

    format: LineFormat
    """Picklable."""
    settings: Mapping[str, Any]
    """The settings on which the format's lines depend, as JSON values."""
    alignment: bool
    """Whether translations are aligned with their lines."""


def translate_part(
    engine: Engine,
    part: TextPart,
    *,
    output: Output,
    folder: PartsFolder,
    progress: Callable[[int], None] | None = None,
) -> tuple[int, PartRecord]:
    """Translates a part and writes it; doing it twice does no harm.

    Args:
        engine: the engine.
        part: the part of the text.
        output: the format of the output.
        folder: the folder in which the part is written.
        progress: called with the number of the part's lines that are translated.

    Returns:
        The part's number and its record.

    Raises:
        DataError: the text has changed, or a line's constraints cannot be fulfilled.
        OSError: a file cannot be read or written.
    """
    before = copied(engine.counts)
    n_best = engine.search.n_best
    lines = []
    for number, (translation, alignments) in enumerate(
        _translated(engine, part, alignment=output.alignment), start=part.first_line
    ):
        lines.append(output.format(translation, number, alignments, n_best=n_best))
        if progress is not None:
            progress(len(lines))
    content = "".join(lines).encode("utf-8")
    record = PartRecord(
        num_bytes=len(content),
        sha256=sha256(content).hexdigest(),
        kernel=engine.kernel,
        counts=since(before, engine.counts),
    )
    folder.write(part.number, content, record)
    return part.number, record


def _translated(
    engine: Engine, part: TextPart, *, alignment: bool
) -> Iterator[tuple[Translation, Sequence[Alignment]]]:
    """Translations of a part's lines, with the numbers that they have in the whole text."""
    pairs = read_part(part)
    lines, constraints = [line for line, _ in pairs], [wanted for _, wanted in pairs]
    return engine.stream_part(lines, constraints, first=part.first_line, alignment=alignment)
