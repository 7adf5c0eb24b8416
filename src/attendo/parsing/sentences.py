"""Sentences to parse, and their form as a parser's input: words with single spaces, quotation marks as in text."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from attendo.errors import DataError

_SPACE = re.compile(r"[ \t\n\v\f\r]")
_NOT_IN_TAG = re.compile(r"[ \t\n\v\f\r()]")
_MAX_SHOWN = 80
_QUOTES = {"``": '"', "''": '"'}


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence as its words.

    Raises:
        DataError: a word is empty or contains white space; a tag is empty or contains white space or a bracket; or the
            numbers of words and tags differ.
    """

    words: Sequence[str]
    """Words as in treebanks: `ca` `n't`, punctuation marks by themselves, brackets as ( or -LRB-."""
    tags: Sequence[str | None] | None = None
    """The tags that the tree must have, None for a word with any tag; None for any tags of all words."""

    def __post_init__(self) -> None:
        """Rejects words and tags that no tree can have."""
        for name, values in (("words", self.words), ("tags", self.tags)):
            if isinstance(values, str):
                raise DataError(f"{name} = {shown(values)} is one string; give them one by one")
        for number, word in enumerate(self.words, start=1):
            if not word or _SPACE.search(word):
                raise DataError(f"word {number}, {shown(word)}, is empty or holds white space; divide it")
        if self.tags is None:
            return
        if len(self.tags) != len(self.words):
            raise DataError(f"{len(self.words)} words have {len(self.tags)} tags; give each its tag, or None")
        for number, tag in enumerate(self.tags, start=1):
            if tag is not None and (not tag or _NOT_IN_TAG.search(tag)):
                raise DataError(f"the tag of word {number}, {shown(tag)}, is empty, or holds white space or a bracket")

    def __len__(self) -> int:
        return len(self.words)


GivenSentence = str | Sequence[str] | Sentence
"""Plain text, split into words as treebanks have them (by NLTK, extra `parse`); words; or words with tags."""


def source_words(words: Iterable[str]) -> list[str]:
    """Returns words of a treebank or tokeniser as the model reads them: `` and '' become ", as in plain text."""
    return [_QUOTES.get(word, word) for word in words]


def source_text(words: Sequence[str], tags: Sequence[str] | None = None) -> str:
    """Returns the model's input: words with single spaces between them, each directly after its tag's symbol if any.

    Args:
        words: words as the model is to read them, such as those of `source_words`.
        tags: a tag for each word; None for words alone.
    """
    if tags is None:
        return " ".join(words)
    return " ".join(f"{tag_symbol(tag)}{word}" for tag, word in zip(tags, words, strict=True))


def tag_symbol(tag: str) -> str:
    """Returns a tag as a piece of the source vocabulary."""
    return f"\N{MATHEMATICAL LEFT ANGLE BRACKET}{tag}\N{MATHEMATICAL RIGHT ANGLE BRACKET}"


def shown(text: str) -> str:
    """Returns an excerpt of a text for a message: at most one line, without characters that a terminal obeys."""
    return ascii(text) if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]!a}..."
