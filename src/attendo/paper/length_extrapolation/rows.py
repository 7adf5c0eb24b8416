"""Lengths beyond training (Section 3.5): which positions and which texts are trained, and the recipes of both."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from attendo.paper.experiment import Order, Scale
from attendo.paper.length_extrapolation.texts import SHORT, Lengths, on_texts
from attendo.paper.phrasebook_texts import corpora_folder, taken_from
from attendo.recipe import Recipe, load_recipe


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

_LENGTHS = {
    "tiny": Lengths(
        trained_sentences=2, trained_words=24, all_sentences=6, tested=(1, 2, 4, 6), test_sentences=24
    ),
    "small": Lengths(
        trained_sentences=2, trained_words=32, all_sentences=8, tested=(1, 2, 3, 4, 6, 8), test_sentences=360
    ),
    "paper": Lengths(
        trained_sentences=2, trained_words=60, all_sentences=8, tested=(1, 2, 3, 4, 6, 8), test_sentences=2400
    ),
}  # fmt: skip

_SHIFTS = {
    "tiny": (0, 8, 16, 32, 64, 128),
    "small": (0, 8, 16, 32, 48, 64, 80, 96, 128, 192, 256, 512),
    "paper": (0, 16, 32, 64, 96, 128, 192, 256, 512, 1024),
}


def lengths_of(scale: Scale) -> Lengths:
    """Which lengths are trained and tested at a scale."""
    return _LENGTHS[scale]


def shifts_of(scale: Scale) -> tuple[int, ...]:
    """At which positions single sentences are read at a scale."""
    return _SHIFTS[scale]


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
