"""Sequences that a translation must hold: how far a hypothesis has come with them, and what it needs still."""

from collections.abc import Sequence

Ids = tuple[int, ...]
State = tuple[int, ...]
"""How many tokens of each sequence a hypothesis ends with; for one that it holds already, all."""

_NO_TOKEN = -1
"""Stands for all tokens that no sequence has."""
_EXACT_SEQUENCES = 10
"""So many sequences still to come are fitted together exactly; of more, overlaps are not counted upon."""


def holds(ids: Sequence[int], sequence: Ids) -> bool:
    """Whether ids hold a sequence, token next to token."""
    return any(tuple(ids[i : i + len(sequence)]) == sequence for i in range(len(ids) - len(sequence) + 1))


class ForcedSequences:
    """Sequences of which each has to occur at least once, in any order; two may overlap.

    Args:
        sequences: none empty. One that another holds comes with it.
    """

    def __init__(self, sequences: Sequence[Ids]) -> None:
        distinct = list(dict.fromkeys(sequences))
        self._sequences = [
            ids for ids in distinct if not any(holds(other, ids) for other in distinct if len(other) > len(ids))
        ]
        self._tables = [_automaton(ids) for ids in self._sequences]
        self._overlaps = [[_overlap(one, other) for other in self._sequences] for one in self._sequences]
        self._shortest: dict[tuple[int, frozenset[int]], int] = {}
        self._alphabet = frozenset(token for ids in self._sequences for token in ids)
        # What has been worked out already; a beam asks for the same few again and again.
        self._after: dict[tuple[State, int], State] = {}
        self._needs: dict[State, int] = {}
        self._states: dict[Ids, State] = {}
        self.start: State = (0,) * len(self._sequences)
        """The state of the empty hypothesis."""

    def after(self, state: State, token: int) -> State:
        """The state after one more token."""
        step = (state, token if token in self._alphabet else _NO_TOKEN)
        found = self._after.get(step)
        if found is None:
            found = tuple(
                matched if matched == len(table) else table[matched].get(token, 0)
                for matched, table in zip(state, self._tables, strict=True)
            )
            self._after[step] = found
        return found

    def state(self, ids: Sequence[int]) -> State:
        """The state of a hypothesis; cheap where that of all tokens but the last has been asked for."""
        known = tuple(ids)
        while known and known not in self._states:
            known = known[:-1]
        state = self._states.get(known, self.start)
        for length in range(len(known), len(ids)):
            state = self.after(state, ids[length])
        self._states[tuple(ids)] = state
        return state

    def need(self, state: State) -> int:
        """Tokens still to come if what is begun most of is gone on with and the others follow one by one."""
        if state not in self._needs:
            missing = [
                (len(ids), matched) for ids, matched in zip(self._sequences, state, strict=True) if matched < len(ids)
            ]
            most = max((matched for _, matched in missing), default=0)
            self._needs[state] = sum(length for length, _ in missing) - most
        return self._needs[state]

    def shortest(self, state: State) -> int:
        """The fewest tokens in which all that is missing can come: the shortest common superstring.

        An order of sequences of which none holds another fixes the shortest text: each overlaps the one before as far
        as it can. So the best order is looked for, by dynamic programming over the set that is left.
        """
        missing = frozenset(i for i, matched in enumerate(state) if matched < len(self._sequences[i]))
        if len(missing) > _EXACT_SEQUENCES:
            return self.need(state)
        return min(
            (len(self._sequences[i]) - state[i] + self._shortest_after(i, missing - {i}) for i in missing), default=0
        )

    def shortest_after(self, ids: Sequence[int]) -> int:
        """The fewest tokens that a hypothesis needs still."""
        return self.shortest(self.state(ids))

    def advancing(self, state: State) -> list[int]:
        """The tokens that lessen the need, ascending."""
        need = self.need(state)
        return sorted(token for token in self._tokens(state) if self.need(self.after(state, token)) < need)

    def within(self, state: State, room: int) -> frozenset[int] | None:
        """The tokens after which all that is missing still fits into `room` tokens, the token itself included.

        Returns:
            The tokens, or None for any token.
        """
        done = tuple(
            len(ids) if len(ids) == matched else 0 for ids, matched in zip(self._sequences, state, strict=True)
        )
        # After a token of no sequence all that is missing has to come in full.
        if self.need(done) < room or self.shortest(done) < room:
            return None
        return frozenset(token for token in self._tokens(state) if self.shortest(self.after(state, token)) < room)

    def _tokens(self, state: State) -> set[int]:
        """The tokens of what is missing."""
        return {
            token for ids, matched in zip(self._sequences, state, strict=True) if matched < len(ids) for token in ids
        }

    def _shortest_after(self, last: int, missing: frozenset[int]) -> int:
        """The fewest further tokens after a text that ends with a sequence."""
        if not missing:
            return 0
        if (last, missing) not in self._shortest:
            self._shortest[last, missing] = min(
                len(self._sequences[i]) - self._overlaps[last][i] + self._shortest_after(i, missing - {i})
                for i in missing
            )
        return self._shortest[last, missing]


def _automaton(ids: Ids) -> list[dict[int, int]]:
    """Knuth, Morris and Pratt's: for each number of tokens matched, how many are after a token; 0 for others."""
    table: list[dict[int, int]] = []
    border = 0
    for matched, token in enumerate(ids):
        fallback = table[border] if matched else {}
        table.append({**fallback, token: matched + 1})
        border = fallback.get(token, 0)
    return table


def _overlap(one: Ids, other: Ids) -> int:
    """How many tokens at the end of one sequence are the beginning of another, or of itself, short of all."""
    longest = min(len(one), len(other)) - (one == other)
    return next(size for size in range(longest, -1, -1) if one[len(one) - size :] == other[:size])
