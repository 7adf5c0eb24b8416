"""What is wanted of single lines' translations, as text, and the rules in ids that the search keeps for them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints import EVERYTHING, Allowed, Constraint, Ids, Rules, check_rules, length_bounds
from attendo.decoding.words import ForbiddenWords, Pieces, Spelling, forced_word_ids
from attendo.errors import DataError
from attendo.text.tokenization import EOS_ID, UNK_ID

_SPACE = " "


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What is wanted of one line's translation, besides what the search settings say of all.

    Raises:
        DataError: words that are one string, of which every letter would be a word.
    """

    target_prefix: str = ""
    """What it begins with: whole words. The last one may go on ("Haus" as "Hausboot"), unless a space stands behind it.
    White space alone is no wish."""
    forced_words: tuple[str, ...] = ()
    """Words or phrases that it holds, as the tokenizer spells them; the last piece of one may go on too."""
    forbidden_words: tuple[str, ...] = ()
    """Words or phrases that it does not hold, besides those of the settings."""

    def __post_init__(self) -> None:
        """Refuses a string in place of several."""
        for name in ("forced_words", "forbidden_words"):
            words = getattr(self, name)
            if isinstance(words, str):
                raise DataError(f"{name} = {words!r} is one string; write ({words!r},)")


def paired(lines: Iterable[str], wishes: Iterable[Wishes] | None) -> Iterator[tuple[str, Wishes]]:
    """Lines with what is wanted of each, no more of either read than asked for.

    Args:
        lines: the lines.
        wishes: one a line; None for none of any line.

    Raises:
        DataError: there are fewer or more wishes than lines.
    """
    if wishes is None:
        yield from zip(lines, repeat(Wishes()), strict=False)
        return
    remaining = iter(wishes)
    number = 0
    for number, line in enumerate(lines, start=1):
        its_wishes = next(remaining, None)
        if its_wishes is None:
            raise DataError(
                f"there are wishes for {number - 1} lines, but more to translate; give Wishes() where there are none"
            )
        yield line, its_wishes
    if next(remaining, None) is not None:
        raise DataError(f"there are {number} lines to translate, but wishes for more; give one of them a line")


class LineRules:
    """Makes a line's rules of the settings and its wishes.

    Args:
        vocabulary: the target's pieces.
        config: lengths, forbidden words and what no n-gram may do.
        max_positions: tokens that the model can write, for learned positions.

    Raises:
        DataError: a forbidden word of the settings has no letter.
    """

    def __init__(self, vocabulary: Pieces, config: SearchConfig, max_positions: int | None = None) -> None:
        self._vocabulary, self._config, self._max_positions = vocabulary, config, max_positions
        self._known_spelling: Spelling | None = None
        self._known_beginnings: frozenset[int] | None = None
        # Of the last line's words: the same are often forbidden in many lines.
        self._last_forbidden: tuple[tuple[str, ...], ForbiddenWords] | None = None
        self._forbidden: tuple[Constraint, ...] = ()
        if config.forbidden_words:
            self._forbidden = (ForbiddenWords(config.forbidden_words, self._spelling),)

    def of(self, number: int, source_tokens: int, wishes: Wishes) -> Rules:
        """One line's rules.

        Args:
            number: the line's, from 1, among all that are translated; its samples hang on it.
            source_tokens: of the line, without `</s>`.
            wishes: of the line.

        Raises:
            DataError: the wishes contradict each other or the settings, or cannot be spelled; with the number.
        """
        min_len, max_len = length_bounds(self._config, source_tokens, self._max_positions)
        if wishes == Wishes():
            return Rules(min_len=min_len, max_len=max_len, constraints=self._forbidden, seed=number)
        try:
            forbidden = self._forbidden + self._forbidden_by(wishes)
            prefix, boundary = self._prefix(wishes.target_prefix)
            forced = forced_word_ids(wishes.forced_words, self._vocabulary) if wishes.forced_words else ()
            named = [("prefix", wishes.target_prefix, prefix)]
            named += [("word", *each) for each in zip(wishes.forced_words, forced, strict=True)]
            for name, text, ids in named:
                if _holds_forbidden(ids, forbidden):
                    raise DataError(f"the forced {name} {text!r} has a forbidden word in it; give up one of them")
            rules = Rules(
                min_len=min_len,
                max_len=max_len,
                prefix=prefix,
                forced=forced,
                constraints=forbidden + boundary,
                seed=number,
            )
            check_rules(rules, eos_id=EOS_ID, vocab_size=self._vocabulary.vocab_size, config=self._config)
        except DataError as error:
            raise DataError(f"line {number}: {error}") from error
        return rules

    def _prefix(self, text: str) -> tuple[Ids, tuple[Constraint, ...]]:
        """A prefix' ids, and what keeps its last word from going on where a space stands behind it."""
        if not text.strip():
            return (), ()
        # The space is the beginning of the next word's piece, and would be a piece of its own otherwise.
        word_ends = text.endswith(_SPACE)
        [ids] = self._vocabulary.encode_batch([text.removesuffix(_SPACE)])
        if UNK_ID in ids:
            raise DataError(f"the target prefix {text!r} cannot be spelled with the model's vocabulary; shorten it")
        prefix = tuple(ids[:-1])
        return prefix, (_NewWord(len(prefix), self._beginnings),) if word_ends else ()

    def _forbidden_by(self, wishes: Wishes) -> tuple[Constraint, ...]:
        words = wishes.forbidden_words
        if not words:
            return ()
        if self._last_forbidden is None or self._last_forbidden[0] != words:
            self._last_forbidden = words, ForbiddenWords(words, self._spelling)
        return (self._last_forbidden[1],)

    @property
    def _spelling(self) -> Spelling:
        """Of the vocabulary, read when it is first needed: most lines wish for nothing."""
        if self._known_spelling is None:
            self._known_spelling = Spelling(self._vocabulary)
        return self._known_spelling

    @property
    def _beginnings(self) -> frozenset[int]:
        """The pieces that begin with a space."""
        if self._known_beginnings is None:
            texts = enumerate(self._spelling.texts)
            self._known_beginnings = frozenset(token for token, text in texts if text.startswith(_SPACE.encode()))
        return self._known_beginnings


class _NewWord:
    """A new word begins behind so many tokens."""

    def __init__(self, tokens: int, beginnings: frozenset[int]) -> None:
        self._tokens, self._allowed = tokens, Allowed(beginnings)

    def following(self, ids: Sequence[int]) -> Allowed:
        """There only pieces that begin a word; elsewhere everything."""
        return self._allowed if len(ids) == self._tokens else EVERYTHING


def _holds_forbidden(ids: Ids, forbidden: Sequence[Constraint]) -> bool:
    return any(token not in each.following(ids[:place]) for each in forbidden for place, token in enumerate(ids))
