"""A constituency tree: labels over words, immutable."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from attendo.errors import DataError
from attendo.parsing.words import escaped

_NOT_IN_LABEL = re.compile(r"[ \t\n\v\f\r()]")
_NOT_IN_WORD = re.compile(r"[ \t\n\v\f\r]")


class Span(NamedTuple):
    """A constituent as its label and the words it holds."""

    label: str
    """Category, such as NP."""
    start: int
    """Position of its first word, from 0."""
    end: int
    """Position after its last word."""


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Tree:
    """A constituent with its children, or a word with its tag.

    A tree can have any depth, because no method is recursive. Trees are equal if all their labels and words are equal,
    and can be keys of a dictionary.

    Raises:
        DataError: the node has both children and a word, or neither; the label contains white space or a bracket, or
            is empty for a word; the word is empty or contains white space (other than no-break spaces).
    """

    label: str
    """Category, such as NP or NP-SBJ; for a word, its tag."""
    children: tuple["Tree", ...] = ()
    """Children from left to right; none for a word."""
    word: str | None = None
    """The word as in plain text, with unescaped brackets; None for a constituent."""

    def __post_init__(self) -> None:
        if _NOT_IN_LABEL.search(self.label):
            raise DataError(f"a label may hold no white space and no bracket, as {self.label[:80]!r} does")
        if (self.word is None) == (not self.children):
            has = "both children and a word" if self.children else "neither children nor a word"
            raise DataError(f"a node of a tree has children or a word; {self.label[:80]!r} has {has}")
        if self.word is not None and (not self.word or _NOT_IN_WORD.search(self.word)):
            raise DataError(f"a word of a tree may not be empty or hold white space, as {self.word[:80]!r} does")
        if self.word is not None and not self.label:
            raise DataError(
                f"a word of a tree has a tag, but {self.word[:80]!r} has none; XX stands for an unknown one"
            )

    @classmethod
    def from_nodes(cls, nodes: Sequence[tuple[str, str | None, int]]) -> "Tree":
        """Makes a tree from a list of its nodes, in which each node precedes its children.

        Args:
            nodes: the label, the word or None, and the number of children of each node.

        Raises:
            DataError: as for the constructor.
        """
        trees: list[Tree] = []
        for label, word, num_children in reversed(nodes):
            children = tuple(reversed(trees[len(trees) - num_children :]))
            del trees[len(trees) - num_children :]
            trees.append(cls(label, children, word))
        return trees[0]

    @property
    def is_word(self) -> bool:
        """Whether this is a word with its tag."""
        return self.word is not None

    def nodes(self) -> Iterator["Tree"]:
        """Yields this node and all nodes below it, each before its children, from left to right."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))

    def leaves(self) -> Iterator["Tree"]:
        """Yields the words with their tags, from left to right."""
        return (node for node in self.nodes() if node.word is not None)

    def constituents(self) -> Iterator["Tree"]:
        """Yields all constituents, each before its children."""
        return (node for node in self.nodes() if node.word is None)

    @property
    def words(self) -> tuple[str, ...]:
        """The words, from left to right."""
        return tuple(node.word for node in self.nodes() if node.word is not None)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the words."""
        return tuple(node.label for node in self.nodes() if node.word is not None)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The constituents, each before those within it, without the words."""
        spans: list[Span] = []
        pending: list[Tree | int] = [self]  # a number: the constituent with this index in `spans` ends here
        position = 0
        while pending:
            node = pending.pop()
            if isinstance(node, int):
                spans[node] = spans[node]._replace(end=position)
            elif node.word is not None:
                position += 1
            else:
                pending.append(len(spans))
                spans.append(Span(node.label, position, position))
                pending.extend(reversed(node.children))
        return tuple(spans)

    @property
    def depth(self) -> int:
        """Largest number of constituents above a word, this one included; 0 for a single word."""
        deepest = 0
        pending = [(self, 0)]
        while pending:
            node, depth = pending.pop()
            deepest = max(deepest, depth)
            pending.extend((child, depth + 1) for child in node.children)
        return deepest

    def transformed(self, change: Callable[["Tree", tuple["Tree", ...]], "tuple[Tree, ...]"]) -> "tuple[Tree, ...]":
        """Transforms the tree from the words upwards.

        Args:
            change: called with each node and its transformed children; returns the trees that replace the node: one,
                several or none.

        Returns:
            The trees that replace this tree.
        """
        # A node is visited twice: on the way down, and once its children are done.
        results: list[list[Tree]] = [[]]
        pending: list[tuple[Tree, bool]] = [(self, False)]
        while pending:
            node, is_done = pending.pop()
            if is_done:
                children = tuple(results.pop())
                results[-1].extend(change(node, children))
                continue
            pending.append((node, True))
            results.append([])
            pending.extend((child, False) for child in reversed(node.children))
        return tuple(results[0])

    def __str__(self) -> str:
        """Returns the tree on one line as in treebanks, with escaped brackets: `(S (NP (PRP I)) (VP (VBP see)))`."""
        parts: list[str] = []
        pending: list[Tree | None] = [self]  # None: a bracket closes
        while pending:
            node = pending.pop()
            if node is None:
                parts.append(")")
                continue
            if parts:
                parts.append(" ")
            if node.word is not None:
                parts.append(f"({node.label} {escaped(node.word)})")
                continue
            parts.append(f"({node.label}")
            pending.append(None)
            pending.extend(reversed(node.children))
        return "".join(parts)

    def __repr__(self) -> str:
        text = str(self)
        return f"<Tree {text if len(text) <= 200 else text[:197] + '...'}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        pending = [(self, other)]
        while pending:
            ours, theirs = pending.pop()
            if ours is theirs:
                continue
            if (ours.label, ours.word, len(ours.children)) != (theirs.label, theirs.word, len(theirs.children)):
                return False
            pending.extend(zip(ours.children, theirs.children, strict=True))
        return True

    def __hash__(self) -> int:
        return hash(tuple((node.label, node.word, len(node.children)) for node in self.nodes()))

    def __reduce__(self) -> tuple[Callable[..., "Tree"], tuple[tuple[tuple[str, str | None, int], ...]]]:
        """Pickles and copies the tree as a flat list of its nodes, so that depth does not matter."""
        return Tree.from_nodes, (tuple((node.label, node.word, len(node.children)) for node in self.nodes()),)
