"""Constraints on the translations of single lines, as text, and the corresponding rules in ids for the search."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import (
    EVERYTHING,
    AllowedTokens,
    Constraint,
    Ids,
    Rules,
    check_rules,
    length_bounds,
)
from attendo.decoding.constraints.frames import Frame, FrameConstraint
from attendo.decoding.constraints.terminology import Terminology
from attendo.decoding.constraints.words import ForbiddenWords, Pieces, Spelling, forced_word_ids
from attendo.errors import DataError
from attendo.text.subwords.tokenization import EOS_ID, UNK_ID

_SPACE = " "


@dataclass(frozen=True, kw_only=True)
class Constraints:
    """Constraints on the translation of one text, in addition to the search settings.

    Raises:
        DataError: `forced_words` or `forbidden_words` is a single string instead of a tuple of strings.
    """

    target_prefix: str = ""
    """The exact beginning of the translation. Its last word may be continued ("Hau" to "Haus", "Haus" to "Hausboot")
    unless a space follows it. White space alone sets no constraint."""
    forced_words: tuple[str, ...] = ()
    """Words or phrases that must occur, spelled as the tokenizer spells them; the end of each may be continued."""
    forbidden_words: tuple[str, ...] = ()
    """Words or phrases that must not occur, in addition to those of the search settings."""
    terms: Terminology | None = None
    """The required translations of terms, such as a `Glossary`; for each term in the text, the translation uses one of
    its forms if possible."""
    frame: Frame | None = None
    """Fixed stretches of the translation, with gaps that the model fills; None for no frame. A frame can be combined
    with forbidden words, but with no other constraint."""

    @property
    def limits_search(self) -> bool:
        """Whether anything but terms is constrained; terms are first looked for in an unconstrained translation."""
        return bool(self.target_prefix or self.forced_words or self.forbidden_words or self.frame is not None)

    def __post_init__(self) -> None:
        """Refuses a string in place of several."""
        for name in ("forced_words", "forbidden_words"):
            words = getattr(self, name)
            if isinstance(words, str):
                raise DataError(f"{name} = {words!r} is one string; write ({words!r},)")
        if self.frame is not None and (self.target_prefix or self.forced_words):
            raise DataError("a frame says where each word stands; leave out the target prefix and forced words")


def paired(lines: Iterable[str], constraints: Iterable[Constraints] | None) -> Iterator[tuple[str, Constraints]]:
    """Pairs lines with their constraints; neither side is read further ahead than needed.

    Args:
        lines: the lines.
        constraints: one for each line; None for no constraints on any line.

    Raises:
        DataError: there are fewer or more constraints than lines.
    """
    if constraints is None:
        yield from zip(lines, repeat(Constraints()), strict=False)
        return
    remaining = iter(constraints)
    number = 0
    for number, line in enumerate(lines, start=1):
        its_constraints = next(remaining, None)
        if its_constraints is None:
            raise DataError(
                f"there are constraints for {number - 1} lines, but more to translate; give Constraints() where there "
                "are none"
            )
        yield line, its_constraints
    if next(remaining, None) is not None:
        raise DataError(f"there are {number} lines to translate, but constraints for more; give one of them a line")


class LineRules:
    """Makes the rules of a line from the settings and its constraints.

    Args:
        vocabulary: the target's pieces.
        config: the search settings: lengths, forbidden words and repeated n-grams.
        max_positions: number of tokens that the model can write, for learned positions.

    Raises:
        DataError: a forbidden word of the settings has no letter.
    """

    def __init__(self, vocabulary: Pieces, config: SearchConfig, max_positions: int | None = None) -> None:
        self._vocabulary, self._config, self._max_positions = vocabulary, config, max_positions
        self._known_spelling: Spelling | None = None
        self._known_beginnings: frozenset[int] | None = None
        # The last line's forbidden words and their constraint: many lines often forbid the same words.
        self._last_forbidden: tuple[tuple[str, ...], ForbiddenWords] | None = None
        self._forbidden: tuple[Constraint, ...] = ()
        if config.forbidden_words:
            self._forbidden = (ForbiddenWords(config.forbidden_words, self._spelling),)

    def of(self, number: int, source_tokens: int, constraints: Constraints) -> Rules:
        """Returns the rules of one line.

        Args:
            number: the line's number, from 1, among all lines translated; it seeds the line's samples.
            source_tokens: number of tokens that the line's words need, without `</s>`; see `lengths.needed_tokens`.
            constraints: the line's constraints.

        Raises:
            DataError: the constraints contradict each other or the settings, or cannot be spelled; the message has the
                line's number.
        """
        min_len, max_len = length_bounds(self._config, source_tokens, self._max_positions)
        if not constraints.limits_search:
            return Rules(min_len=min_len, max_len=max_len, constraints=self._forbidden, seed=number)
        try:
            forbidden = self._forbidden + self._forbidden_by(constraints)
            if constraints.frame is not None:
                framed = self._framed(constraints.frame, max_len, forbidden)
                return Rules(min_len=min_len, max_len=max_len, constraints=(*forbidden, framed), seed=number)
            prefix, last_word = self._prefix(constraints.target_prefix, max_len)
            forced = forced_word_ids(constraints.forced_words, self._vocabulary) if constraints.forced_words else ()
            for word, ids in zip(constraints.forced_words, forced, strict=True):
                _check_not_forbidden("forced word", word, ids, forbidden)
            _check_not_forbidden("target prefix", constraints.target_prefix, prefix, forbidden)
            rules = Rules(
                min_len=min_len,
                max_len=max_len,
                prefix=prefix,
                forced=forced,
                constraints=forbidden + last_word,
                seed=number,
            )
            check_rules(rules, eos_id=EOS_ID, vocab_size=self._vocabulary.vocab_size, config=self._config)
        except DataError as error:
            raise DataError(f"line {number}: {error}") from error
        return rules

    def _framed(self, frame: Frame, max_len: int, forbidden: Sequence[Constraint]) -> Constraint:
        """The constraint that makes a translation follow a frame.

        Raises:
            DataError: the vocabulary cannot spell a stretch, a stretch contains a forbidden word, or they are longer
                than a translation may be.
        """
        sequences = [tuple(ids[:-1]) for ids in self._vocabulary.encode_batch(list(frame.stretches))]
        for text, ids in zip(frame.stretches, sequences, strict=True):
            if UNK_ID in ids or not ids:
                raise DataError(f"the stretch {text!r} cannot be spelled with the model's vocabulary; leave it out")
            _check_not_forbidden("stretch", text, ids, forbidden)
        if (needed := sum(map(len, sequences))) > max_len:
            raise DataError(
                f"the frame needs a translation of {needed} tokens, but it has at most {max_len}; leave stretches out"
            )
        return FrameConstraint(sequences, frame.gaps, EOS_ID, self._beginnings)

    def _prefix(self, text: str, max_len: int) -> tuple[Ids, tuple[Constraint, ...]]:
        """The ids that a prefix fixes, and the constraint on the continuation of its last word."""
        if not text.strip():
            return (), ()
        # A space at the end begins the next word's piece; otherwise it would be a separate piece.
        word_ends = text.endswith(_SPACE)
        [[*ids, _]] = self._vocabulary.encode_batch([text.removesuffix(_SPACE)])
        if UNK_ID in ids:
            raise DataError(f"the target prefix {text!r} cannot be spelled with the model's vocabulary; shorten it")
        if word_ends:
            return tuple(ids), (_NewWord(len(ids), self._beginnings),)
        texts = self._spelling.texts
        begins = [place for place, token in enumerate(ids) if texts[token].startswith(_SPACE.encode())]
        first = begins[-1] if begins else 0
        last_word = b"".join(texts[token] for token in ids[first:])
        if first + len(last_word) > max_len:  # a token may be one byte, so the last token might be incomplete
            return tuple(ids), ()
        return tuple(ids[:first]), (_SpelledWord(first, last_word, self._spelling),)

    def _forbidden_by(self, constraints: Constraints) -> tuple[Constraint, ...]:
        words = constraints.forbidden_words
        if not words:
            return ()
        last = self._last_forbidden
        if last is None or last[0] != words:
            last = self._last_forbidden = words, ForbiddenWords(words, self._spelling)
        return (last[1],)

    @property
    def _spelling(self) -> Spelling:
        """The spelling of the vocabulary, read when first needed: most lines have no constraints."""
        if self._known_spelling is None:
            self._known_spelling = Spelling(self._vocabulary)
        return self._known_spelling

    @property
    def _beginnings(self) -> frozenset[int]:
        """The pieces that begin with a space."""
        if self._known_beginnings is None:
            begins = [text.startswith(_SPACE.encode()) for text in self._spelling.texts]
            begins[UNK_ID] = False
            self._known_beginnings = frozenset(token for token, it_does in enumerate(begins) if it_does)
        return self._known_beginnings


class _NewWord:
    """A constraint: a new word begins after this number of tokens."""

    def __init__(self, tokens: int, beginnings: frozenset[int]) -> None:
        self._tokens, self._allowed = tokens, AllowedTokens(beginnings)

    def following(self, ids: Sequence[int]) -> AllowedTokens:
        """Allows only pieces that begin a word at that position, and everything elsewhere."""
        return self._allowed if len(ids) == self._tokens else EVERYTHING


class _SpelledWord:
    """A constraint: a text follows after this number of tokens, in any pieces, the last of which may extend beyond it.

    The tokenizer's pieces for a partial word are seldom those of the whole word: a model forced to write them continues
    in unnatural ways.
    """

    def __init__(self, tokens: int, text: bytes, spelling: Spelling) -> None:
        self._tokens, self._text, self._spelling = tokens, text, spelling
        self._allowed: dict[bytes, AllowedTokens] = {}

    def following(self, ids: Sequence[int]) -> AllowedTokens:
        """Allows pieces that continue the text until it is written, and everything before and after."""
        if len(ids) < self._tokens:
            return EVERYTHING
        written = 0
        for token in ids[self._tokens :]:
            written += len(self._spelling.texts[token])
            if written >= len(self._text):
                return EVERYTHING
        rest = self._text[written:]
        if rest not in self._allowed:
            self._allowed[rest] = AllowedTokens(self._spelling.beginning(rest))
        return self._allowed[rest]


def _check_not_forbidden(name: str, text: str, ids: Ids, forbidden: Sequence[Constraint]) -> None:
    """Rejects ids that contain a forbidden word.

    Raises:
        DataError: they do.
    """
    if any(token not in each.following(ids[:place]) for each in forbidden for place, token in enumerate(ids)):
        raise DataError(f"the {name} {text!r} has a forbidden word in it; drop one of them")
