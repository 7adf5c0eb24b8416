"""Text with its translations, to score or to be scored on: two files of lines, or one file that holds both sides."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from attendo.checkpoint.finding import find_model
from attendo.checkpoint.model_folder import read_description
from attendo.errors import DataError
from attendo.formats.pairs.table import has_both_sides
from attendo.text.corpora import CorpusConfig, is_subtitles
from attendo.text.files.formats import MAX_LINE_BYTES, check_held
from attendo.workflow.lines import lines_from, read_pairs
from attendo.workflow.preparation.unit_text import translated_units_reader


@dataclass(frozen=True, kw_only=True)
class ParallelText:
    """Sentences and their translations."""

    sources: list[str]
    targets: list[str]
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Units of the file that are not among them, by reason; see docs/own-data.md."""

    def note(self, name: Path) -> str | None:
        """Reports the skipped units of a file; None if there are none."""
        if not self.left_out:
            return None
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.left_out.items())
        return f"{name}: {len(self.sources):,} pairs; left out: {reasons}"


def read_parallel(source: Path, target: Path | None, model: str) -> ParallelText:
    """Reads two files of lines, two of subtitles, or one that holds both sides.

    Args:
        source: a file of lines or of subtitles; without a target a file of units, such as XLIFF or TMX.
        target: the translations.
        model: a model, whose languages are taken of a file that has several.

    Raises:
        DataError: a file cannot be read, the sides differ in their number of lines, a unit cannot be used, or there is
            no pair.
        ModelError: there is no such model.
    """
    if target is not None and not (is_subtitles(source.name) and is_subtitles(target.name)):
        sources, targets = read_pairs(source, target)
        return ParallelText(sources=sources, targets=targets)
    try:
        if target is None:
            corpus = CorpusConfig(file=str(source))
        else:
            corpus = CorpusConfig(source=str(source), target=str(target))
    except ValueError as error:
        raise DataError(str(error)) from error
    return _read_units(corpus, _languages(model))


def read_references(path: Path, target_language: str) -> list[str]:
    """Reads reference translations: lines, or those of a file that holds both sides.

    Args:
        path: the file.
        target_language: the code of their language; empty if the file names it, or has only one.

    Raises:
        DataError: the file cannot be read, or has no translation.
    """
    if not has_both_sides(path):
        return list(lines_from(path))
    return _read_units(CorpusConfig(file=str(path)), ("", target_language)).targets


def _read_units(corpus: CorpusConfig, languages: tuple[str, str]) -> ParallelText:
    """Reads the units that count, all of them."""
    name = " and ".join(corpus.files)
    left_out: Counter[str] = Counter()
    sides: tuple[list[str], list[str]] = ([], [])
    held = 0
    for pair in translated_units_reader(languages, left_out)(corpus, Path()):
        texts = pair.source, pair.target or b""
        if max(map(len, texts)) > MAX_LINE_BYTES or pair.fault is not None:
            raise DataError(f"{name}: line {pair.line} cannot be used ({pair.fault or 'too_long'}); correct it")
        for side, text in zip(sides, texts, strict=True):
            try:
                side.append(text.decode("utf-8"))
            except UnicodeDecodeError as error:
                raise DataError(f"{name}: line {pair.line} is not UTF-8; convert the file") from error
        held += sum(map(len, texts))
        check_held(name, len(sides[0]), held)
    if not sides[0]:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in left_out.items())
        between = f" from {languages[0]} to {languages[1]}" if all(languages) else ""
        raise DataError(
            f"{name}: there is no pair{between} ({reasons or 'it is empty'}); name a file with translated units"
        )
    return ParallelText(sources=sides[0], targets=sides[1], left_out=left_out)


def _languages(model: str) -> tuple[str, str]:
    """Returns the codes of a model's languages."""
    description = read_description(find_model(model))
    return description.source_language, description.target_language
