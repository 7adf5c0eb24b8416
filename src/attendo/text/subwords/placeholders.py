"""Symbols for text that is copied rather than translated: a URL, an e-mail address, a long number.

A vocabulary learned with `tokenizer.placeholders` has them as separate pieces, training sees them on both sides of a
pair (`text.augmentation`), and decoding writes them for protected text.
"""

MAX_PLACEHOLDERS = 8
"""The most of them that a vocabulary has and a sentence can use."""


def placeholder(number: int) -> str:
    """The symbol of a number, from 1 to `MAX_PLACEHOLDERS`: `⟦1⟧`, in brackets that no usual text has.

    Raises:
        ValueError: there is no such symbol.
    """
    if not 1 <= number <= MAX_PLACEHOLDERS:
        raise ValueError(f"placeholder {number}: there are 1 to {MAX_PLACEHOLDERS}")
    return f"\u27e6{number}\u27e7"
