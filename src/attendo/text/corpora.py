"""Corpora of a recipe: their files, how they are read as pairs of lines, and how often a pair is seen."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from attendo.errors import DataError
from attendo.settings.characters import has_control_characters
from attendo.text.files.compression import unpacked_name
from attendo.text.files.encodings import UTF8, encoding_problem, is_utf8, is_wide
from attendo.text.files.file_patterns import has_wildcards, matching_files
from attendo.text.files.parallel_files import listed_files, paired_files, sides_of
from attendo.text.pair_rules import CleaningConfig
from attendo.text.subwords.placeholders import MAX_PLACEHOLDERS, placeholder

VALID_NAME = "valid"
"""The name of the validation set among the shards."""

_ONE_FILE_KEYS = ("tsv", "file", "translations", "back_translations")
FILE_KEYS = ("source", "target", "pair", *_ONE_FILE_KEYS, "trees")
"""Keys of a corpus that name files."""
_FILE_SETS = (("source", "target"), *((key,) for key in ("pair", *_ONE_FILE_KEYS, "trees")))
_SUBTITLES = (".srt", ".vtt")
_STATES = ("fuzzy", "translated", "final")
# Symbols that every vocabulary has, under SentencePiece's own names or ours.
_TAKEN_SYMBOLS = {"<s>", "</s>", "<unk>", "<pad>"} | {placeholder(i) for i in range(1, MAX_PLACEHOLDERS + 1)}
_MAX_TAG_CHARACTERS = 32


@dataclass(frozen=True, kw_only=True)
class CorpusConfig:
    """One parallel corpus: files of lines in pairs, of tab-separated columns, or of `attendo translate --json`."""

    name: str = ""
    """What reports and files call it: letters, digits, `-`, `_` and `.`."""
    source: str | tuple[str, ...] | None = None
    """File of source lines, relative to `data.folder`; a list of files; or a pattern, as `"news/*.en"` or
    `"part{01..12}.en"`, whose files are taken in the order of their names."""
    target: str | tuple[str, ...] | None = None
    """File of target lines, or as many of them in the same order. What `*` stands for is the same on both sides."""
    pair: str | tuple[str, ...] | None = None
    """In place of `source` and `target`, two files whose names differ in one part: `"corpus.{en,de}"` is corpus.en and
    corpus.de, the source first. Also with patterns, `"news/*.{en,de}"`, and as a list."""
    tsv: str | tuple[str, ...] | None = None
    """File of lines `source<TAB>target`; further columns are ignored. Also a list or a pattern."""
    file: str | tuple[str, ...] | None = None
    """File of units that people translate, by the end of its name or its content: a translation memory (TMX), XLIFF,
    PO, CSV or TSV with named columns, or JSON with an object a line. It is read in the languages of the recipe, `de`
    also as `de-AT`. Also a list or a pattern. Two files of subtitles, SRT or WebVTT, are a `pair`, matched by their
    times."""
    columns: tuple[str, ...] = ()
    """Of a CSV or TSV `file`: the names of the source's and the target's column, or their numbers from 1 where no row
    names them. Default: columns that are called as the languages, or source and target."""
    fields: tuple[str, ...] = ()
    """Of a `file` of JSON objects: the names of the source's and the target's field; `translation.en` is `en` within
    `translation`. Default: as for columns."""
    states: tuple[str, ...] = ("translated", "final")
    """Which units of a `file` count: `"translated"`, `"final"` (approved, signed off), and `"fuzzy"`, which are to be
    reviewed, or a machine's. What has no translation never counts."""
    translations: str | tuple[str, ...] | None = None
    """File that `attendo translate --json` wrote of source text: its translations are the targets (distillation)."""
    back_translations: str | tuple[str, ...] | None = None
    """File that `attendo translate --json` wrote of target text, with a model of the other direction: its translations
    are the sources (back-translation)."""
    encoding: str | tuple[str, ...] = UTF8
    """Text encoding of the files: any that Python knows, such as `"cp1252"`, `"koi8-r"`, `"gb18030"` or `"utf-16"`. A
    list of two gives the source's and the target's."""
    trees: str | None = None
    """Treebank, for `task = "parse"`: the sources are its sentences, the targets its trees. A file; a folder, which
    stands for the files in it (.mrg and the like); or a pattern: `"wsj/{02..21}"` for sections 2 to 21, `"*.mrg"`."""
    weight: float = 1.0
    """How often each pair is seen per epoch: 2.0 for twice, 0.5 for a different half each time."""
    share: float | None = None
    """Share of an epoch's pairs that come from this corpus, in place of `weight`: 0.25 for a quarter, 0 to leave it
    out. Corpora without a share fill the rest of the epoch by their weights."""
    distilled: bool = False
    """In fine-tuning, learn how probable the model of `training.init_from` finds each token of the vocabulary at each
    place of this corpus's targets, instead of the targets' tokens themselves. For replay, so that less is forgotten."""
    source_tag: str | None = None
    """Word such as `<bt>` put before each source, so that the model can tell this corpus from others; it becomes a
    piece of its own in a vocabulary learned with it."""
    tags: tuple[str, ...] = ()
    """Your own labels, kept in the report."""
    licence: str = ""
    """Licence of the corpus, such as `CC BY 2.0`; printed in the model card."""
    attribution: str = ""
    """Attribution that the licence requires, and the origin of the corpus; printed in the model card."""

    def __post_init__(self) -> None:
        """Rejects invalid keys, all problems at once.

        Raises:
            ValueError: the name is not a valid file name, the files are neither a pair nor a single file, an encoding
                is unknown, the weight is not above 0, the share is invalid, or the tag is not a word.
        """
        problems = []
        if self.name and not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", self.name):
            problems.append(
                f"name = {self.name!r}: use up to 100 letters, digits, '-', '_' and '.'; files are named so"
            )
        named = {key: getattr(self, key) for key in FILE_KEYS if getattr(self, key)}
        if tuple(named) not in _FILE_SETS:
            given = ", ".join(named) or "no file"
            problems.append(
                f"has {given}; give source and target, or tsv, translations, back_translations or trees alone "
                "(or pair, as corpus.{en,de}, or file, as memory.tmx)"
            )
        problems += [*self._file_problems(), *self._unit_problems()]
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

    def _file_problems(self) -> Iterator[str]:
        """Yields the problems of the names of the files, and of their encodings."""
        for key in FILE_KEYS:
            for path in _as_list(getattr(self, key)):
                if has_control_characters(path):
                    yield f"{key} = {path!r} is no file's name; leave out its control characters"
                elif not path and not isinstance(getattr(self, key), str):
                    yield f"{key} = has an empty name in its list; leave it out, or name a file"
                elif key == "pair" and sides_of(path) is None:
                    yield f"pair = {path!r} has no two sides; write it as corpus.{{en,de}}, the source's part first"
        encodings = _as_list(self.encoding)
        faults = [f"encoding = {name!r} {fault}" for name in encodings if (fault := encoding_problem(name))]
        yield from faults
        if len(encodings) not in (1, 2) or (len(encodings) == 2 and not (self.source or self.pair)):
            yield f"encoding = {list(encodings)!r} is not one; give one, or with source and target one for each of them"
        files = self.source or self.pair or self.tsv or self.file
        if not faults and not files and not all(map(is_utf8, encodings)):
            yield f"encoding = {self.encoding!r} goes with source and target, pair, tsv or file; other files are UTF-8"

    def _unit_problems(self) -> Iterator[str]:
        """Yields the problems of the keys for reading units."""
        for key in ("columns", "fields"):
            names = getattr(self, key)
            if names and (len(set(names)) != 2 or len(names) != 2 or not all(names)):
                yield f"{key} = {list(names)!r} does not name two; name the source's first, as ['en', 'de']"
            if names and not self.file:
                yield f"{key} = {list(names)!r} goes with file alone; leave it out"
        if self.columns and self.fields:
            yield "columns are those of CSV and TSV, fields those of JSON; leave one out"
        if not self.states or any(state not in _STATES for state in self.states):
            yield f"states = {list(self.states)!r} names other states, or none; take some of {', '.join(_STATES)}"

    @property
    def encodings(self) -> tuple[str, str]:
        """The encodings of the source's and of the target's files."""
        found = _as_list(self.encoding)
        return found[0], found[-1]

    @property
    def line_encodings(self) -> tuple[str, str]:
        """Encodings of both sides' lines when they are read: UTF-8 if the encoding has other line ends.

        Units are always UTF-8, whatever their file's encoding.
        """
        if self.has_units:
            return UTF8, UTF8
        source, target = (UTF8 if is_wide(encoding) else encoding for encoding in self.encodings)
        return source, target

    @property
    def has_units(self) -> bool:
        """Whether its files are units that people translate, which `formats.pairs` reads, and not lines."""
        sides = (*_as_list(self.source), *_as_list(self.target))
        return self.file is not None or (bool(sides) and all(map(is_subtitles, sides)))

    @property
    def has_patterns(self) -> bool:
        """Whether the list of its files depends on the disk; a treebank may be a folder."""
        given = [path for key in FILE_KEYS for path in _as_list(getattr(self, key))]
        return self.trees is not None or any(map(has_wildcards, given))

    def resolved(self, folder: Path) -> "CorpusConfig":
        """Returns the corpus with file names instead of patterns.

        Treebanks stay unchanged; `paths` has their files.

        Args:
            folder: the folder for relative names. A pattern that no file matches is left unchanged.

        Raises:
            DataError: a pattern is invalid, or a file has no counterpart on the other side.
            OSError: a folder cannot be read.
        """
        if self.trees is not None:
            return self
        with _naming(self.name):
            if not (self.source or self.pair):
                files = {key: _listed(getattr(self, key), folder) for key in _ONE_FILE_KEYS}
                return replace(self, **files)
            return self._with_pairs(folder)

    def _with_pairs(self, folder: Path) -> "CorpusConfig":
        """Returns a corpus of pairs of files with their names."""
        sides = [side for path in _as_list(self.pair) if (side := sides_of(path))]
        sources = tuple(side[0] for side in sides) or _as_list(self.source)
        targets = tuple(side[1] for side in sides) or _as_list(self.target)
        pairs = paired_files(sources, targets, folder)
        if len(pairs) == 1:
            return replace(self, pair=None, source=pairs[0][0], target=pairs[0][1])
        return replace(self, pair=None, source=tuple(s for s, _ in pairs), target=tuple(t for _, t in pairs))

    @property
    def file_sets(self) -> "tuple[CorpusConfig, ...]":
        """A resolved corpus as corpora of a file, or a pair of files, each: line n is from these files."""
        keys = [key for key in FILE_KEYS if getattr(self, key) and key != "trees"]
        columns = [_as_list(getattr(self, key)) for key in keys]
        if all(len(column) <= 1 for column in columns):
            return (self,)
        return tuple(replace(self, **dict(zip(keys, row, strict=True))) for row in zip(*columns, strict=True))

    @property
    def files(self) -> tuple[str, ...]:
        """The names of a resolved corpus's files, those of a pair one after the other."""
        columns = [_as_list(getattr(self, key)) for key in FILE_KEYS if getattr(self, key)]
        return tuple(name for row in zip(*columns, strict=True) for name in row)

    def paths(self, folder: Path) -> tuple[Path, ...]:
        """Returns the corpus's files, including missing ones, with names relative to `folder`.

        Raises:
            DataError: a pattern matches too many files or is invalid, or a file has no counterpart.
            OSError: a folder cannot be read.
        """
        if self.trees is not None:
            return matching_files(self.trees, folder)
        return tuple(folder / name for name in self.resolved(folder).files)

    def names(self, folder: Path) -> tuple[str, ...]:
        """Returns the names of these files, relative ones as seen from `folder`."""
        return tuple(
            str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path) for path in self.paths(folder)
        )

    def tagged(self, source: str) -> str:
        """Returns a source as the model reads it: after the corpus's tag, if it has one."""
        return source if self.source_tag is None else f"{self.source_tag} {source}"


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
    """The training corpora."""
    valid: CorpusConfig | None = None
    """The validation set; its `name`, `weight` and `distilled` are not used."""
    cleaning: CleaningConfig = field(default_factory=CleaningConfig)
    """Rules for dropping pairs."""

    def __post_init__(self) -> None:
        """Refuses corpora that cannot be distinguished, and invalid names.

        Raises:
            ValueError: two corpora have the same name, one has none or that of the validation set, the shares leave an
                epoch empty, or a language or the folder has control characters.
        """
        for key in ("source_language", "target_language", "folder"):
            if has_control_characters(name := getattr(self, key)):
                raise ValueError(f"{key} = {name!r} has control characters; leave them out")
        earlier: set[str] = set()
        for number, corpus in enumerate(self.corpora, start=1):
            if not corpus.name or corpus.name.lower() == VALID_NAME:
                raise ValueError(f"corpora: number {number} has the name {corpus.name!r}; give it another one")
            if corpus.name.lower() in earlier:  # case-insensitive file systems would have one file for both
                raise ValueError(f"corpora: two have the name {corpus.name!r}; rename one")
            earlier.add(corpus.name.lower())
        shares = {corpus.name: corpus.share for corpus in self.corpora if corpus.share is not None}
        if shares and (len(shares) == len(self.corpora) or sum(shares.values()) >= 1.0):
            listed = ", ".join(f"{name} {share}" for name, share in shares.items())
            raise ValueError(
                f"corpora: the shares ({listed}) leave nothing for the others; an epoch is all pairs of the corpora "
                "without a share, so let one have none, and the rest come to less than 1"
            )

    def resolved(self, folder: Path) -> "DataConfig":
        """Returns the section with all corpora resolved, see `CorpusConfig.resolved`.

        Raises:
            DataError: a corpus's pattern is invalid, or a file has no counterpart.
            OSError: a folder cannot be read.
        """
        corpora = tuple(corpus.resolved(folder) for corpus in self.corpora)
        return replace(self, corpora=corpora, valid=self.valid.resolved(folder) if self.valid else None)

    def matched_files(self, folder: Path) -> frozenset[str] | None:
        """Returns the names of all files that now match, if that depends on the files on disk.

        Args:
            folder: the folder for relative names.

        Returns:
            The names; None if the recipe itself names them, or if a pattern has no file, as on a machine without the
            corpora.

        Raises:
            DataError: a pattern is invalid, or a file has no counterpart.
            OSError: a folder cannot be read.
        """
        corpora = [*self.corpora, *([self.valid] if self.valid else [])]
        changing = [corpus.names(folder) for corpus in corpora if corpus.has_patterns]
        if not changing or not all((folder / names[0]).is_file() for names in changing if names):
            return None
        return frozenset(name for corpus in corpora for name in corpus.names(folder))

    @property
    def is_distilled(self) -> bool:
        """Whether any corpus is learned from a model's probabilities."""
        return any(corpus.distilled for corpus in self.corpora)

    @property
    def source_tags(self) -> tuple[str, ...]:
        """The tags before sources, each once, in the corpora's order; including that of the validation set."""
        corpora = [*self.corpora, *([self.valid] if self.valid else [])]
        return tuple(dict.fromkeys(corpus.source_tag for corpus in corpora if corpus.source_tag is not None))


def epoch_weights(corpora: Sequence[CorpusConfig], sizes: Sequence[int]) -> list[float]:
    """Computes how often each pair of each corpus occurs in an epoch, from weights and shares.

    With a corpus of 900 pairs and weight 1, one of 5,000 and share 0.25 gives 300 pairs an epoch: a quarter of 1,200.

    Args:
        corpora: the corpora of the recipe, at least one without a share.
        sizes: number of pairs of each, after cleaning; above 0.
    """
    weighted = sum(corpus.weight * size for corpus, size in zip(corpora, sizes, strict=True) if corpus.share is None)
    epoch = weighted / (1.0 - sum(corpus.share or 0.0 for corpus in corpora))
    return [
        corpus.weight if corpus.share is None else corpus.share * epoch / size
        for corpus, size in zip(corpora, sizes, strict=True)
    ]


def is_subtitles(name: str) -> bool:
    """Whether a file contains subtitles, by the ending of its name."""
    return unpacked_name(name).endswith(_SUBTITLES)


def _as_list(paths: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """Returns the values of a key, which may be one, several or none, as a list."""
    return (paths,) if isinstance(paths, str) else paths or ()


def _listed(patterns: str | tuple[str, ...] | None, folder: Path) -> Any:
    """Returns the files of a key as a list; None if it has none."""
    files = listed_files(_as_list(patterns), folder)
    return files if len(files) > 1 else (files[0] if files else None)


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Adds the corpus's name to an error of the block."""
    try:
        yield
    except DataError as error:
        raise DataError(f"data.corpora: {name}: {error}" if name else f"data.valid: {error}") from error


def _tag_fault(tag: str) -> str | None:
    """Returns why a word cannot be a tag, or None."""
    if not 3 <= len(tag) <= _MAX_TAG_CHARACTERS:
        return f"has {len(tag)} characters, and a tag 3 to {_MAX_TAG_CHARACTERS}"
    if not tag.isprintable() or " " in tag or "\u2581" in tag:
        return "is not one word of printable characters"
    if tag[0].isalnum() or tag[-1].isalnum():  # as a piece of its own, it would be cut out of the words that hold it
        return "has no marks around it that keep it apart from text"
    if tag in _TAKEN_SYMBOLS or re.fullmatch(r"<0x[0-9A-F]{2}>", tag):
        return "is a symbol that every vocabulary uses for something else"
    return None
