"""Section 6.1: the settings of averaging and search that are tried at each scale, and the sets that are translated."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from attendo.errors import DataError, RecipeError
from attendo.paper.experiment import Scale
from attendo.paper.phrasebook_texts import taken_from
from attendo.recipe import Recipe, load_recipe
from attendo.workflow.lines import line_pairs_from

PAPER_BEAM, PAPER_ALPHA, PAPER_OFFSET, PAPER_AVERAGE = 4, 0.6, 50, 5
"""Section 6.1: "beam search with a beam size of 4 and length penalty alpha = 0.6", "input length + 50", 5 for base."""

SetName = Literal["dev", "test"]
SETS: tuple[SetName, ...] = ("dev", "test")
"""The set that settings are chosen on, and the set that is reported on."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One way of translating with a run's checkpoints."""

    average: int
    """Number of last checkpoints whose mean the weights are; 1 for the last alone."""
    beam: int
    alpha: float
    """Alpha of the length penalty; has no effect on greedy search, a beam of 1."""
    offset: int = PAPER_OFFSET
    """Number of tokens by which an output may be longer than the input."""
    all_of_the_beam: bool = False
    """Whether the search continues until the best `beam` translations are certain; otherwise until the best one is."""

    @property
    def name(self) -> str:
        """Name for files and folders."""
        end = "-all" if self.all_of_the_beam else ""
        return f"average-{self.average}-beam-{self.beam}-alpha-{self.alpha}-offset-{self.offset}{end}"

    def to_text(self) -> str:
        """Describes search and average for a page."""
        search = "greedy" if self.beam == 1 else f"beam {self.beam}, alpha {self.alpha}"
        return f"{search}, {'last checkpoint' if self.average == 1 else f'mean of {self.average}'}"


PAPER = Setting(average=PAPER_AVERAGE, beam=PAPER_BEAM, alpha=PAPER_ALPHA)
"""The paper's setting for its base models."""
GREEDY = Setting(average=PAPER_AVERAGE, beam=1, alpha=PAPER_ALPHA)
"""The same weights without a beam."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The settings that are tried at one scale."""

    beams: tuple[int, ...]
    alphas: tuple[float, ...]
    averages: tuple[int, ...]
    """Numbers of checkpoints, tried greedily and with the paper's beam; `map_averages` with all beams and alphas."""
    offsets: tuple[int, ...]
    """Values of `Setting.offset` that are tried besides the paper's, on the development set."""

    @property
    def map_averages(self) -> tuple[int, ...]:
        """Numbers of averaged checkpoints for which all beams and alphas are tried: 1 and the paper's 5."""
        return 1, PAPER_AVERAGE

    def map(self, average: int) -> tuple[Setting, ...]:
        """Returns all beams with all alphas; greedy search once, since alpha has no effect on it."""
        return tuple(
            Setting(average=average, beam=beam, alpha=alpha)
            for beam in self.beams
            for alpha in ((PAPER_ALPHA,) if beam == 1 else self.alphas)
        )

    def lengths(self) -> tuple[Setting, ...]:
        """Returns the paper's setting with each limit of the output's length, its own included."""
        return tuple(replace(PAPER, offset=offset) for offset in sorted({*self.offsets, PAPER_OFFSET}))

    def settings(self, which: SetName) -> tuple[Setting, ...]:
        """Returns all settings that a set is decoded with, the paper's first."""
        settings = [PAPER]
        for average in self.averages:
            settings += [replace(GREEDY, average=average), replace(PAPER, average=average)]
        for average in self.map_averages:
            settings += self.map(average)
        if which == "dev":
            settings += [*self.lengths(), replace(PAPER, all_of_the_beam=True)]
        return tuple(dict.fromkeys(settings))


_ALPHAS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2)
GRIDS: dict[Scale, Grid] = {
    "tiny": Grid(beams=(1, 2, 4), alphas=(0.0, 0.6, 1.2), averages=(1, 5), offsets=(0,)),
    "small": Grid(beams=(1, 2, 4, 8, 16), alphas=_ALPHAS, averages=(1, 2, 5, 10), offsets=(0, 5, 20, 100)),
    "paper": Grid(beams=(1, 2, 4, 8, 16), alphas=_ALPHAS, averages=(1, 2, 5, 10, 20), offsets=(0, 10, 100, 200)),
}
"""The settings that are tried, by scale."""

TEST_NAMES: dict[Scale, str] = {"tiny": "test", "small": "test_2016_flickr", "paper": "newstest2014"}
"""Names of the test sets by scale: files beside the corpora, with the language as suffix."""


@dataclass(frozen=True, kw_only=True)
class Sentences:
    """A set of sentences to translate, with their references."""

    name: str
    """Name of the set for a page."""
    sources: tuple[str, ...]
    references: tuple[str, ...]


def recipe(scale: Scale, data: Path | None) -> Recipe:
    """Returns the recipe of the models, which keeps as many checkpoints as the largest average needs.

    Args:
        scale: the shipped recipe `search-settings/SCALE`, or `base` for `paper`.
        data: the folder of the corpora; None for the recipe's own.

    Raises:
        RecipeError: the recipe is invalid.
    """
    name = "base" if scale == "paper" else f"search-settings/{scale}"
    kept = [f"training.average_last={max(GRIDS[scale].averages)}"]
    return load_recipe(name, [f"name=search-settings-{scale}", *taken_from(data), *kept])


def read_test_set(trained: Recipe, scale: Scale) -> Sentences:
    """Reads the test set beside a recipe's corpora.

    Raises:
        DataError: a file is missing or broken, the two sides differ in length, or no line has a translation.
        RecipeError: the recipe names no corpora.
    """
    if trained.data is None:
        raise RecipeError(f"{trained.name}: has no section [data], so there is no test set either")
    name, folder = TEST_NAMES[scale], trained.folder / trained.data.folder
    source, target = (
        folder / f"{name}.{language}" for language in (trained.data.source_language, trained.data.target_language)
    )
    missing = [str(path) for path in (source, target) if not path.is_file()]
    if missing:
        raise DataError(
            f"{' and '.join(missing)}: not found; the test set lies beside the corpora, name their folder with --data"
        )
    pairs = list(line_pairs_from(source, target))
    if not any(reference.strip() for _, reference in pairs):
        raise DataError(f"{target}: has no line with a translation, so there is nothing to test on")
    return Sentences(name=name, sources=tuple(pair[0] for pair in pairs), references=tuple(pair[1] for pair in pairs))


def by_set(grid: Grid) -> Sequence[tuple[SetName, Setting]]:
    """Returns all sets and settings to decode for a seed, those of the development set first."""
    return [(name, setting) for name in SETS for setting in grid.settings(name)]
