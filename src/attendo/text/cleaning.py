"""Cleaning of corpora: each pair of lines is kept, or dropped for one reason."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from attendo.errors import DataError
from attendo.text.corpora import CorpusConfig
from attendo.text.encoding_advice import EncodingAdvice, encoding_advice
from attendo.text.files.encodings import UTF8, is_utf8
from attendo.text.files.formats import MAX_LINE_BYTES, RawPair, check_held
from attendo.text.pair_reading import ReadCorpus, read_corpus
from attendo.text.pair_rules import CleaningConfig, pair_fault

DROP_REASONS = (
    "empty", "encoding", "no_tab", "no_json", "unfinished", "untranslated", "state", "too_long", "ratio", "numbers",
    "copied", "language", "duplicate", "too_many_tokens",
)  # fmt: skip
"""Why a pair can be dropped, in the order of a report."""

_EXCERPT_CHARACTERS = 200
_LISTED_FAULTS = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class SentencePair:
    """A pair that was kept: both sides decoded, white space at their ends taken off."""

    source: str
    target: str
    corpus: str
    line: int
    """Line number in the corpus's files, from 1."""
    trimmed: bool
    """Whether there was white space at the ends of a side."""

    def dropped(self, reason: str) -> "Dropped":
        """Returns the same pair as one that is dropped after all."""
        return Dropped(line=self.line, reason=reason, source=_excerpt(self.source), target=_excerpt(self.target))


@dataclass(frozen=True, kw_only=True, slots=True)
class Dropped:
    """A pair that was left out, and why."""

    line: int
    """Line number in the corpus's files, from 1."""
    reason: str
    """One of `DROP_REASONS`."""
    source: str
    """The start of the source, with bytes that are not UTF-8 as escapes."""
    target: str
    """The start of the target."""


def clean(
    pairs: Iterator[RawPair],
    corpus: str,
    cleaning: CleaningConfig,
    *,
    encodings: tuple[str, str] = (UTF8, UTF8),
    languages: tuple[str, str] = ("", ""),
) -> Iterator[SentencePair | Dropped]:
    """Yields for each pair either the sentences or the reason why they are dropped, in order.

    Duplicates and tokens are not checked here: the former needs all pairs, the latter the vocabulary.

    Args:
        pairs: the pairs as read from the files.
        corpus: the name of the corpus.
        cleaning: the rules for dropping pairs.
        encodings: the encodings of both sides' lines (`CorpusConfig.line_encodings`).
        languages: the codes of both sides; empty where unknown.
    """
    for raw in pairs:
        fault, source, target = _decode_pair(raw, encodings)
        length = len(source) + len(target)
        source, target = source.strip(), target.strip()
        if reason := fault or pair_fault(source, target, cleaning, languages):
            sides = zip((raw.source, raw.target or b""), encodings, strict=True)
            starts = [_excerpt(_decode_start(side, encoding)) for side, encoding in sides]
            yield Dropped(line=raw.line, reason=reason, source=starts[0], target=starts[1])
        else:
            trimmed = len(source) + len(target) < length
            yield SentencePair(source=source, target=target, corpus=corpus, line=raw.line, trimmed=trimmed)


def read_valid(
    corpus: CorpusConfig,
    folder: Path,
    *,
    languages: tuple[str, str] = ("", ""),
    read: ReadCorpus = read_corpus,
) -> tuple[list[str], list[str]]:
    """Reads all sentences of a validation set unchanged; it fits into memory, and no line may be dropped.

    Args:
        corpus: the validation set.
        folder: the folder to which its paths are relative.
        languages: the codes of source and target, for guessing the encoding of lines that are not UTF-8.
        read: yields the pairs of the set; others are ignored.

    Returns:
        The source and the target sentences, of equal number.

    Raises:
        DataError: the files cannot be read as pairs, are empty or far too large, or have lines that are not in their
            encoding, lack a side or are longer than 4 MB; the message has the line numbers, up to ten of them, and the
            encoding that would read them.
    """
    sources: list[str] = []
    targets: list[str] = []
    held_bytes = 0
    all_files = " and ".join(map(str, corpus.paths(folder)))
    for file_set in corpus.resolved(folder).file_sets:
        faults: list[str] = []
        num_faults = 0
        for raw in read(file_set, folder):
            fault, source, target = _decode_pair(raw, file_set.line_encodings)
            if fault is None and not (source.strip() and target.strip()):
                fault = "empty"
            if fault:
                num_faults += 1
                faults += [f"line {raw.line} ({fault})"] * (len(faults) < _LISTED_FAULTS)
                continue
            sources.append(source)
            targets.append(target)
            held_bytes += len(raw.source) + len(raw.target or b"")
            check_held(all_files, len(sources), held_bytes)
        if num_faults:
            is_other = any("(encoding)" in fault for fault in faults)
            advice = encoding_advice(file_set, folder, languages=languages, read=read) if is_other else None
            raise _valid_error(file_set, folder, faults, num_faults, advice)
    if not sources:
        raise DataError(f"{all_files}: there is no pair; name a validation set that has some, or none at all")
    return sources, targets


def _valid_error(
    corpus: CorpusConfig, folder: Path, faults: list[str], num_faults: int, advice: EncodingAdvice | None
) -> DataError:
    """Returns the error of a validation set that has lines which cannot be used."""
    files = " and ".join(str(folder / name) for name in corpus.files)
    more = f" and {num_faults - len(faults)} more" if num_faults > len(faults) else ""
    return DataError(
        f"{files}: {', '.join(faults)}{more} cannot be used, and a validation set is used whole: correct them on both "
        f"sides{f'; not in its encoding: {advice.text}' if advice else ''}"
    )


def _decode_start(line: bytes, encoding: str) -> str:
    """Decodes more of a line than a report shows, with invalid bytes as escapes."""
    start = line[: 4 * _EXCERPT_CHARACTERS + 4]  # a character has four bytes at most
    text = start.decode(encoding, errors="backslashreplace")
    return text.encode("utf-8", errors="backslashreplace").decode("utf-8")  # halves of characters, which UTF-7 has


def _excerpt(text: str) -> str:
    """Returns the start of a text on one line without tabs, for a report."""
    start = text if len(text) <= _EXCERPT_CHARACTERS else text[:_EXCERPT_CHARACTERS] + "…"
    if start.isprintable():
        return start
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in start)


def _decode_pair(raw: RawPair, encodings: tuple[str, str]) -> tuple[str | None, str, str]:
    """Returns why a pair cannot be read, or None, and its two sides, empty in the first case."""
    if raw.fault is not None:
        return raw.fault, "", ""
    if raw.target is None:
        return "no_tab", "", ""
    if len(raw.source) > MAX_LINE_BYTES or len(raw.target) > MAX_LINE_BYTES:
        return "too_long", "", ""
    if b"\0" in raw.source or b"\0" in raw.target:  # UTF-16, or worse, that passes for UTF-8
        return "encoding", "", ""
    try:
        return None, _decoded(raw.source, encodings[0]), _decoded(raw.target, encodings[1])
    except UnicodeError:
        return "encoding", "", ""


def _decoded(line: bytes, encoding: str) -> str:
    """Returns a line's text.

    Raises:
        UnicodeError: it is not in this encoding, or is no line in it, as UTF-7 can spell a line end.
    """
    text = line.decode(encoding)
    if not is_utf8(encoding) and ("\n" in text or any("\ud800" <= character <= "\udfff" for character in text)):
        raise UnicodeError(f"is no line of {encoding}")
    return text
