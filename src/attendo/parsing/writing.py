"""Trees as text over several lines, as JSON values, and as NLTK's trees; `str(tree)` is the tree on one line."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from attendo.errors import DataError
from attendo.parsing.tree import Tree
from attendo.parsing.words import escaped

if TYPE_CHECKING:
    import nltk

_INDENT = 2


def pretty(tree: Tree, width: int = 80) -> str:
    """Writes a tree over several lines: subtrees that fit stay on one line, the children of others are indented.

    Args:
        tree: any tree.
        width: maximum number of characters in a line, unless a word needs more.

    Returns:
        The lines, without a line break after the last one.
    """
    lengths = _lengths(tree)
    lines: list[str] = []
    pending: list[tuple[Tree, int] | None] = [(tree, 0)]  # a node with its depth; None: a bracket closes
    while pending:
        entry = pending.pop()
        if entry is None:
            lines[-1] += ")"
            continue
        node, depth = entry
        margin = " " * (_INDENT * depth)
        if node.is_word or len(margin) + lengths[id(node)] <= width:
            lines.append(f"{margin}{node}")
            continue
        lines.append(f"{margin}({node.label}")
        pending.append(None)
        pending.extend((child, depth + 1) for child in reversed(node.children))
    return "\n".join(lines)


def to_json(tree: Tree) -> dict[str, Any]:
    """Converts a tree to values for JSON: words, tags and constituents as spans.

    The constituents are in the order in which their brackets open, so that of two around the same words the upper one
    comes first. The values are not nested, however deep the tree is.
    """
    return {
        "words": list(tree.words),
        "tags": list(tree.tags),
        "constituents": [{"label": label, "start": start, "end": end} for label, start, end in tree.spans],
    }


def from_json(value: Any) -> Tree:
    """Makes the tree from the result of `to_json`.

    Raises:
        DataError: the value has another form, or its spans are not a tree.
    """
    try:
        words, tags, constituents = (list(value[key]) for key in ("words", "tags", "constituents"))
        leaves = [Tree(tag, word=word) for tag, word in zip(tags, words, strict=True)]
        spans = [(part["label"], part["start"], part["end"]) for part in constituents]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            "no tree as JSON has it: it takes words, as many tags, and constituents with label, start and end"
        ) from error
    return _from_spans(leaves, spans)


def to_nltk(tree: Tree) -> "nltk.Tree":
    """Converts a tree to an `nltk.Tree` with the same words, without escaped brackets.

    Raises:
        DataError: NLTK is not installed.
    """
    try:
        from nltk.tree import Tree as NltkTree
    except ImportError as error:
        raise DataError("trees of NLTK need the package nltk; install it: pip install nltk") from error
    trees: list[Any] = []
    for node in reversed(list(tree.nodes())):
        parts: list[Any] = [node.word] if node.word is not None else trees[-1 : -len(node.children) - 1 : -1]
        if node.word is None:
            del trees[-len(node.children) :]
        trees.append(NltkTree(node.label, parts))
    return trees[0]


def from_nltk(tree: "nltk.Tree") -> Tree:
    """Converts an `nltk.Tree` to a tree.

    Raises:
        DataError: the tree has words beside constituents, or a node without children.
    """
    order: list[tuple[str, str | None, int]] = []
    pending: list[Any] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, str):
            raise DataError(
                f"a tree of NLTK's has the word {node[:80]!r} beside constituents; give it a tag of its own"
            )
        parts = list(node)
        if len(parts) == 1 and isinstance(parts[0], str):
            order.append((node.label(), parts[0], 0))
            continue
        order.append((node.label(), None, len(parts)))
        pending.extend(reversed(parts))
    return Tree.from_nodes(order)


def _lengths(tree: Tree) -> dict[int, int]:
    """Returns the number of characters of each node on one line, by its `id`."""
    lengths: dict[int, int] = {}
    for node in reversed(list(tree.nodes())):
        if node.word is not None:
            lengths[id(node)] = len(node.label) + len(escaped(node.word)) + 3
        else:
            lengths[id(node)] = len(node.label) + 2 + sum(1 + lengths[id(child)] for child in node.children)
    return lengths


def _from_spans(leaves: list[Tree], spans: Iterable[tuple[Any, Any, Any]]) -> Tree:
    """Builds a tree from words and spans, each span after those that contain it."""
    open_spans: list[tuple[str, int, list[Tree]]] = []  # label, end, children so far
    roots: list[Tree] = []
    position = 0

    def add(tree: Tree) -> None:
        (open_spans[-1][2] if open_spans else roots).append(tree)

    def advance(to: int) -> None:
        nonlocal position
        while True:
            while open_spans and open_spans[-1][1] <= position:
                label, _, children = open_spans.pop()
                add(Tree(label, tuple(children)))
            if position >= to:
                return
            add(leaves[position])
            position += 1

    for label, start, end in spans:
        fits = isinstance(label, str) and type(start) is int and type(end) is int
        if not fits or not position <= start < end <= len(leaves):
            raise DataError(f"no tree: the constituent {label!r} from {start!r} to {end!r} is out of order or range")
        advance(start)
        if open_spans and end > open_spans[-1][1]:
            raise DataError(f"no tree: the constituent {label!r} from {start} to {end} crosses another one")
        open_spans.append((label, end, []))
    advance(len(leaves))
    if len(roots) != 1:
        raise DataError(f"no tree: {len(roots)} parts and no constituent around all of them")
    return roots[0]
