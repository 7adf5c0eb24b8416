"""Files of sources with their translations, as supplied by users: every usable pair, the others counted by reason."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from attendo.errors import DataError
from attendo.formats.pairs.selection import Selection
from attendo.formats.pairs.table import has_both_sides, unit_reader
from attendo.text.cleaning import SentencePair, clean
from attendo.text.corpora import CorpusConfig
from attendo.text.files.compression import unpacked_name
from attendo.text.files.formats import LineReader
from attendo.text.pair_rules import CleaningConfig

CORRECTION_RULES = CleaningConfig(max_copied=0.8, check_languages=True)
"""Rules for leaving out corrections by their two sides."""
TRANSLATED = CorpusConfig.states
"""States of units with settled human translations."""
ALSO_FUZZY = ("fuzzy", *TRANSLATED)
"""States that also include fuzzy units, the mark of most tools for machine translations."""


def pairs_of(
    path: Path,
    languages: tuple[str, str],
    dropped: Counter[str],
    *,
    cleaning: CleaningConfig,
    states: tuple[str, ...] = TRANSLATED,
) -> Iterator[SentencePair]:
    """Yields the usable pairs of a file.

    Args:
        path: TMX, XLIFF, PO, CSV, JSON lines, or TSV, with or without the names of its two columns in the first line.
        languages: the codes of source and target; empty where unknown.
        dropped: counts the other pairs, by reason.
        cleaning: the rules for unusable pairs.
        states: the states of the units that count.

    Raises:
        DataError: the file cannot be read, or does not hold both sides.
    """
    if not has_both_sides(path):
        raise DataError(
            f"{path}: holds no pairs of source and translation by its name; take a file that ends in .tmx, .xlf, "
            ".xliff, .po, .csv, .tsv or .jsonl"
        )
    if _is_plain_tsv(path, languages):
        corpus = CorpusConfig(tsv=str(path))
    else:
        corpus = CorpusConfig(file=str(path), states=states)
    base = (languages[0].split("-")[0], languages[1].split("-")[0])
    raw = unit_reader(*languages)(corpus, Path())
    for pair in clean(raw, path.name, cleaning, encodings=corpus.line_encodings, languages=base):
        if isinstance(pair, SentencePair):
            yield pair
        else:
            dropped[pair.reason] += 1


def _is_plain_tsv(path: Path, languages: tuple[str, str]) -> bool:
    """Whether a file has tab-separated pairs from its first line on, without a line of column names."""
    if not unpacked_name(path.name).endswith((".tsv", ".tab")):
        return False
    with LineReader(path) as lines:
        first = next(iter(lines), b"").decode("utf-8-sig", errors="replace").split("\t")
    names = Selection(source_language=languages[0], target_language=languages[1])
    return len(first) == 2 and names.sides_of([name.strip().lower() for name in first]) is None
