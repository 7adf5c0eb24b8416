"""What a recipe says of its corpora, and the way from their lines to clean pairs with every line accounted for."""

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from attendo.errors import DataError
from attendo.settings.toml import has_control_characters
from attendo.text.compression import not_a_file
from attendo.text.file_patterns import matching_files
from attendo.text.formats import (
    MAX_LINE_BYTES,
    LineReader,
    Lines,
    RawPair,
    check_held,
    read_line_pairs,
    read_translations,
    read_tsv,
)
from attendo.text.placeholders import MAX_PLACEHOLDERS, placeholder

DROP_REASONS = (
    "empty", "encoding", "no_tab", "no_json", "unfinished", "too_long", "ratio", "duplicate", "too_many_tokens"
)  # fmt: skip
"""Why a pair can be dropped, in the order of a report."""

VALID_NAME = "valid"
"""The name of the validation set among the shards."""

# "Hi!" and a polite sentence may translate each other: below this length no ratio is telling.
_RATIO_FLOOR = 10
_EXCERPT_CHARACTERS = 200
_LISTED_FAULTS = 10
_FILE_KEYS = ("source", "target", "tsv", "translations", "back_translations", "trees")
_FILE_SETS = (("source", "target"), ("tsv",), ("translations",), ("back_translations",), ("trees",))
# What a vocabulary has already, under SentencePiece's own names or ours.
_TAKEN_SYMBOLS = {"<s>", "</s>", "<unk>", "<pad>"} | {placeholder(i) for i in range(1, MAX_PLACEHOLDERS + 1)}
_MAX_TAG_CHARACTERS = 32


@dataclass(frozen=True, kw_only=True)
class CorpusConfig:
    """One parallel corpus: two files of lines, one of tab-separated columns, or one of `attendo translate --json`."""

    name: str = ""
    """What reports and files call it: letters, digits, `-`, `_` and `.`."""
    source: str | None = None
    """File of source lines, relative to `data.folder`."""
    target: str | None = None
    """File of target lines."""
    tsv: str | None = None
    """File of lines `source<TAB>target`; further columns are ignored."""
    translations: str | None = None
    """File that `attendo translate --json` wrote of source text: its translations are the targets (distillation)."""
    back_translations: str | None = None
    """File that `attendo translate --json` wrote of target text, with a model of the other direction: its translations
    are the sources (back-translation)."""
    trees: str | None = None
    """Treebank, for `task = "parse"`: the sources are its sentences, the targets its trees. A file; a folder, which
    stands for the files in it (.mrg and the like); or a pattern: `"wsj/{02..21}"` for sections 2 to 21, `"*.mrg"`."""
    weight: float = 1.0
    """How often each pair is seen an epoch: 2.0 is twice, 0.5 a changing half."""
    share: float | None = None
    """In place of `weight`: the share of an epoch's pairs that come from this corpus, so 0.25 for a quarter; 0 leaves
    it out. The corpora without a share fill the rest of the epoch, by their weights."""
    source_tag: str | None = None
    """A word such as `<bt>` that is put before each source, so that the model can tell this corpus from the others; a
    piece of its own in a vocabulary that is learned with it."""
    tags: tuple[str, ...] = ()
    """Labels of the user's own, kept in the report."""
    licence: str = ""
    """What the corpus may be used under, as `CC BY 2.0`; the model card names it."""
    attribution: str = ""
    """Whom the licence wants named, and where the corpus is from; the model card says it."""

    def __post_init__(self) -> None:
        """Refuses what names no corpus, all problems at once.

        Raises:
            ValueError: the name is no file name, the files are no pair and not one file alone, the weight is not above
                0, the share is none, or the tag is no word.
        """
        problems = []
        if self.name and not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", self.name):
            problems.append(
                f"name = {self.name!r}: use up to 100 letters, digits, '-', '_' and '.'; files are named so"
            )
        named = {key: getattr(self, key) for key in _FILE_KEYS if getattr(self, key)}
        if tuple(named) not in _FILE_SETS:
            given = ", ".join(named) or "no file"
            problems.append(
                f"has {given}; give source and target, or tsv, translations, back_translations or trees alone"
            )
        problems += [
            f"{key} = {path!r} is no file's name; leave out its control characters"
            for key, path in named.items()
            if has_control_characters(path)
        ]
        if not 0.0 < self.weight < 1000.0:
            problems.append(f"weight = {self.weight} is not above 0 and below 1000; take 1.0")
        if self.share is not None and not 0.0 <= self.share < 1.0:
            problems.append(f"share = {self.share} is not within 0 and 1 (excluded); take one such as 0.25")
        if self.share is not None and self.weight != 1.0:
            problems.append("share and weight say the same in two ways; leave one out")
        if self.source_tag is not None and (fault := _tag_fault(self.source_tag)):
            problems.append(f"source_tag = {self.source_tag!r} {fault}; take one such as <bt>")
        if problems:
            raise ValueError("; ".join(problems))

    def paths(self, folder: Path) -> tuple[Path, ...]:
        """Gives the corpus's files, those that are not there too, relative names taken from `folder`.

        Raises:
            DataError: a treebank's pattern stands for too many, or for none.
            OSError: a folder cannot be looked into.
        """
        if self.trees is not None:
            return matching_files(self.trees, folder)
        return tuple(folder / getattr(self, key) for key in _FILE_KEYS if getattr(self, key))

    def names(self, folder: Path) -> tuple[str, ...]:
        """Gives what these files are called, relative ones as seen from `folder`."""
        return tuple(
            str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path) for path in self.paths(folder)
        )

    def tagged(self, source: str) -> str:
        """Gives a source as the model reads it: behind the corpus's tag, where it has one."""
        return source if self.source_tag is None else f"{self.source_tag} {source}"


@dataclass(frozen=True, kw_only=True)
class CleaningConfig:
    """Which pairs of the training corpora are dropped. A validation set is never cleaned."""

    max_words: int = 250
    """Words, between white space, of a side."""
    max_characters: int = 2000
    """Characters of a side; the limit that counts where a script has no spaces."""
    max_tokens: int = 1024
    """Subwords of a side, with `</s>`."""
    max_ratio: float = 9.0
    """Characters of the longer side by those of the shorter, where 10 count as the least."""
    drop_duplicates: bool = True
    """Drop a pair whose both sides are as in an earlier one, of any of the corpora."""

    def __post_init__(self) -> None:
        """Refuses limits that would drop everything, all at once.

        Raises:
            ValueError: a limit is less than 1.
        """
        limits = {key: getattr(self, key) for key in ("max_words", "max_characters", "max_tokens", "max_ratio")}
        problems = [
            f"{key} = {value} is less than 1; take 1 or more" for key, value in limits.items() if not value >= 1
        ]
        if problems:
            raise ValueError("; ".join(problems))


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """The section `data` of a recipe."""

    source_language: str = ""
    """Code of the language translated from, as `en`."""
    target_language: str = ""
    """Code of the language translated into."""
    folder: str = ""
    """What the corpora's paths are relative to; itself relative to the recipe's folder."""
    corpora: tuple[CorpusConfig, ...] = ()
    """What to train on."""
    valid: CorpusConfig | None = None
    """What to validate on while training; its `name` and `weight` are not used."""
    cleaning: CleaningConfig = CleaningConfig()
    """Which pairs to drop."""

    def __post_init__(self) -> None:
        """Refuses corpora that cannot be told apart, and names that cannot be.

        Raises:
            ValueError: two corpora have one name, one has none or that of the validation set, the shares leave nothing
                for an epoch to be made of, or a language or the folder has control characters.
        """
        for key in ("source_language", "target_language", "folder"):
            if has_control_characters(name := getattr(self, key)):
                raise ValueError(f"{key} = {name!r} has control characters; leave them out")
        earlier: set[str] = set()
        for number, corpus in enumerate(self.corpora, start=1):
            if not corpus.name or corpus.name.lower() == VALID_NAME:
                raise ValueError(f"corpora: number {number} has the name {corpus.name!r}; give it another one")
            if corpus.name.lower() in earlier:  # file systems that know no case would have one file of both
                raise ValueError(f"corpora: two have the name {corpus.name!r}; rename one")
            earlier.add(corpus.name.lower())
        shares = {corpus.name: corpus.share for corpus in self.corpora if corpus.share is not None}
        if shares and (len(shares) == len(self.corpora) or sum(shares.values()) >= 1.0):
            listed = ", ".join(f"{name} {share}" for name, share in shares.items())
            raise ValueError(
                f"corpora: the shares ({listed}) leave nothing for the others; an epoch is all pairs of the corpora "
                "without a share, so let one have none, and the rest come to less than 1"
            )

    @property
    def source_tags(self) -> tuple[str, ...]:
        """The tags before sources, each once, in the corpora's order; that of the validation set too."""
        corpora = [*self.corpora, *([self.valid] if self.valid else [])]
        return tuple(dict.fromkeys(corpus.source_tag for corpus in corpora if corpus.source_tag is not None))


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
        """Gives the same pair as one that is left out after all."""
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
    """The start of the target, likewise."""


def epoch_weights(corpora: Sequence[CorpusConfig], sizes: Sequence[int]) -> list[float]:
    """Works out how often each pair of each corpus comes in an epoch, from weights and shares.

    With a corpus of 900 pairs and weight 1, one of 5,000 and share 0.25 gives 300 pairs an epoch: a quarter of 1,200.

    Args:
        corpora: as the recipe has them, at least one without a share.
        sizes: pairs of each, after cleaning; above 0.
    """
    weighted = sum(corpus.weight * size for corpus, size in zip(corpora, sizes, strict=True) if corpus.share is None)
    epoch = weighted / (1.0 - sum(corpus.share or 0.0 for corpus in corpora))
    return [
        corpus.weight if corpus.share is None else corpus.share * epoch / size
        for corpus, size in zip(corpora, sizes, strict=True)
    ]


def check_files(data: DataConfig, base_folder: Path) -> None:
    """Finds all corpus files that are not there, or are none.

    Args:
        data: the section.
        base_folder: what `data.folder` is relative to.

    Raises:
        DataError: at least one is missing; the message lists every one.
    """
    corpora = [*data.corpora, *([data.valid] if data.valid else [])]
    paths = [path for corpus in corpora for path in corpus.paths(base_folder / data.folder)]
    problems = [(path, problem) for path in paths if (problem := not_a_file(path))]
    if problems:
        listed = "".join(f"\n  {path}: {problem}" for path, problem in problems)
        raise DataError(
            f"{len(problems)} of the files that the recipe's section data names cannot be used; correct the paths, or "
            f"data.folder, which they are relative to:{listed}"
        )


def read_corpus(corpus: CorpusConfig, folder: Path) -> Iterator[RawPair]:
    """Yields every pair of a corpus as it lies in its files.

    Args:
        corpus: the corpus.
        folder: what its paths are relative to.

    Raises:
        DataError: a file is missing, broken or UTF-16, or the two differ in their number of lines.
    """
    with ExitStack() as stack:
        yield from read_pairs(corpus, [stack.enter_context(LineReader(path)) for path in corpus.paths(folder)])


def read_pairs(corpus: CorpusConfig, files: Sequence[Lines]) -> Iterator[RawPair]:
    """Yields the pairs that lines of a corpus make, by its format.

    Args:
        corpus: the corpus.
        files: the lines of each of its files, from the same one on.

    Raises:
        DataError: there are two, and one has more lines than the other.
    """
    if corpus.translations or corpus.back_translations:
        return read_translations(files[0], back=corpus.back_translations is not None)
    return read_tsv(files[0]) if corpus.tsv else read_line_pairs(files[0], files[1])


def clean(pairs: Iterator[RawPair], corpus: str, cleaning: CleaningConfig) -> Iterator[SentencePair | Dropped]:
    """Yields for each pair either the sentences or why they are dropped, one for one and in order.

    Duplicates and tokens are not looked at here: the first needs all pairs, the second the vocabulary.
    """
    for raw in pairs:
        fault, source, target = _decode_pair(raw)
        length = len(source) + len(target)
        source, target = source.strip(), target.strip()
        if reason := fault or _fault(source, target, cleaning):
            starts = [_excerpt(_decode_start(side)) for side in (raw.source, raw.target or b"")]
            yield Dropped(line=raw.line, reason=reason, source=starts[0], target=starts[1])
        else:
            trimmed = len(source) + len(target) < length
            yield SentencePair(source=source, target=target, corpus=corpus, line=raw.line, trimmed=trimmed)


def read_valid(corpus: CorpusConfig, folder: Path) -> tuple[list[str], list[str]]:
    """Gives all sentences of a validation set, as they are; it is small enough to hold, and no line of it may go.

    Returns:
        The source and the target sentences, of equal number.

    Raises:
        DataError: the files cannot be read as pairs, are empty or far too large, or have lines that are not UTF-8, lack
            a side or are longer than 4 MB; the message has the line numbers, up to ten of them.
    """
    sources: list[str] = []
    targets: list[str] = []
    faults: list[str] = []
    num_faults, held_bytes = 0, 0
    files = " and ".join(map(str, corpus.paths(folder)))
    for raw in read_corpus(corpus, folder):
        fault, source, target = _decode_pair(raw)
        if fault is None and not (source.strip() and target.strip()):
            fault = "empty"
        if fault:
            num_faults += 1
            faults += [f"line {raw.line} ({fault})"] * (len(faults) < _LISTED_FAULTS)
            continue
        sources.append(source)
        targets.append(target)
        held_bytes += len(raw.source) + len(raw.target or b"")
        check_held(files, len(sources), held_bytes)
    if num_faults:
        more = f" and {num_faults - len(faults)} more" if num_faults > len(faults) else ""
        raise DataError(
            f"{files}: {', '.join(faults)}{more} cannot be used, and a validation set is used whole: correct them "
            "on both sides"
        )
    if not sources:
        raise DataError(f"{files}: there is no pair; name a validation set that has some, or none at all")
    return sources, targets


def _tag_fault(tag: str) -> str | None:
    """Gives why a word cannot be a tag, or None."""
    if not 3 <= len(tag) <= _MAX_TAG_CHARACTERS:
        return f"has {len(tag)} characters, and a tag 3 to {_MAX_TAG_CHARACTERS}"
    if not tag.isprintable() or " " in tag or "\u2581" in tag:
        return "is not one word of printable characters"
    if tag[0].isalnum() or tag[-1].isalnum():  # as a piece of its own, it would be cut out of the words that hold it
        return "has no marks around it that keep it apart from text"
    if tag in _TAKEN_SYMBOLS or re.fullmatch(r"<0x[0-9A-F]{2}>", tag):
        return "is a symbol that every vocabulary uses for something else"
    return None


def _decode_start(line: bytes) -> str:
    """Gives more than a report shows of a line, with what is not UTF-8 as escapes."""
    start = line[: 4 * _EXCERPT_CHARACTERS + 4]  # a character has four bytes at most
    return start.decode("utf-8", errors="backslashreplace")


def _excerpt(text: str) -> str:
    """Gives the start of a text on one line without tabs, for a report."""
    start = text if len(text) <= _EXCERPT_CHARACTERS else text[:_EXCERPT_CHARACTERS] + "…"
    if start.isprintable():
        return start
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in start)


def _decode_pair(raw: RawPair) -> tuple[str | None, str, str]:
    """Gives why a pair cannot be read, or None, and its two sides, empty in the first case."""
    if raw.fault is not None:
        return raw.fault, "", ""
    if raw.target is None:
        return "no_tab", "", ""
    if len(raw.source) > MAX_LINE_BYTES or len(raw.target) > MAX_LINE_BYTES:
        return "too_long", "", ""
    if b"\0" in raw.source or b"\0" in raw.target:  # UTF-16, or worse, that passes for UTF-8
        return "encoding", "", ""
    try:
        return None, raw.source.decode("utf-8"), raw.target.decode("utf-8")
    except UnicodeDecodeError:
        return "encoding", "", ""


def _fault(source: str, target: str, cleaning: CleaningConfig) -> str | None:
    """Gives why a decoded pair is dropped, or None."""
    if not source or not target:
        return "empty"
    longer, shorter = max(len(source), len(target)), min(len(source), len(target))
    if longer > cleaning.max_characters:
        return "too_long"
    # n words have 2n - 1 characters at least, so most lines need no counting.
    if longer >= 2 * cleaning.max_words and max(len(source.split()), len(target.split())) > cleaning.max_words:
        return "too_long"
    if max(longer, _RATIO_FLOOR) > cleaning.max_ratio * max(shorter, _RATIO_FLOOR):
        return "ratio"
    return None
