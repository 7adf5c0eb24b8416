"""Views of an attention map: the kinds, layers, heads and words to show, as heat maps or as lines."""

from dataclasses import dataclass
from typing import Literal

from attendo.attention_maps.weights import KINDS, TITLES, AttentionMap, Kind
from attendo.errors import DataError

Style = Literal["maps", "lines"]


@dataclass(frozen=True, kw_only=True)
class View:
    """The parts of a map that a reader asks to see; by default all of them."""

    kinds: tuple[Kind, ...] = KINDS
    """The kinds of attention; kinds that the model lacks are skipped, and it is an error if none remains."""
    layers: tuple[int, ...] = ()
    """Numbers of the layers, from 1, the lowest; empty means all layers."""
    heads: tuple[int, ...] = ()
    """Numbers of the heads, from 1; empty means all heads."""
    style: Style = "maps"
    """A heat map of each head, or lines between two columns of words as in the paper's Figures 3 to 5."""
    words: tuple[str, ...] = ()
    """The words whose lines are drawn: the lines from them or, if none of them is a query, the lines to them. Empty
    means all words."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """A view of one kind of attention, as indices from 0 into a map."""

    kind: Kind
    layers: tuple[int, ...]
    heads: tuple[int, ...]
    queries: tuple[int, ...] | None
    """Indices of the rows whose lines are drawn; None for all."""
    keys: tuple[int, ...] | None
    """Indices of the columns whose lines are drawn; None for all."""

    @property
    def has_focus(self) -> bool:
        """Whether only the lines of some words are drawn."""
        return self.queries is not None or self.keys is not None


def select(attention: AttentionMap, view: View) -> tuple[Selection, ...]:
    """Returns the selections of a map that a view asks for, in the paper's order of the kinds.

    Raises:
        DataError: the map lacks a kind, layer, head or word of the view; the message names all of them.
    """
    kinds = [kind for kind in KINDS if kind in view.kinds and kind in attention.kinds]
    if not kinds:
        attention.weights(view.kinds[0])  # raises an error that names the available kinds
    selections, problems = [], []
    for kind in kinds:
        num_layers, num_heads = attention.weights(kind).shape[:2]
        for name, requested, count in (("layer", view.layers, num_layers), ("head", view.heads, num_heads)):
            problems += [
                f"{TITLES[kind].lower()} has no {name} {number}; take 1 to {count}"
                for number in requested
                if not 1 <= number <= count
            ]
        queries, keys = _places(attention.queries(kind), view.words), _places(attention.keys(kind), view.words)
        if view.words and not queries and not keys:
            continue  # a word of the other language
        selections.append(
            Selection(
                kind=kind,
                layers=tuple(number - 1 for number in view.layers) or tuple(range(num_layers)),
                heads=tuple(number - 1 for number in view.heads) or tuple(range(num_heads)),
                queries=queries or None,
                keys=None if queries else keys or None,
            )
        )
    shown = {token for kind in kinds for side in (attention.queries(kind), attention.keys(kind)) for token in side}
    for word in view.words:
        if not any(word == _spelled(token) for token in shown):
            available = ", ".join(dict.fromkeys(_spelled(token) for kind in kinds for token in attention.queries(kind)))
            problems.append(f"there is no {attention.unit.removesuffix('s')} {word!r}; there are: {available}")
    if problems:
        raise DataError("; ".join(dict.fromkeys(problems)))
    return tuple(selections)


def _places(tokens: tuple[str, ...], words: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(place for place, token in enumerate(tokens) if _spelled(token) in words)


def _spelled(token: str) -> str:
    """Returns a piece as a user types it, without the mark of a space."""
    return token.replace("▁", " ").strip() or token
