"""Lengths beyond training (Section 3.5): the rows with their positions and recipes, and texts of chosen lengths."""

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
from attendo.paper.experiment import Scale, StudyRequest
from attendo.paper.phrasebook_texts import corpora_folder, taken_from
from attendo.recipe import Recipe, load_recipe
from attendo.text.cleaning import SentencePair, clean, read_valid
from attendo.text.corpora import CorpusConfig, DataConfig
from attendo.text.pair_reading import read_corpus
from attendo.text.text_check import check_files

# --- texts of chosen lengths ------------------------------------------------------------------------------------------

SHORT, ALL = "short", "all"
"""Names of the two corpora."""

Pair = tuple[str, str]
"""A source text and its translation."""

_SEED = 1
"""Seed for dividing the sentences into texts, the same for all runs."""


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """The lengths that are trained and those that are tested."""

    trained_sentences: int
    """Largest number of sentences in a short training text."""
    trained_words: int
    """Largest number of words on either side of a short training text; longer training sentences are left out."""
    all_sentences: int
    """Largest number of sentences in a text of the corpus of all lengths."""
    tested: tuple[int, ...]
    """Number of sentences per text, for each test."""
    test_sentences: int
    """Number of sentences in each test, the first of the validation set; a multiple of every tested length."""
    shifts: tuple[int, ...] = (0,)
    """Positions at which the first token of a single sentence is read."""

    def __post_init__(self) -> None:
        """Refuses lengths that do not divide the number of test sentences."""
        assert all(self.test_sentences % length == 0 for length in self.tested), "the tests would differ in content"


def write_texts(recipe: Recipe, lengths: Lengths, folder: Path) -> None:
    """Writes the texts of a recipe's corpora and validation set, the same ones every time.

    Args:
        recipe: recipe that names the corpora.
        lengths: lengths of the texts.
        folder: folder to write into.

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
    """A copy of a recipe that trains on short texts, or on both corpora; both make the vocabulary in either case.

    From long texts alone a small model would learn late which words correspond, so that more than length would differ.

    Args:
        recipe: recipe that names the corpora the texts are made of.
        folder: folder of the texts.
        corpus: `SHORT`, or `ALL` for both corpora.
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
            licence="; ".join(dict.fromkeys(origin.licence for origin in data.corpora if origin.licence)),
            attribution="; ".join(dict.fromkeys(origin.attribution for origin in data.corpora if origin.attribution)),
        )

    corpora = tuple(texts(name, 0.0 if (name, corpus) == (ALL, SHORT) else None) for name in (SHORT, ALL))
    texts_data = replace(
        data,
        folder=str(folder.resolve()),
        corpora=corpora,
        valid=replace(texts("valid", None), name="", licence="", attribution=""),
        # Both corpora consist of the same sentences, so that they share a few texts.
        cleaning=replace(data.cleaning, drop_duplicates=False),
    )
    return replace(recipe, data=texts_data)


def joined(pairs: Iterable[Pair], most_sentences: int, most_words: int) -> Iterator[Pair]:
    """Joins consecutive pairs into texts, each pair in exactly one text.

    The number of pairs in a text is drawn from 1 to `most_sentences`, n with a probability proportional to 1/n: so
    texts of every length have equally many sentences in all, and there are short ones from which a model can learn
    which words correspond. A text ends early where the next pair would take it beyond `most_words`.

    Args:
        pairs: pairs in order; one of more than `most_words` words is a text by itself.
        most_sentences: largest number of pairs in a text.
        most_words: largest number of words in a text, on either side.
    """
    generator = random.Random(_SEED)
    sizes = range(1, most_sentences + 1)
    chances = [1 / size for size in sizes]
    text: list[Pair] = []
    num_pairs = 0
    for pair in pairs:
        if text and (len(text) == num_pairs or _num_words([*text, pair]) > most_words):
            yield _join(text)
            text = []
        if not text:
            num_pairs = generator.choices(sizes, chances)[0]
        text.append(pair)
    if text:
        yield _join(text)


def regrouped(pairs: list[Pair], sentences: int) -> list[Pair]:
    """Joins consecutive pairs into texts of equal numbers of sentences.

    Args:
        pairs: pairs in order, a multiple of `sentences`.
        sentences: number of pairs in a text.
    """
    assert len(pairs) % sentences == 0, "no sentence may be left over"
    return [_join(pairs[first : first + sentences]) for first in range(0, len(pairs), sentences)]


def read_test(recipe: Recipe, folder: Path) -> list[Pair]:
    """Reads the test sentences.

    Args:
        recipe: recipe that names the languages.
        folder: folder of the texts.

    Raises:
        DataError: the files are missing or cannot be read.
    """
    data = recipe.data
    assert data is not None, "the shipped recipes name corpora"
    files = CorpusConfig(source=f"test.{data.source_language}", target=f"test.{data.target_language}")
    return list(zip(*read_valid(files, folder), strict=True))


def _sentences(data: DataConfig, root: Path, most_words: int) -> Iterator[Pair]:
    """The pairs of all corpora that pass cleaning and have at most `most_words` words on either side."""
    pairs = chain.from_iterable(clean(read_corpus(corpus, root), corpus.name, data.cleaning) for corpus in data.corpora)
    for pair in pairs:
        if isinstance(pair, SentencePair) and _num_words([sentence := (pair.source, pair.target)]) <= most_words:
            yield sentence


def _num_words(pairs: list[Pair]) -> int:
    """The number of words on the longer side."""
    return max(sum(len(pair[side].split()) for pair in pairs) for side in (0, 1))


def _join(pairs: list[Pair]) -> Pair:
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
    """A row of the study: a kind of positions, and the texts that it is trained on."""

    positions: Literal["interleaved", "learned"]
    """Value of the recipe's key `model.positions`."""
    texts: Literal["short", "all"]
    """Training texts: `short`, or `all` for both corpora."""

    @property
    def kind(self) -> str:
        """The kind of positions in words."""
        return "sinusoidal" if self.positions == "interleaved" else "learned"

    @property
    def name(self) -> str:
        """The name of the row and of its runs, such as `learned-short`."""
        return f"{self.kind}-{self.texts}"

    @property
    def title(self) -> str:
        """The kind of positions and the training texts in words."""
        texts = "trained on short texts" if self.texts == SHORT else "trained on all lengths"
        return f"{self.kind}, {texts}"


ROWS = (
    Row(positions="interleaved", texts="short"),
    Row(positions="learned", texts="short"),
    Row(positions="interleaved", texts="all"),
    Row(positions="learned", texts="all"),
)
"""The rows, those trained on short texts first; the others show what can be reached if all lengths are trained."""
BY_NAME = {row.name: row for row in ROWS}

LENGTHS: Mapping[Scale, Lengths] = declared("length_extrapolation/scales.toml", "lengths", dict[Scale, Lengths])
"""Trained and tested lengths, and tested positions, by scale."""


def base_recipe(request: StudyRequest) -> Recipe:
    """The shipped recipe of a scale, which names the corpora that texts are made of.

    Raises:
        RecipeError: `--data` was given for the scale `tiny`, which has texts of its own.
    """
    return load_recipe(f"length-extrapolation/{request.scale}", taken_from(corpora_folder(request)))


def texts_folder(request: StudyRequest) -> Path:
    """The folder of the texts."""
    return request.folder / "texts"


def recipes(request: StudyRequest) -> dict[str, Recipe]:
    """The rows' recipes by row name.

    Raises:
        RecipeError: `--data` was given for the scale `tiny`, which has texts of its own.
    """
    base = base_recipe(request)
    return {row.name: _recipe(base, row, texts_folder(request)) for row in ROWS}


def _recipe(base: Recipe, row: Row, texts: Path) -> Recipe:
    model = replace(base.model, positions=row.positions)
    return replace(on_texts(base, texts, row.texts), name=f"{base.name}-{row.name}", model=model)
