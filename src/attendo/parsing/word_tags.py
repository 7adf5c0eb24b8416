"""The tags that a word can have, judged by its characters: a comma is no noun, and a word with letters no comma.

EVALB skips words by their tags, and does not compare a sentence at all if the parser tags a comma as anything but a
comma. So words without letters and digits get a tag that they had in training, and other words none of the tags that
only such words had.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from attendo.parsing.sentences import source_words
from attendo.parsing.tree import Tree

OTHERS = ""
"""The key of all words with a letter or a digit."""
_LEAST = 2
"""Occurrences below which a word's tag is taken for an error in the treebank, unless the word has no other tag."""


def word_tags(trees: Iterable[Tree]) -> dict[str, list[str]]:
    """Learns the tags of words.

    Returns:
        The sorted tags of each word without letters and digits, and under `OTHERS` those of all other words; words
        are as `source_words` returns them.
    """
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for tree in trees:
        for word, tag in zip(source_words(tree.words), tree.tags, strict=True):
            counts[OTHERS if _has_letters(word) else word][tag] += 1
    return {
        word: sorted(tag for tag, count in tags.items() if word == OTHERS or count >= min(_LEAST, max(tags.values())))
        for word, tags in sorted(counts.items())
    }


def possible_tags(word: str, known: Mapping[str, Iterable[str]]) -> frozenset[str] | None:
    """Returns the tags that a word can have; None if its characters do not restrict them.

    Args:
        word: a word as `source_words` returns it.
        known: the result of `word_tags`.
    """
    tags = known.get(OTHERS if _has_letters(word) else word)
    return frozenset(tags) if tags else None


def _has_letters(word: str) -> bool:
    return any(character.isalnum() for character in word)
