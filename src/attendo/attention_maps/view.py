"""What of an attention map is looked at: which kinds, layers and heads, as maps or lines, of all words or some."""

from dataclasses import dataclass
from typing import Literal

from attendo.attention_maps.weights import KINDS, TITLES, AttentionMap, Kind
from attendo.errors import DataError

Style = Literal["maps", "lines"]


@dataclass(frozen=True, kw_only=True)
class View:
    """What a reader asks to see; the defaults are everything."""

    kinds: tuple[Kind, ...] = KINDS
    """Which attentions; those that the model does not have are left out, unless none is left."""
    layers: tuple[int, ...] = ()
    """From 1, the lowest; none of them stands for all."""
    heads: tuple[int, ...] = ()
    """From 1; none of them stands for all."""
    style: Style = "maps"
    """A heat map of each head, or lines between two columns of words as in the paper's Figures 3 to 5."""
    words: tuple[str, ...] = ()
    """Only their lines are drawn: those that leave them, or, of words that only the other side has, that reach them.
    None of them stands for all."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """One kind's share of a view, as indices from 0 into a map."""

    kind: Kind
    layers: tuple[int, ...]
    heads: tuple[int, ...]
    queries: tuple[int, ...] | None
    """Rows whose lines are drawn; None for all."""
    keys: tuple[int, ...] | None
    """Columns whose lines are drawn; None for all."""

    @property
    def has_focus(self) -> bool:
        """Whether the lines are those of some words."""
        return self.queries is not None or self.keys is not None


def select(attention: AttentionMap, view: View) -> tuple[Selection, ...]:
    """Finds in a map what a view asks for, in the paper's order of the kinds.

    Raises:
        DataError: the map has no such kind, layer, head or word; all of them are named.
    """
    kinds = [kind for kind in KINDS if kind in view.kinds and kind in attention.kinds]
    if not kinds:
        attention.weights(view.kinds[0])  # which says what there is
    found, problems = [], []
    for kind in kinds:
        num_layers, num_heads = attention.weights(kind).shape[:2]
        for name, asked, count in (("layer", view.layers, num_layers), ("head", view.heads, num_heads)):
            problems += [
                f"{TITLES[kind].lower()} has no {name} {number}; take 1 to {count}"
                for number in asked
                if not 1 <= number <= count
            ]
        queries, keys = _places(attention.queries(kind), view.words), _places(attention.keys(kind), view.words)
        if view.words and not queries and not keys:
            continue  # a word of the other language
        found.append(
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
            there = ", ".join(dict.fromkeys(_spelled(token) for kind in kinds for token in attention.queries(kind)))
            problems.append(f"there is no {attention.unit.removesuffix('s')} {word!r}; there are: {there}")
    if problems:
        raise DataError("; ".join(dict.fromkeys(problems)))
    return tuple(found)


def _places(tokens: tuple[str, ...], words: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(place for place, token in enumerate(tokens) if _spelled(token) in words)


def _spelled(token: str) -> str:
    """A piece as one types it, without the mark of a space."""
    return token.replace("▁", " ").strip() or token
