"""Trees as the symbols that a parser writes, in three orders; back to trees, also where the symbols make none.

The symbol of a word is its tag, or XX; the words themselves are not written. Symbols of constituents hold a round
bracket, which no tag does. (S (NP (DT The) (NN cat)) (VP (VBZ sees)) (. .)) is

| order | written | of |
|---|---|---|
| top-down | `(S (NP DT NN )NP (VP VBZ )VP . )S` | Vinyals et al. 2015, Grammar as a Foreign Language |
| in-order | `DT (NP NN ) (S VBZ (VP ) . )` | Liu and Zhang 2017; Fernández-González and Gómez-Rodríguez 2020 |
| bottom-up | `DT NN )2:NP VBZ )1:VP . )3:S` | Fernández-González and Gómez-Rodríguez 2019: Reduce#2-NP |

In-order `(NP` makes an NP of the word or constituent before it, as the first of its parts, and `)` closes the innermost
open constituent. Bottom-up `)2:NP` makes an NP of the last two parts.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from attendo.errors import DataError
from attendo.parsing.config import Order
from attendo.parsing.conventions import ROOT
from attendo.parsing.tree import Tree

WORD = "XX"
"""The symbol of any word where tags are not written."""

FaultKind = Literal[
    "unknown symbol", "word too many", "words missing", "not closed", "not opened", "too few parts", "empty", "no root"
]
"""What can be wrong with symbols; see `repaired`."""

_LABEL = r"[^ \t\n\v\f\r()]*"
_SYMBOL = re.compile(rf"([()]?)({_LABEL})")
_REDUCTION = re.compile(rf"\)([1-9][0-9]{{0,8}}):({_LABEL})")
_MAX_SHOWN = 80


class Symbol(NamedTuple):
    """What a symbol says."""

    kind: Literal["word", "open", "close"]
    label: str
    """Of a word its tag; empty where in-order `)` closes whatever is open."""
    num_parts: int = 0
    """Of which bottom-up `)2:NP` makes its constituent."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Why symbols are no tree over the words."""

    kind: FaultKind
    place: int | None
    """Which symbol it is, from 1; None: it shows at the end."""
    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, kw_only=True)
class Repaired:
    """A tree over a sentence's words, and what had to be put right."""

    tree: Tree
    faults: tuple[Fault, ...]
    """In the order in which they show; none where the symbols are this very tree."""


def read_symbol(text: str, order: Order) -> Symbol | None:
    """Returns what a symbol says; None where it is none of this order."""
    if order == "bottom-up" and text.startswith(")"):
        reduction = _REDUCTION.fullmatch(text)
        return None if reduction is None else Symbol("close", reduction[2], int(reduction[1]))
    match = _SYMBOL.fullmatch(text)
    if match is None:
        return None
    bracket, label = match.groups()
    if not bracket:
        return Symbol("word", label) if label else None
    if bracket == "(":
        return None if order == "bottom-up" else Symbol("open", label)
    return None if order == "in-order" and label else Symbol("close", label)


def linearized(tree: Tree, order: Order, *, tags: bool = True) -> list[str]:
    """Writes a tree as symbols, of which none holds white space.

    Args:
        tree: any; one of a single word is the symbol of its tag alone.
        order: of the symbols.
        tags: whether a word's symbol is its tag; otherwise it is XX, as in Vinyals et al. 2015.
    """
    symbols: list[str] = []
    pending: list[Tree | str] = [tree]
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            symbols.append(part)
        elif part.word is not None:
            symbols.append(part.label if tags else WORD)
        else:
            pending.extend(reversed(_parts(part, order)))
    return symbols


def tree_of(symbols: Sequence[str], words: Sequence[str], order: Order) -> Tree:
    """Reads the tree that symbols are.

    Args:
        symbols: as `linearized` writes them.
        words: the sentence's, one for each symbol of a word.
        order: of the symbols.

    Raises:
        DataError: they are no tree over exactly these words; the message says which symbol is wrong, and how.
    """
    read = repaired(symbols, words, order)
    if read.faults:
        more = f" (and {len(read.faults) - 1} more)" if len(read.faults) > 1 else ""
        count = "1 word" if len(words) == 1 else f"{len(words)} words"
        raise DataError(f"no {order} tree over {count}: {read.faults[0]}{more}")
    return read.tree


def repaired(symbols: Sequence[str], words: Sequence[str], order: Order) -> Repaired:
    """Makes a tree over exactly the words of any symbols; what is a tree stays as it is.

    Where brackets do not match, Vinyals et al. 2015 (section 3.2) add brackets at the beginning or the end, and that
    is what happens here where it can; they say nothing of wrong numbers of words. In the order of the symbols:

    - unknown symbol: one that this order does not have; it is left out.
    - word too many: left out. What holds only such words goes with them.
    - not closed: what is open at the end is closed there. Top-down `)S` closes what is open within S, too.
    - not opened: a closing bracket that fits nothing open. Top-down, where nothing at all is open and what was read is
      not one constituent already, it closes one that begins at the beginning; otherwise it is left out.
    - too few parts: in-order `(NP` with nothing before it that it could take opens where it stands; bottom-up `)3:NP`
      takes those that there are, and is left out where there are none.
    - empty: a constituent without a word; it is left out.
    - no root: several parts at the end with nothing around them. Top-down, where the first is a constituent and the
      others are words, it was closed too early, and they become its last parts. Otherwise TOP comes around all, which
      the usual parameters of EVALB do not count.
    - words missing: they come last, tagged XX, within the constituent that holds the whole.

    Args:
        symbols: any text at all.
        words: the sentence's.
        order: of the symbols.

    Raises:
        DataError: there are no words, or one of them is empty or holds white space.
    """
    if not words:
        raise DataError("a tree has at least one word, but the sentence has none")
    reader = _READERS[order](words)
    for place, text in enumerate(symbols, start=1):
        symbol = read_symbol(text, order)
        if symbol is None:
            reader.complain("unknown symbol", place, text, f"{order} trees have no such symbol")
        elif symbol.kind == "word":
            reader.word(place, symbol.label)
        elif symbol.kind == "open":
            reader.open(place, symbol.label)
        else:
            reader.close(place, text, symbol)
    return reader.finished()


def _parts(node: Tree, order: Order) -> list[Tree | str]:
    """What is written of a constituent, its parts yet to be written themselves."""
    match order:
        case "top-down":
            return [f"({node.label}", *node.children, f"){node.label}"]
        case "in-order":
            return [node.children[0], f"({node.label}", *node.children[1:], ")"]
        case "bottom-up":
            return [*node.children, f"){len(node.children)}:{node.label}"]


class _Reader(ABC):
    """The parts that have been read: what is common to the orders.

    A word too many is None among the parts, so that in-order and bottom-up brackets take what they are meant to take.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._num_words = 0
        self._labels: list[str] = []  # of what is open, the innermost last
        self._levels: list[list[Tree | None]] = [[]]  # the parts outside, then those of each open constituent
        self._faults: list[Fault] = []

    def complain(self, kind: FaultKind, place: int | None, text: str, problem: str) -> None:
        """Keeps a fault."""
        where = "at the end" if place is None else f"symbol {place}, {_shown(text)}"
        self._faults.append(Fault(kind=kind, place=place, message=f"{where}: {problem}"))

    def word(self, place: int, tag: str) -> None:
        """Reads the symbol of a word."""
        if self._num_words == len(self._words):
            self.complain("word too many", place, tag, f"a word, but the sentence has only {len(self._words)}")
            self._levels[-1].append(None)
            return
        self._levels[-1].append(Tree(tag, word=self._words[self._num_words]))
        self._num_words += 1

    def open(self, place: int, label: str) -> None:
        """Reads the symbol that opens a constituent."""
        self._labels.append(label)
        self._levels.append([])

    @abstractmethod
    def close(self, place: int, text: str, symbol: Symbol) -> None:
        """Reads the symbol that closes one."""

    def finished(self) -> Repaired:
        """Closes what is open, and makes one tree of all."""
        self._close_inner(len(self._labels), None, "")
        parts = [part for part in self._levels[0] if part is not None]
        if len(parts) > 1:
            labels = _shown(" ".join(part.label for part in parts))
            self.complain("no root", None, "", f"{len(parts)} parts have nothing around them: {labels}")
            parts = [self._rooted(parts)]
        missing = [Tree(WORD, word=word) for word in self._words[self._num_words :]]
        if missing:
            self.complain("words missing", None, "", f"{len(missing)} of {len(self._words)} words are missing")
        return Repaired(tree=_with_last(parts, missing), faults=tuple(self._faults))

    def _rooted(self, parts: list[Tree]) -> Tree:
        """One tree of several."""
        return Tree(ROOT, tuple(parts))

    def _close_inner(self, num_open: int, place: int | None, text: str) -> None:
        """Closes the innermost constituents, which should have been closed before."""
        if num_open:
            labels = _shown(" ".join(self._labels[-num_open:]))
            self.complain("not closed", place, text, f"{num_open} still open: {labels}")
        for _ in range(num_open):
            self._close_innermost(place, text)

    def _close_innermost(self, place: int | None, text: str) -> None:
        label, parts = self._labels.pop(), self._levels.pop()
        self._levels[-1].append(self._made(label, parts, place, text))

    def _made(self, label: str, parts: Sequence[Tree | None], place: int | None, text: str) -> Tree | None:
        children = tuple(part for part in parts if part is not None)
        if not children:
            self.complain("empty", place, text, f"{_shown(label)} has no words")
            return None
        return Tree(label, children)


class _TopDown(_Reader):
    def close(self, place: int, text: str, symbol: Symbol) -> None:
        label = symbol.label
        if self._labels and self._labels[-1] == label:  # as in any tree; looking through all is for what is none
            self._close_innermost(place, text)
            return
        if label in self._labels:
            self._close_inner(self._labels[::-1].index(label), place, text)
            self._close_innermost(place, text)
            return
        parts = [part for part in self._levels[0] if part is not None]
        if self._labels or not parts or (len(parts) == 1 and not parts[0].is_word):
            self.complain("not opened", place, text, f"no {_shown(label)} is open")
            return
        self.complain("not opened", place, text, f"no {_shown(label)} is open; it begins at the beginning")
        self._levels[0] = [Tree(label, tuple(parts))]

    def _rooted(self, parts: list[Tree]) -> Tree:
        if parts[0].is_word or not all(part.is_word for part in parts[1:]):
            return super()._rooted(parts)
        return _with_last(parts[:1], parts[1:])


class _InOrder(_Reader):
    def __init__(self, words: Sequence[str]) -> None:
        super().__init__(words)
        self._has_opened = False  # the last symbol, so that the part before it is taken already

    def word(self, place: int, tag: str) -> None:
        super().word(place, tag)
        self._has_opened = False

    def open(self, place: int, label: str) -> None:
        parts = self._levels[-1]
        taken = [parts.pop()] if parts and not self._has_opened else []
        super().open(place, label)
        self._levels[-1].extend(taken)
        if not taken:
            self.complain("too few parts", place, f"({label}", "nothing is before it that it could take")
        self._has_opened = True

    def close(self, place: int, text: str, symbol: Symbol) -> None:
        if not self._labels:
            self.complain("not opened", place, text, "nothing is open")
            return
        self._close_innermost(place, text)
        self._has_opened = False


class _BottomUp(_Reader):
    def close(self, place: int, text: str, symbol: Symbol) -> None:
        stack = self._levels[0]
        if len(stack) < symbol.num_parts:
            self.complain("too few parts", place, text, f"it takes {symbol.num_parts}, but there are {len(stack)}")
        if not stack:
            return
        parts = stack[-symbol.num_parts :]
        del stack[-symbol.num_parts :]
        stack.append(self._made(symbol.label, parts, place, text))


_READERS: dict[Order, Callable[[Sequence[str]], _Reader]] = {
    "top-down": _TopDown,
    "in-order": _InOrder,
    "bottom-up": _BottomUp,
}


def _with_last(parts: list[Tree], words: list[Tree]) -> Tree:
    """A tree, or none yet, with further words at its end."""
    if parts and not parts[0].is_word:
        root = parts[0]
        return Tree(root.label, (*root.children, *words)) if words else root
    leaves = (*parts, *words)
    return leaves[0] if len(leaves) == 1 else Tree(ROOT, leaves)


def _shown(text: str) -> str:
    shown = text if text.isprintable() and text else repr(text)
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}..."
