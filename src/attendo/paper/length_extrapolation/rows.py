"""Lengths beyond training (Section 3.5): positions and recipes of the rows, and the texts of chosen lengths."""

import random
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Literal

from attendo.errors import DataError
from attendo.files import atomic_path
from attendo.paper.declared import declared
from attendo.paper.experiment import Order, Scale
from attendo.paper.phrasebook_texts import corpora_folder, taken_from
from attendo.recipe import Recipe, load_recipe
from attendo.text.cleaning import SentencePair, clean, read_valid
from attendo.text.corpora import CorpusConfig, DataConfig
from attendo.text.pair_reading import read_corpus
from attendo.text.text_check import check_files

# --- texts of chosen lengths ------------------------------------------------------------------------------------------

SHORT, ALL = "short", "all"
"""The two corpora."""

Pair = tuple[str, str]
"""A source and its translation."""

_SEED = 1
"""Of how the sentences are divided: all runs have the same texts."""


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """Which lengths are trained and which are tested."""

    trained_sentences: int
    """A training text has 1 to so many sentences."""
    trained_words: int
    """And at most so many words on either side; a longer sentence is left out everywhere."""
    all_sentences: int
    """A text of the corpus of all lengths has 1 to so many."""
    tested: tuple[int, ...]
    """Sentences of the texts of each test."""
    test_sentences: int
    """How many sentences each test is made of: the first of the validation set, a multiple of every tested length."""
    shifts: tuple[int, ...] = (0,)
    """Positions of the first token at which single sentences are read."""

    def __post_init__(self) -> None:
        """Refuses lengths that would leave sentences over."""
        assert all(self.test_sentences % length == 0 for length in self.tested), "the tests would differ in content"


def write_texts(recipe: Recipe, lengths: Lengths, folder: Path) -> None:
    """Writes the texts of a recipe's corpora and validation set, the same ones every time.

    Args:
        recipe: names the corpora.
        lengths: which lengths.
        folder: to write into.

    Raises:
        DataError: files are missing or cannot be read, or the validation set has too few sentences.
        OSError: the folder cannot be written to.
    """
    data = recipe.data
    assert data is not None, "the shipped recipes name corpora"
    assert data.valid is not None, "the shipped recipes have a validation set"
    check_files(data, recipe.folder)
    root = recipe.folder / data.folder
    held_out = list(zip(*read_valid(data.valid, root), strict=True))
    if len(held_out) <= lengths.test_sentences:
        raise DataError(
            f"{' and '.join(map(str, data.valid.paths(root)))}: {len(held_out)} pairs are too few; the first "
            f"{lengths.test_sentences} are tested, and others are to be validated on"
        )
    test, valid = held_out[: lengths.test_sentences], held_out[lengths.test_sentences :]
    trained = (lengths.trained_sentences, lengths.trained_words)
    _write(folder, "test", data, test)
    _write(folder, "valid", data, joined(valid, *trained))
    _write(folder, SHORT, data, joined(_sentences(data, root, lengths.trained_words), *trained))
    words = lengths.trained_words * lengths.all_sentences
    sentences = _sentences(data, root, lengths.trained_words)
    _write(folder, ALL, data, joined(sentences, lengths.all_sentences, words))


def on_texts(recipe: Recipe, folder: Path, corpus: str) -> Recipe:
    """A recipe that trains on short texts, or on both corpora; the vocabulary is that of both in either case.

    Long texts alone would teach a small model late what belongs together, so that length would not be all that differs.

    Args:
        recipe: names the corpora that the texts are made of.
        folder: of the texts.
        corpus: `SHORT`, or `ALL` for both.
    """
    data = recipe.data
    assert data is not None, "the shipped recipes name corpora"

    def texts(name: str, share: float | None) -> CorpusConfig:
        source, target = (f"{name}.{language}" for language in (data.source_language, data.target_language))
        return CorpusConfig(
            name=name,
            source=source,
            target=target,
            share=share,
            licence="; ".join(dict.fromkeys(each.licence for each in data.corpora if each.licence)),
            attribution="; ".join(dict.fromkeys(each.attribution for each in data.corpora if each.attribution)),
        )

    corpora = tuple(texts(name, 0.0 if (name, corpus) == (ALL, SHORT) else None) for name in (SHORT, ALL))
    made = replace(
        data,
        folder=str(folder.resolve()),
        corpora=corpora,
        valid=replace(texts("valid", None), name="", licence="", attribution=""),
        # Both corpora have the same sentences, and so a few equal texts.
        cleaning=replace(data.cleaning, drop_duplicates=False),
    )
    return replace(recipe, data=made)


def joined(pairs: Iterable[Pair], most_sentences: int, most_words: int) -> Iterator[Pair]:
    """Puts consecutive pairs behind each other, each in exactly one text.

    How many a text is to have is drawn from 1 to `most_sentences`, n of them with a chance like 1/n: so as many
    sentences stand in texts of every length, and a model has short ones to learn from what belongs together. A text
    ends before that where it would have more than `most_words`.

    Args:
        pairs: in order, none of more than `most_words` words.
        most_sentences: of a text.
        most_words: of a text, on either side.
    """
    generator = random.Random(_SEED)
    sizes = range(1, most_sentences + 1)
    chances = [1 / size for size in sizes]
    text: list[Pair] = []
    wanted = 0
    for pair in pairs:
        if text and (len(text) == wanted or _num_words([*text, pair]) > most_words):
            yield _together(text)
            text = []
        if not text:
            wanted = generator.choices(sizes, chances)[0]
        text.append(pair)
    if text:
        yield _together(text)


def regrouped(pairs: list[Pair], sentences: int) -> list[Pair]:
    """The same pairs in texts of so many each.

    Args:
        pairs: in order; a multiple of `sentences`.
        sentences: of a text.
    """
    assert len(pairs) % sentences == 0, "no sentence may be left over"
    return [_together(pairs[first : first + sentences]) for first in range(0, len(pairs), sentences)]


def read_test(recipe: Recipe, folder: Path) -> list[Pair]:
    """The sentences to test with.

    Args:
        recipe: names the languages.
        folder: of the texts.

    Raises:
        DataError: they are missing.
    """
    data = recipe.data
    assert data is not None, "the shipped recipes name corpora"
    files = CorpusConfig(source=f"test.{data.source_language}", target=f"test.{data.target_language}")
    return list(zip(*read_valid(files, folder), strict=True))


def _sentences(data: DataConfig, root: Path, most_words: int) -> Iterator[Pair]:
    """All pairs of all corpora that cleaning leaves, but for those of too many words."""
    pairs = chain.from_iterable(clean(read_corpus(each, root), each.name, data.cleaning) for each in data.corpora)
    for pair in pairs:
        if isinstance(pair, SentencePair) and _num_words([found := (pair.source, pair.target)]) <= most_words:
            yield found


def _num_words(pairs: list[Pair]) -> int:
    """Of the longer side."""
    return max(sum(len(pair[side].split()) for pair in pairs) for side in (0, 1))


def _together(pairs: list[Pair]) -> Pair:
    return " ".join(pair[0] for pair in pairs), " ".join(pair[1] for pair in pairs)


def _write(folder: Path, name: str, data: DataConfig, pairs: Iterable[Pair]) -> None:
    with ExitStack() as stack:
        paths = [folder / f"{name}.{language}" for language in (data.source_language, data.target_language)]
        source, target = (
            stack.enter_context(stack.enter_context(atomic_path(path)).open("w", encoding="utf-8", newline="\n"))
            for path in paths
        )
        for pair in pairs:
            source.write(pair[0] + "\n")
            target.write(pair[1] + "\n")


# --- rows and recipes -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Row:
    """A kind of positions, trained on one of the two corpora."""

    positions: Literal["interleaved", "learned"]
    """As the recipe's key has it."""
    texts: Literal["short", "all"]
    """What it is trained on."""

    @property
    def kind(self) -> str:
        """The positions in words."""
        return "sinusoidal" if self.positions == "interleaved" else "learned"

    @property
    def name(self) -> str:
        """That of its runs."""
        return f"{self.kind}-{self.texts}"

    @property
    def title(self) -> str:
        """In words."""
        texts = "trained on short texts" if self.texts == SHORT else "trained on all lengths"
        return f"{self.kind}, {texts}"


ROWS = (
    Row(positions="interleaved", texts="short"),
    Row(positions="learned", texts="short"),
    Row(positions="interleaved", texts="all"),
    Row(positions="learned", texts="all"),
)
"""Those trained on short texts first: the others say what these lengths let reach at best."""
BY_NAME = {row.name: row for row in ROWS}

LENGTHS: Mapping[Scale, Lengths] = declared("length_extrapolation/scales.toml", "lengths", dict[Scale, Lengths])
"""Which lengths and positions are trained and tested at a scale."""


def base_recipe(order: Order) -> Recipe:
    """The shipped recipe of a scale, which names the corpora that texts are made of.

    Raises:
        RecipeError: `--data` was given where the data is attendo's own.
    """
    return load_recipe(f"length-extrapolation/{order.scale}", taken_from(corpora_folder(order)))


def texts_folder(order: Order) -> Path:
    """Where the texts are."""
    return order.folder / "texts"


def recipes(order: Order) -> dict[str, Recipe]:
    """The rows' recipes by the rows' names.

    Raises:
        RecipeError: as for `base_recipe`.
    """
    base = base_recipe(order)
    return {row.name: _recipe(base, row, texts_folder(order)) for row in ROWS}


def _recipe(base: Recipe, row: Row, texts: Path) -> Recipe:
    model = replace(base.model, positions=row.positions)
    return replace(on_texts(base, texts, row.texts), name=f"{base.name}-{row.name}", model=model)
