"""Which tags a word can have, as far as its writing says: a comma is no noun, and a word with letters no comma.

EVALB leaves words out by their tags, and compares nothing of a sentence where the parser tags a comma as something else
than a comma. So words without letters and digits get a tag that they had in training, and others none of those that
only such words had.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from attendo.parsing.sentences import source_words
from attendo.parsing.tree import Tree

OTHERS = ""
"""The key of all words with a letter or a digit."""
_LEAST = 2
"""Words with a tag, below which it is taken for a slip of the treebank's, unless there is no other."""


def word_tags(trees: Iterable[Tree]) -> dict[str, list[str]]:
    """Learns the tags of words.

    Returns:
        For each word without letters and digits its tags, sorted, and under `OTHERS` those of all other words; words
        are as `source_words` has them.
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
    """The tags that a word can have; None where its writing does not say.

    Args:
        word: as `source_words` has it.
        known: from `word_tags`.
    """
    tags = known.get(OTHERS if _has_letters(word) else word)
    return frozenset(tags) if tags else None


def _has_letters(word: str) -> bool:
    return any(character.isalnum() for character in word)
