"""Conventions for a treebank's trees: whether to keep traces, functional tags, unary chains and the outer bracket."""

from dataclasses import dataclass, replace
from typing import Literal

from attendo.parsing.tree import Tree
from attendo.parsing.words import unescaped

TRACE = "-NONE-"
"""The tag of an element that is not in the text, such as a trace."""
ROOT = "TOP"
"""Label for an outer bracket without a label that cannot be removed."""
OUTER_LABELS = frozenset(("", "TOP", "ROOT", "S1", "VROOT"))
"""Labels of brackets that enclose whole sentences in some treebanks only."""


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """The parts of a tree to keep; the defaults are those with which English parsers are trained and scored."""

    keep_outer: bool = False
    """Keep a bracket around the whole tree, without a label or called TOP, ROOT, S1 or VROOT. If it has several parts
    or a single word, it is kept in any case, and called TOP if it had no label."""
    keep_traces: bool = False
    """Keep words tagged -NONE-; otherwise they are removed, with the constituents that contain nothing else."""
    keep_functions: bool = False
    """Keep what follows - or = in a label, as in NP-SBJ-1; tags of words are not changed in any case."""
    unary_chains: Literal["keep", "repeated", "top"] = "keep"
    """Treatment of a constituent whose only part is another constituent: "keep" keeps both; "repeated" merges two with
    the same label; "top" keeps only the upper one, whatever the labels."""
    unescape: bool = False
    """Write words as in plain text: ( for -LRB-, / for \\\\/."""


CONVENTIONS = Conventions(unescape=True, unary_chains="repeated")
"""Conventions of the trees that a parser learns: no traces, no functional tags, no outer bracket; nested constituents
over the same words with the same label are merged, since the grammar writes no others (`decoding.constraints.grammar`);
words are as in plain text."""
GOLD_CONVENTIONS = replace(CONVENTIONS, unary_chains="keep")
"""Conventions of the trees that a parser is compared with: like `CONVENTIONS`, but all unary chains are kept."""


def normalised(tree: Tree, conventions: Conventions) -> Tree | None:
    """Returns a tree changed according to the conventions.

    Returns:
        The tree; None if it contained nothing but traces.
    """

    def change(node: Tree, children: tuple[Tree, ...]) -> tuple[Tree, ...]:
        if node.word is not None:
            if node.label == TRACE and not conventions.keep_traces:
                return ()
            word = unescaped(node.word) if conventions.unescape else node.word
            return (node if word == node.word else Tree(node.label, word=word),)
        if not children:
            return ()
        label = node.label if conventions.keep_functions else without_function(node.label)
        return (Tree(label, _without_chain(label, children, conventions)),)

    if not conventions.keep_outer:
        tree = _without_outer(tree)
    changed = tree.transformed(change)
    if not changed:
        return None
    # Once more, because a trace may have been beside the sentence.
    return changed[0] if conventions.keep_outer else _without_outer(changed[0])


def without_function(label: str) -> str:
    """Cuts a label before its first - or =; one that begins with -, such as -LRB- or -NONE-, is not cut."""
    if label.startswith("-"):
        return label
    return label.split("-", 1)[0].split("=", 1)[0] or label


def _without_chain(label: str, children: tuple[Tree, ...], conventions: Conventions) -> tuple[Tree, ...]:
    if conventions.unary_chains == "keep" or len(children) > 1 or children[0].is_word:
        return children
    # The chain below has already become one constituent.
    if conventions.unary_chains == "top" or children[0].label == label:
        return children[0].children
    return children


def _without_outer(tree: Tree) -> Tree:
    while tree.label in OUTER_LABELS and len(tree.children) == 1 and not tree.children[0].is_word:
        tree = tree.children[0]
    return tree if tree.label else Tree(ROOT, tree.children)
