"""Translating a document: its units in parts, each stored next to the output, so that an interruption costs one part.

Next to the output is a folder `OUTPUT.parts/`, as in `workflow.translation.file_translation`; the lines of a part are
its units' translations, as JSON.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, TypeVar

from attendo.decoding.constraints.line_constraints import Constraints
from attendo.decoding.lines.translation import MemoryMatch
from attendo.decoding.search_settings import SearchSettings
from attendo.formats.file import Unit
from attendo.markup.text_types import Confidence, TranslatedLine, TranslateLines, no_confidence
from attendo.markup.together import gathered
from attendo.markup.units.batching import BatchedLines
from attendo.markup.units.translation import UnitTranslation
from attendo.version import VERSION
from attendo.workflow.confidence import load_confidence
from attendo.workflow.documents.opening import Document
from attendo.workflow.documents.settings import DocumentSettings
from attendo.workflow.documents.writing import translation_json, translations_of
from attendo.workflow.engines.engine import Engine
from attendo.workflow.translation.file_translation import memory_conditions, model_conditions
from attendo.workflow.translation.part_files import PartRecord, PartsFolder, copied, since

_FORMAT_VERSION = 2
_PART_UNITS = 500
NUM_CANDIDATES = 8
"""Number of candidates for a text with a length limit, of which one that fits is chosen."""

ResultT = TypeVar("ResultT")


class DocumentReporter(Protocol):
    """Receives messages and the progress of a document's translation."""

    def message(self, text: str) -> None:
        """Prints a line."""

    def started(self, done: int, total: int) -> None:
        """Starts showing progress, given the number of units."""

    def translated(self, done: int) -> None:
        """Shows the number of units translated so far."""


class TranslatesUnits(Protocol):
    """A translator of units, such as a `UnitTranslator`."""

    async def translated(self, unit: Unit) -> UnitTranslation:
        """Translates a unit."""


def engine_lines(engine: Engine, matched: dict[str, MemoryMatch] | None = None) -> TranslateLines:
    """Returns a function that translates the lines of many units in common batches.

    Args:
        engine: the engine.
        matched: receives the match in the engine's translation memory for each line, by line.
    """

    def translate(
        lines: Sequence[str], constraints: Sequence[Constraints] | None, alignment: bool
    ) -> list[TranslatedLine]:
        found = list(engine.stream_part(lines, constraints, first=1, alignment=alignment))
        if matched is not None:
            matched.update({each.source: each.match for each, _ in found if each.match is not None})
        return [TranslatedLine(translation=translation, alignments=tuple(links)) for translation, links in found]

    return BatchedLines(translate)


def engine_candidates(engine: Engine) -> TranslateLines:
    """Returns a function that translates lines into several candidates, short ones too: length is not rewarded."""
    search = SearchSettings(beam_size=NUM_CANDIDATES, n_best=NUM_CANDIDATES, length_penalty=0.0)

    def translate(
        lines: Sequence[str], constraints: Sequence[Constraints] | None, alignment: bool
    ) -> list[TranslatedLine]:
        if not alignment:
            return [TranslatedLine(translation=found) for found in engine.stream(lines, constraints, **search)]
        aligned = engine.stream_aligned(lines, constraints, **search)
        return [TranslatedLine(translation=translation, alignments=tuple(links)) for translation, links in aligned]

    return BatchedLines(translate)


def engine_confidence(engine: Engine) -> Confidence:
    """Returns the confidence function of an engine, if its model has been calibrated."""
    return load_confidence(engine.folder) or no_confidence


def document_translations(
    document: Document, translator: TranslatesUnits, reporter: DocumentReporter, parts: "DocumentParts | None" = None
) -> dict[str, UnitTranslation]:
    """Translates the units of a document.

    Args:
        document: the document.
        translator: translates units.
        reporter: receives the progress.
        parts: stores finished units until the document is written; None stores none.

    Returns:
        The translations by unit id.
    """
    return _run(_translate_parts(document.units, translator, parts, reporter))


def conditions(
    document: Document, settings: DocumentSettings, engine: Engine, models: Sequence[Path]
) -> dict[str, Any]:
    """Returns everything that determines a document's translations, for JSON.

    Args:
        document: the document.
        settings: the settings.
        engine: the engine.
        models: the folders of its models.
    """
    decisive = {
        "format_version": _FORMAT_VERSION,
        "attendo": VERSION,
        "document": sha256(document.content).hexdigest(),
        "target": document.target,
        "units": document.file.format,
        "only": settings.only,
        "glossary": None if (terms := engine.aids.glossary) is None else terms.digest,
        **model_conditions(models, engine.search, engine.dtype, engine.device_type),
        **memory_conditions(engine),
    }
    compared: dict[str, Any] = json.loads(json.dumps(decisive))
    return compared


@dataclass(frozen=True, kw_only=True)
class DocumentParts:
    """The stored translations of a document's parts.

    Args:
        folder: the opened and locked folder.
        engine: the engine, for its counts.
    """

    folder: PartsFolder
    engine: Engine

    def done(self, parts: Sequence[Sequence[Unit]]) -> dict[int, dict[str, UnitTranslation]]:
        """Returns the translations of the stored parts, by number."""
        return {
            number: _read(self.folder.text(number), parts[number]) for number in sorted(self.folder.done(len(parts)))
        }

    def write(self, number: int, found: Mapping[str, UnitTranslation], before: Any) -> None:
        """Writes a part.

        Args:
            number: the number of the part.
            found: the translations of the part.
            before: the engine's counts before it.
        """
        content = "".join(f"{json.dumps(translation_json(name, each))}\n" for name, each in found.items()).encode()
        record = PartRecord(
            num_bytes=len(content),
            sha256=sha256(content).hexdigest(),
            kernel=self.engine.kernel,
            counts=since(before, self.engine.counts),
        )
        self.folder.write(number, content, record)


async def _translate_parts(
    units: Sequence[Unit], translator: TranslatesUnits, parts: DocumentParts | None, reporter: DocumentReporter
) -> dict[str, UnitTranslation]:
    """Translates units part by part; those of a part are translated together."""
    pieces = [units[start : start + _PART_UNITS] for start in range(0, len(units), _PART_UNITS)]
    done = parts.done(pieces) if parts is not None else {}
    count = sum(map(len, done.values()))
    reporter.started(count, len(units))
    found: dict[str, UnitTranslation] = {}
    for number, piece in enumerate(pieces):
        if number in done:
            found |= done[number]
            continue
        before = copied(parts.engine.counts) if parts is not None else None
        translated = await gathered([translator.translated(unit) for unit in piece])
        now = {unit.id: each for unit, each in zip(piece, translated, strict=True)}
        if parts is not None:
            parts.write(number, now, before)
        found |= now
        count += len(piece)
        reporter.translated(count)
    return found


def _run(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Runs a coroutine to its end, even if an event loop is running already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _in_a_loop(work)
    with ThreadPoolExecutor(max_workers=1) as pool:
        run: Callable[[Coroutine[Any, Any, ResultT]], ResultT] = _in_a_loop
        return pool.submit(run, work).result()


def _in_a_loop(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    # Not asyncio.run: Ctrl-C is to end the work at once, and not when the loop has its turn again.
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


def _read(path: Path, units: Sequence[Unit]) -> dict[str, UnitTranslation]:
    return translations_of(map(json.loads, path.read_text(encoding="utf-8").splitlines()), units)
