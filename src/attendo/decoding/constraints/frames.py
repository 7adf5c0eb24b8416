"""Translations that follow a frame: given stretches of text in a given order, with short gaps that the model fills."""

from collections.abc import Sequence
from dataclasses import dataclass

from attendo.decoding.constraints.constraint import EVERYTHING, AllowedTokens, Ids
from attendo.errors import DataError


@dataclass(frozen=True, kw_only=True)
class Frame:
    """Fixed stretches of a translation, with gaps between them that the model fills.

    Raises:
        DataError: the number of gaps is not one more than that of stretches, or a stretch is white space.
    """

    stretches: tuple[str, ...]
    """Fixed pieces of text, in this order; each begins a word."""
    gaps: tuple[int, ...]
    """Maximum number of tokens before each stretch, and after the last one. A gap's text begins a word."""

    def __post_init__(self) -> None:
        """Rejects an invalid frame."""
        if len(self.gaps) != len(self.stretches) + 1 or min(self.gaps) < 0:
            raise DataError(
                f"a frame of {len(self.stretches)} stretches has gaps of {list(self.gaps)} tokens; give one for each "
                "stretch and one for the end, of 0 tokens or more"
            )
        if not all(text.strip() for text in self.stretches):
            raise DataError("a stretch of a frame is white space; leave it out")


class FrameConstraint:
    """A translation follows a frame.

    A gap ends at the first occurrence of the next stretch's first token.

    Args:
        stretches: the ids of each stretch.
        gaps: the maximum number of tokens of each gap, as in `Frame.gaps`.
        eos_id: the id of `</s>`.
        beginnings: the tokens that begin a word; a gap begins with one of them.
    """

    def __init__(self, stretches: Sequence[Ids], gaps: Sequence[int], eos_id: int, beginnings: frozenset[int]) -> None:
        self._stretches, self._gaps = tuple(stretches), tuple(gaps)
        self._only = {token: AllowedTokens(frozenset((token,))) for ids in stretches for token in ids}
        self._end = AllowedTokens(frozenset((eos_id,)))
        self._not_yet = AllowedTokens(banned=frozenset((eos_id,)))
        # Each stretch begins a word, so its first token is in this set.
        self._first, self._first_or_end = AllowedTokens(beginnings), AllowedTokens(beginnings | {eos_id})

    def following(self, ids: Sequence[int]) -> AllowedTokens:
        """The next token of a stretch; in a gap with room left any token, but `</s>` only in the last gap."""
        number, matched, gap = self._place(ids)
        is_last = number == len(self._stretches)
        if gap < self._gaps[number] and not matched:
            if not gap:
                return self._first_or_end if is_last else self._first
            return EVERYTHING if is_last else self._not_yet
        return self._end if is_last else self._only[self._stretches[number][matched]]

    def _place(self, ids: Sequence[int]) -> tuple[int, int, int]:
        """Returns the next stretch's number, its tokens written so far, and the tokens of the gap before it."""
        number = matched = gap = 0
        for token in ids:
            if number < len(self._stretches) and token == self._stretches[number][matched]:
                matched += 1
                if matched == len(self._stretches[number]):
                    number, matched, gap = number + 1, 0, 0
            else:
                gap += 1
        return number, matched, gap
