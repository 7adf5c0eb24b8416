"""What is kept of a treebank's tree: traces, functional tags, unary chains, the outer bracket."""

from dataclasses import dataclass, replace
from typing import Literal

from attendo.parsing.tree import Tree
from attendo.parsing.words import unescaped

TRACE = "-NONE-"
"""The tag of what is not there in the text."""
ROOT = "TOP"
"""What an outer bracket is called that has no label and cannot be left out."""
OUTER_LABELS = frozenset(("", "TOP", "ROOT", "S1", "VROOT"))
"""Labels of brackets that stand around whole sentences in one treebank and not in another."""


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """What is kept; the defaults are those by which English parsers are trained and scored."""

    keep_outer: bool = False
    """Keep a bracket around the whole, unlabelled or called TOP, ROOT, S1 or VROOT. Where it has several parts, or one
    word, it stays in any case and is TOP if it had no name."""
    keep_traces: bool = False
    """Keep words tagged -NONE-; otherwise they go, and the constituents that hold nothing else."""
    keep_functions: bool = False
    """Keep what comes behind - or = in a label, as in NP-SBJ-1; tags of words stay as they are in any case."""
    unary_chains: Literal["keep", "repeated", "top"] = "keep"
    """A constituent whose only part is another one: keep both; "repeated" makes one of two with the same label; "top"
    leaves only the upper one, whatever the labels."""
    unescape: bool = False
    """Words as text has them: ( for -LRB-, / for \\\\/."""


CONVENTIONS = Conventions(unescape=True, unary_chains="repeated")
"""What a parser learns of a tree: no traces, no functional tags, no outer bracket; of several constituents of the same
label around each other one, since the grammar writes no others (`decoding.constraints.grammar`); words as text has
them."""
GOLD_CONVENTIONS = replace(CONVENTIONS, unary_chains="keep")
"""What is kept of a tree that a parser's is compared with: also several of the same label, as the treebank has them."""


def normalised(tree: Tree, conventions: Conventions) -> Tree | None:
    """Returns a tree as the conventions want it.

    Returns:
        The tree; None where nothing but traces was in it.
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
    # Again, for a trace may have stood beside the sentence.
    return changed[0] if conventions.keep_outer else _without_outer(changed[0])


def without_function(label: str) -> str:
    """Cuts a label before its first - or =; one that begins with -, as -LRB- or -NONE-, stays whole."""
    if label.startswith("-"):
        return label
    return label.split("-", 1)[0].split("=", 1)[0] or label


def _without_chain(label: str, children: tuple[Tree, ...], conventions: Conventions) -> tuple[Tree, ...]:
    if conventions.unary_chains == "keep" or len(children) > 1 or children[0].is_word:
        return children
    # The chain below is one constituent already.
    if conventions.unary_chains == "top" or children[0].label == label:
        return children[0].children
    return children


def _without_outer(tree: Tree) -> Tree:
    while tree.label in OUTER_LABELS and len(tree.children) == 1 and not tree.children[0].is_word:
        tree = tree.children[0]
    return tree if tree.label else Tree(ROOT, tree.children)
