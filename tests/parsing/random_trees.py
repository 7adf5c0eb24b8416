"""Trees that hypothesis makes up."""

from hypothesis import settings
from hypothesis import strategies as st

from attendo.parsing.tree import Tree

few = settings(max_examples=40, deadline=None)
"""What is enough for trees of which each has everything."""
SPACE = " \t\n\v\f\r"

labels = st.sampled_from(["S", "NP", "NP-SBJ-1", "VP", "ADVP|PRT", "X=2", "PRN", "NP"])
tags = st.sampled_from(["NN", "VBZ", ",", ".", "-LRB-", "-NONE-", "PRP$", "``"])
any_words = st.text(st.characters(exclude_characters=SPACE, exclude_categories=["Cs"]), min_size=1, max_size=8)
"""Also with brackets, control characters, no-break spaces and emoji."""
plain_words = any_words.map(lambda word: word.replace("(", "[").replace(")", "]"))


def trees(words: st.SearchStrategy[str]) -> st.SearchStrategy[Tree]:
    """Trees of some 30 words at most, unary chains included."""
    leaves = st.builds(lambda tag, word: Tree(tag, word=word), tags, words)
    return st.recursive(
        leaves,
        lambda below: st.builds(Tree, labels, st.lists(below, min_size=1, max_size=4).map(tuple)),
        max_leaves=25,
    )
