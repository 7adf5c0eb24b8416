"""Trees as the symbols that a parser writes, in three orders, and back to trees, even from malformed symbols.

The symbol of a word is its tag, or XX; the words themselves are not written. Symbols of constituents contain a round
bracket, which no tag does. (S (NP (DT The) (NN cat)) (VP (VBZ sees)) (. .)) is

| order | symbols | source |
|---|---|---|
| top-down | `(S (NP DT NN )NP (VP VBZ )VP . )S` | Vinyals et al. 2015, Grammar as a Foreign Language |
| in-order | `DT (NP NN ) (S VBZ (VP ) . )` | Liu and Zhang 2017; Fernández-González and Gómez-Rodríguez 2020 |
| bottom-up | `DT NN )2:NP VBZ )1:VP . )3:S` | Fernández-González and Gómez-Rodríguez 2019: Reduce#2-NP |

In-order `(NP` opens an NP with the word or constituent before it as its first part, and `)` closes the innermost open
constituent. Bottom-up `)2:NP` makes an NP of the last two parts.
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
"""The symbol of any word if tags are not written."""

FaultKind = Literal[
    "unknown symbol", "word too many", "words missing", "not closed", "not opened", "too few parts", "empty", "no root"
]
"""Kinds of errors in symbols; see `repaired`."""

_LABEL = r"[^ \t\n\v\f\r()]*"
_SYMBOL = re.compile(rf"([()]?)({_LABEL})")
_REDUCTION = re.compile(rf"\)([1-9][0-9]{{0,8}}):({_LABEL})")
_MAX_SHOWN = 80


class Symbol(NamedTuple):
    """The meaning of a symbol."""

    kind: Literal["word", "open", "close"]
    label: str
    """Label of the constituent, or tag of the word; empty for in-order `)`, which closes any constituent."""
    num_parts: int = 0
    """Number of parts that a bottom-up symbol such as `)2:NP` joins."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """An error because of which symbols are no tree over the words."""

    kind: FaultKind
    place: int | None
    """Number of the symbol, from 1; None if the error shows at the end."""
    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, kw_only=True)
class RepairedTree:
    """A tree over a sentence's words, and the errors that were repaired."""

    tree: Tree
    faults: tuple[Fault, ...]
    """The errors in the order in which they show; empty if the symbols are exactly this tree."""


def read_symbol(text: str, order: Order) -> Symbol | None:
    """Returns the meaning of a symbol; None if it is not a symbol of this order."""
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
    """Writes a tree as symbols, none of which contains white space.

    Args:
        tree: any tree; one of a single word becomes the symbol of its tag alone.
        order: order of the symbols.
        tags: whether the symbol of a word is its tag; otherwise it is XX, as in Vinyals et al. 2015.
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
    """Reads a tree from symbols.

    Args:
        symbols: symbols as `linearized` writes them.
        words: words of the sentence, one for each symbol of a word.
        order: order of the symbols.

    Raises:
        DataError: the symbols are no tree over exactly these words; the message says which symbol is wrong, and why.
    """
    read = repaired(symbols, words, order)
    if read.faults:
        more = f" (and {len(read.faults) - 1} more)" if len(read.faults) > 1 else ""
        count = "1 word" if len(words) == 1 else f"{len(words)} words"
        raise DataError(f"no {order} tree over {count}: {read.faults[0]}{more}")
    return read.tree


def repaired(symbols: Sequence[str], words: Sequence[str], order: Order) -> RepairedTree:
    """Makes a tree over exactly the given words from any symbols; symbols that are a tree are not changed.

    If brackets do not match, Vinyals et al. 2015 (section 3.2) add brackets at the beginning or the end, and so does
    this function where possible; they do not mention wrong numbers of words. The errors and their repairs, in the order
    of the symbols:

    - unknown symbol: one that this order does not have; it is skipped.
    - word too many: it is skipped, and so is a constituent that contains only such words.
    - not closed: a constituent that is open at the end is closed there. Top-down `)S` also closes those open within S.
    - not opened: a closing bracket fits no open constituent. Top-down, if nothing is open and there are parts that are
      not a single constituent already, it closes one that begins at the first part; otherwise it is skipped.
    - too few parts: in-order `(NP` without a part before it opens an empty constituent; bottom-up `)3:NP` takes the
      parts that there are, and is skipped if there are none.
    - empty: a constituent without a word; it is skipped.
    - no root: there are several parts at the end. Top-down, if the first is a constituent and the others are words, it
      was closed too early, and they become its last parts. Otherwise all are enclosed in TOP, which the usual
      parameters of EVALB do not count.
    - words missing: they are added at the end of the outermost constituent, tagged XX.

    Args:
        symbols: any strings.
        words: words of the sentence.
        order: order of the symbols.

    Raises:
        DataError: there are no words, or one of them is empty or contains white space.
    """
    if not words:
        raise DataError("a tree has at least one word, but the sentence has none")
    reader = _READERS[order](words)
    for number, text in enumerate(symbols, start=1):
        symbol = read_symbol(text, order)
        if symbol is None:
            reader.complain("unknown symbol", number, text, f"{order} trees have no such symbol")
        elif symbol.kind == "word":
            reader.word(number, symbol.label)
        elif symbol.kind == "open":
            reader.open(number, symbol.label)
        else:
            reader.close(number, text, symbol)
    return reader.finished()


def _parts(node: Tree, order: Order) -> list[Tree | str]:
    """Returns the symbols of a constituent, with its parts still as trees."""
    match order:
        case "top-down":
            return [f"({node.label}", *node.children, f"){node.label}"]
        case "in-order":
            return [node.children[0], f"({node.label}", *node.children[1:], ")"]
        case "bottom-up":
            return [*node.children, f"){len(node.children)}:{node.label}"]


class _Reader(ABC):
    """The state of reading symbols; the base class of the three orders.

    A surplus word is None among the parts, so that in-order and bottom-up brackets still take the parts they refer to.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._num_words = 0
        self._labels: list[str] = []  # of the open constituents, the innermost last
        self._levels: list[list[Tree | None]] = [[]]  # the parts outside all constituents, then those of each open one
        self._faults: list[Fault] = []

    def complain(self, kind: FaultKind, place: int | None, text: str, problem: str) -> None:
        """Records a fault."""
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
        """Reads the symbol that closes a constituent."""

    def finished(self) -> RepairedTree:
        """Closes all open constituents and joins all parts into one tree."""
        self._close_inner(len(self._labels), None, "")
        parts = [part for part in self._levels[0] if part is not None]
        if len(parts) > 1:
            labels = _shown(" ".join(part.label for part in parts))
            self.complain("no root", None, "", f"{len(parts)} parts have nothing around them: {labels}")
            parts = [self._rooted(parts)]
        missing = [Tree(WORD, word=word) for word in self._words[self._num_words :]]
        if missing:
            self.complain("words missing", None, "", f"{len(missing)} of {len(self._words)} words are missing")
        return RepairedTree(tree=_with_last(parts, missing), faults=tuple(self._faults))

    def _rooted(self, parts: list[Tree]) -> Tree:
        """Joins several trees into one."""
        return Tree(ROOT, tuple(parts))

    def _close_inner(self, num_open: int, place: int | None, text: str) -> None:
        """Closes the innermost `num_open` constituents, which should have been closed before."""
        if num_open:
            labels = _shown(" ".join(self._labels[-num_open:]))
            self.complain("not closed", place, text, f"{num_open} still open: {labels}")
        for _ in range(num_open):
            self._close_innermost(place, text)

    def _close_innermost(self, place: int | None, text: str) -> None:
        label, parts = self._labels.pop(), self._levels.pop()
        self._levels[-1].append(self._constituent(label, parts, place, text))

    def _constituent(self, label: str, parts: Sequence[Tree | None], place: int | None, text: str) -> Tree | None:
        children = tuple(part for part in parts if part is not None)
        if not children:
            self.complain("empty", place, text, f"{_shown(label)} has no words")
            return None
        return Tree(label, children)


class _TopDown(_Reader):
    def close(self, place: int, text: str, symbol: Symbol) -> None:
        label = symbol.label
        if self._labels and self._labels[-1] == label:  # always so in a well-formed tree
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
        self._has_opened = False  # whether the last symbol opened a constituent, so that the part before it is taken

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
        stack.append(self._constituent(symbol.label, parts, place, text))


_READERS: dict[Order, Callable[[Sequence[str]], _Reader]] = {
    "top-down": _TopDown,
    "in-order": _InOrder,
    "bottom-up": _BottomUp,
}


def _with_last(parts: list[Tree], words: list[Tree]) -> Tree:
    """Returns the tree in `parts`, or a new one if there is none, with further words at its end."""
    if parts and not parts[0].is_word:
        root = parts[0]
        return Tree(root.label, (*root.children, *words)) if words else root
    leaves = (*parts, *words)
    return leaves[0] if len(leaves) == 1 else Tree(ROOT, leaves)


def _shown(text: str) -> str:
    shown = text if text.isprintable() and text else repr(text)
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}..."
