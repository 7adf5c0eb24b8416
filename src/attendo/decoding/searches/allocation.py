"""Dynamic beam allocation: which continuations a beam keeps while forced sequences are missing.

After Post and Vilar (2018): a beam ranked by log-probability alone would hold only hypotheses without the forced tokens
until no room is left for them. So continuations are put into banks by how much they miss, and the banks share the beam.
"""

from collections.abc import Sequence

import numpy as np

from attendo.decoding.searches.choices import PermittedTokens
from attendo.decoding.step import FloatArray, IntArray, NextTokens


def deal(needs: Sequence[int], free: Sequence[bool], beam_size: int) -> list[int]:
    """Chooses continuations of one sentence.

    The first place goes to the most probable continuation that may have it; the other places go in turn to the banks
    (groups by number of missing tokens), fewest missing first, each contributing its most probable continuation. A beam
    with room for all continuations keeps all.

    Args:
        needs: number of missing tokens of each continuation; most probable continuation first.
        free: whether it may have the first place.
        beam_size: number of places.

    Returns:
        The places of at most `beam_size` continuations in `needs`, ascending.
    """
    kept = [place for place, may in enumerate(free) if may][:1]
    banks: dict[int, list[int]] = {}
    for place in reversed(range(len(needs))):
        if place not in kept:
            banks.setdefault(needs[place], []).append(place)
    order = sorted(banks)
    while len(kept) < min(beam_size, len(needs)):
        for need in order:
            if banks[need] and len(kept) < beam_size:
                kept.append(banks[need].pop())
    return sorted(kept)


class Allocation:
    """Adds the forced tokens to the continuations of a beam, and deals its places.

    A hypothesis for which `</s>` is most probable owes the missing tokens: from then on only a missing token gives it
    the first place. So a beam of 1 translates as without forced tokens, and appends those it did not write itself.
    """

    def __init__(self, eos_id: int) -> None:
        self._eos_id = eos_id
        self._owing: frozenset[int] = frozenset()
        self._permitted: PermittedTokens | None = None

    def with_forced(
        self, next_tokens: NextTokens, permitted: PermittedTokens | None, values: FloatArray, tokens: IntArray
    ) -> tuple[FloatArray, IntArray]:
        """Adds columns with the tokens that advance missing sequences, for rows whose best tokens lack them.

        Args:
            next_tokens: the step's next tokens.
            permitted: the tokens that the rows may choose.
            values: log-probabilities of each row's best tokens, float32 `(rows, k)`.
            tokens: their ids, int64 `(rows, k)`.

        Returns:
            Both with more columns; -inf in columns that a row does not use.
        """
        self._permitted = permitted
        if permitted is None or not permitted.forced:
            return values, tokens
        wanted = {
            row: [token for token in forced.sequences.advancing(forced.state) if token in permitted.allowed[row]]
            for row, forced in permitted.forced.items()
        }
        ids = np.full((len(values), 1 + max(map(len, wanted.values()))), self._eos_id, dtype=np.int64)
        for row, its_tokens in wanted.items():
            ids[row, 1 : 1 + len(its_tokens)] = its_tokens
        found = np.array(next_tokens.of(ids))
        owing = set(self._owing)
        for row, its_tokens in wanted.items():
            if permitted.forced[row].may_end and self._would_end(found[row, 0], values[row, 0], tokens[row, 0]):
                owing.add(row)
            present = set(tokens[row, ~np.isneginf(values[row])].tolist())
            found[row, 1 + len(its_tokens) :] = -np.inf
            found[row, 1:][[i for i, token in enumerate(its_tokens) if token in present]] = -np.inf
        found[[row for row in range(len(values)) if row not in wanted], 1:] = -np.inf
        self._owing = frozenset(owing)
        return np.concatenate((values, found[:, 1:]), axis=1), np.concatenate((tokens, ids[:, 1:]), axis=1)

    def concerns(self, rows: IntArray) -> bool:
        """Whether any of the rows misses a token."""
        return self._permitted is not None and any(row in self._permitted.forced for row in rows.tolist())

    def choose(self, rows: Sequence[int], tokens: Sequence[int], beam_size: int) -> list[int]:
        """Chooses among one sentence's continuations.

        Args:
            rows: the row that each continues, the most probable continuation first.
            tokens: the token with which it continues.
            beam_size: places.

        Returns:
            At most `beam_size` places in `rows`, ascending.
        """
        forced = self._permitted.forced if self._permitted is not None else {}
        needs, free = [], []
        for row, token in zip(rows, tokens, strict=True):
            missing = forced.get(row)
            need = missing.sequences.need(missing.sequences.after(missing.state, token)) if missing else 0
            needs.append(need)
            free.append(missing is None or row not in self._owing or need < missing.sequences.need(missing.state))
        return deal(needs, free, beam_size)

    def select(self, rows: IntArray) -> None:
        """Continues from other rows, int64 `(new rows,)`."""
        self._owing = frozenset(row for row, old in enumerate(rows.tolist()) if old in self._owing)

    def _would_end(self, eos_log_prob: float, log_prob: float, token: int) -> bool:
        """Whether `</s>` comes before the best permitted token."""
        return eos_log_prob > log_prob or (eos_log_prob == log_prob and self._eos_id < token)
