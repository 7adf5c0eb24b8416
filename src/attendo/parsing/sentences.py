"""Sentences as a parser reads them: words with single spaces between, quotation marks as text has them."""

from collections.abc import Iterable, Sequence

_QUOTES = {"``": '"', "''": '"'}


def source_words(words: Iterable[str]) -> list[str]:
    """A treebank's words, or a tokeniser's, as they are read: `` and '' become ", which is what stands in text."""
    return [_QUOTES.get(word, word) for word in words]


def source_text(words: Sequence[str], tags: Sequence[str] | None = None) -> str:
    """What the model reads, a word between single spaces; with tags, each word directly behind its tag's symbol.

    Args:
        words: from `source_words`, or as they are to be read.
        tags: a tag for each; None for words alone.
    """
    if tags is None:
        return " ".join(words)
    return " ".join(f"{tag_symbol(tag)}{word}" for tag, word in zip(tags, words, strict=True))


def tag_symbol(tag: str) -> str:
    """A tag as a piece of the source's vocabulary."""
    return f"\N{MATHEMATICAL LEFT ANGLE BRACKET}{tag}\N{MATHEMATICAL RIGHT ANGLE BRACKET}"
