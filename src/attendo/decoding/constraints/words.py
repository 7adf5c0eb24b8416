"""Words that a translation must or must not contain, in the pieces of a vocabulary."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Protocol

from attendo.decoding.constraints.constraint import EVERYTHING, AllowedTokens
from attendo.errors import DataError
from attendo.text.subwords.tokenization import UNK_ID

_SPACE_MARK = "\u2581"
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_NO_TEXT = {"</s>": b"", "<unk>": " \u2047 ".encode()}
"""The decoded text of pieces without text of their own."""
_CHARACTER_BYTES = 4
"""Length in bytes of the longest UTF-8 character."""


class Pieces(Protocol):
    """A vocabulary of pieces; `text.subwords.tokenization.Tokenizer` is one."""

    @property
    def vocab_size(self) -> int:
        """Number of ids."""

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Encodes texts, with `</s>` at the end of each."""

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """The piece of each id; U+2581 is a space, `<0xE2>` a byte."""


class Subwords(Pieces, Protocol):
    """Text to ids and back; `text.subwords.tokenization.Tokenizer` is one."""

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The pieces that stand for copied text; see `text.subwords.placeholders`."""

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids."""


def forced_word_ids(words: Sequence[str], vocabulary: Pieces) -> tuple[tuple[int, ...], ...]:
    """Words or phrases in the form of `Rules.forced`: the ids that the tokenizer itself produces for them, as words.

    Raises:
        DataError: a word has no letter, or a character that the vocabulary cannot spell.
    """
    found = []
    for word, ids in zip(words, vocabulary.encode_batch([word.strip() for word in words]), strict=True):
        if len(ids) < 2:
            raise DataError(f"the forced word {word!r} has no letter; leave it out")
        if UNK_ID in ids:
            raise DataError(f"the forced word {word!r} cannot be spelled with the model's vocabulary; leave it out")
        found.append(tuple(ids[:-1]))
    return tuple(found)


class Spelling:
    """The texts of a vocabulary's pieces, read once for all words that are looked up in it.

    Args:
        vocabulary: the target's pieces.
    """

    def __init__(self, vocabulary: Pieces) -> None:
        self.texts = tuple(bytes_of(piece) for piece in vocabulary.pieces(range(vocabulary.vocab_size)))
        """The bytes that each id writes."""
        self.tokens: dict[bytes, list[int]] = {}
        """The ids that write the same bytes."""
        for token, text in enumerate(self.texts):
            self.tokens.setdefault(text, []).append(token)
        self.mixed = tuple(text for text in self.tokens if _has_boundary(text))
        """Texts with a character that is neither a letter nor a digit."""
        self._ordered = sorted(self.tokens)

    def beginning(self, text: bytes) -> frozenset[int]:
        """Finds the ids whose text is a beginning of `text`, or begins with it."""
        found = [token for end in range(1, len(text) + 1) for token in self.tokens.get(text[:end], ())]
        for place in range(bisect_right(self._ordered, text), len(self._ordered)):
            longer = self._ordered[place]
            if not longer.startswith(text):
                break
            found += self.tokens[longer]
        return frozenset(found)


class ForbiddenWords:
    """Forbids words or phrases in a translation, in any division into pieces; a `Constraint`.

    A word occurs where exactly its letters, case-sensitive, begin a word (at the start, or after a character that is
    neither a letter nor a digit) and end a piece, or end within one before such a character. So with "Haus" also
    "Hausboot" is forbidden as "Haus" and "boot", since after "Haus" it is unknown how the word continues; as one piece,
    or as "Hausb" and "oot", it is not. "Bauhaus" is not. A phrase is one word with single spaces inside.

    It reads the bytes that pieces stand for rather than lists of ids: a word of n letters can be cut in up to 2^(n - 1)
    ways, and each of its letters may be a piece, or bytes.

    Args:
        words: the forbidden words and phrases.
        spelling: the spelling of the target's pieces.

    Raises:
        DataError: a word without a letter.
    """

    def __init__(self, words: Iterable[str], spelling: Spelling) -> None:
        self._spelling = spelling
        # By the part of a word written so far, b"" for none: the tokens that complete it.
        self._completing: dict[bytes, set[int]] = {}
        self._always: set[int] = set()
        self._longest = 0
        for word in words:
            if not word.strip():
                raise DataError(f"the forbidden word {word!r} has no letter; leave it out")
            self._add(word.strip().encode())

    def following(self, ids: Sequence[int]) -> AllowedTokens:
        """Everything but the pieces that complete a word."""
        written = b""
        for token in reversed(ids):
            written = self._spelling.texts[token] + written
            # One character more than the longest word shows the character before it.
            if len(written) >= self._longest + _CHARACTER_BYTES:
                break
        banned = set(self._always)
        for start in range(max(0, len(written) - self._longest), len(written) + 1):
            completing = self._completing.get(written[start:])
            if completing and _is_boundary(written[:start]):
                banned |= completing
        return AllowedTokens(banned=frozenset(banned)) if banned else EVERYTHING

    def _add(self, word: bytes) -> None:
        """Finds the pieces that complete a word after each beginning of it, and those that contain it."""
        self._longest = max(self._longest, len(word))
        for start in range(len(word)):
            rest = word[start:]
            tokens = list(self._spelling.tokens.get(rest, ()))
            for text in self._spelling.mixed:
                if text.startswith(rest) and _ends_before(text[len(rest) :]):
                    tokens += self._spelling.tokens[text]
            if tokens:
                self._completing.setdefault(word[:start], set()).update(tokens)
        for text in self._spelling.mixed:
            start = text.find(word, 1)
            while start > 0:
                if _is_boundary(text[:start]) and _ends_before(text[start + len(word) :]):
                    self._always.update(self._spelling.tokens[text])
                start = text.find(word, start + 1)


def bytes_of(piece: str) -> bytes:
    """The bytes that a piece decodes to."""
    if found := _BYTE.fullmatch(piece):
        return bytes((int(found[1], 16),))
    if piece in _NO_TEXT:
        return _NO_TEXT[piece]
    return piece.replace(_SPACE_MARK, " ").encode()


def _has_boundary(text: bytes) -> bool:
    return any(not character.isalnum() for character in text.decode("utf-8", errors="replace"))


def _is_boundary(before: bytes) -> bool:
    """Whether a word may begin after these bytes."""
    # If the first of these four bytes is in the middle of a character, that is not the last character. Invalid bytes
    # are written as U+FFFD, which is not a letter.
    text = before[-_CHARACTER_BYTES:].decode("utf-8", errors="replace")
    return not text or not text[-1].isalnum()


def _ends_before(after: bytes) -> bool:
    """Whether a word ends before these bytes, the rest of a piece."""
    text = after.decode("utf-8", errors="replace")
    return not text or not text[0].isalnum()
