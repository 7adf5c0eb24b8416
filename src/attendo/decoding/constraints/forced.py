"""Sequences that a translation must contain: the part of them in a hypothesis, and the missing part.

A requirement is a group of sequences of which any one is enough, such as the forms of a word; often it is a single one.
"""

from collections.abc import Sequence

Ids = tuple[int, ...]
State = tuple[int, ...]
"""For each sequence, how many of its first tokens end the hypothesis; the full length for sequences of a satisfied
group."""

_NO_TOKEN = -1
"""Stands for all tokens that occur in no sequence."""
_EXACT_GROUPS = 10
"""Maximum number of missing groups that are fitted together exactly; of more, overlaps are not counted upon."""
_EXACT_STEPS = 1 << 17
"""Most steps of the dynamic programming that fits groups together exactly; of more, overlaps are not counted upon."""


def holds(ids: Sequence[int], sequence: Ids) -> bool:
    """Whether ids contain a sequence contiguously."""
    return any(tuple(ids[i : i + len(sequence)]) == sequence for i in range(len(ids) - len(sequence) + 1))


class ForcedSequences:
    """Groups of sequences; of each group at least one has to occur, in any order, and two may overlap.

    Args:
        sequences: groups of one; none empty. A sequence contained in another occurs with it.
        groups: groups of several; none empty.
    """

    def __init__(self, sequences: Sequence[Ids], groups: Sequence[Sequence[Ids]] = ()) -> None:
        self._groups = _reduced([*((ids,) for ids in sequences), *groups])
        self._sequences = [ids for group in self._groups for ids in group]
        self._group_of = [number for number, group in enumerate(self._groups) for _ in group]
        self._members: list[list[int]] = [[] for _ in self._groups]
        for place, number in enumerate(self._group_of):
            self._members[number].append(place)
        self._longest = [max(map(len, group)) for group in self._groups]
        self._tables = [_automaton(ids) for ids in self._sequences]
        self._overlaps = [[_overlap(one, other) for other in self._sequences] for one in self._sequences]
        self._satisfied = [
            frozenset(number for number, group in enumerate(self._groups) if any(holds(ids, other) for other in group))
            for ids in self._sequences
        ]
        self._shortest: dict[tuple[int, frozenset[int]], int] = {}
        self._alphabet = frozenset(token for ids in self._sequences for token in ids)
        # Cached results; a beam asks for the same few again and again.
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
            matched = [
                matched if matched == len(table) else table[matched].get(token, 0)
                for matched, table in zip(state, self._tables, strict=True)
            ]
            for members in self._members:
                if len(members) > 1 and any(matched[i] == len(self._sequences[i]) for i in members):
                    for i in members:
                        matched[i] = len(self._sequences[i])
            found = self._after[step] = tuple(matched)
        return found

    def state(self, ids: Sequence[int]) -> State:
        """The state of a hypothesis; cheap if the state of all tokens but the last is cached."""
        known = tuple(ids)
        while known and known not in self._states:
            known = known[:-1]
        state = self._states.get(known, self.start)
        for length in range(len(known), len(ids)):
            state = self.after(state, ids[length])
        self._states[tuple(ids)] = state
        return state

    def need(self, state: State) -> int:
        """Upper bound on the missing tokens: the sequence with the most tokens is completed, then the others follow.

        A group counts with its longest sequence, and the present part of the sequence with the most tokens is
        subtracted once; so a token that continues any of the sequences with this beginning reduces the need.
        """
        if state not in self._needs:
            missing = self._missing(state)
            most = max((state[i] for number in missing for i in self._members[number]), default=0)
            self._needs[state] = sum(self._longest[number] for number in missing) - most
        return self._needs[state]

    def shortest(self, state: State) -> int:
        """The minimum number of tokens that contain everything missing: the shortest common superstring.

        If no sequence contains another, their order determines the shortest text: each overlaps the one before as far
        as it can. So the best order, and the best sequence of each group, is found by dynamic programming over the set
        of groups that is left.
        """
        missing = self._missing(state)
        candidates = [i for number in missing for i in self._members[number]]
        if len(missing) > _EXACT_GROUPS or len(candidates) ** 2 << len(missing) > _EXACT_STEPS:
            return self.need(state)
        return min(
            (
                len(self._sequences[i]) - state[i] + self._shortest_after(i, missing - self._satisfied[i])
                for i in candidates
            ),
            default=0,
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
        # After a token of no sequence, everything missing still has to be written in full.
        if self.need(done) < room or self.shortest(done) < room:
            return None
        return frozenset(token for token in self._tokens(state) if self.shortest(self.after(state, token)) < room)

    def _missing(self, state: State) -> frozenset[int]:
        """The groups of which no sequence has occurred."""
        return frozenset(
            number
            for number, members in enumerate(self._members)
            if state[members[0]] < len(self._sequences[members[0]])
        )

    def _tokens(self, state: State) -> set[int]:
        """The tokens of the missing sequences."""
        return {
            token for ids, matched in zip(self._sequences, state, strict=True) if matched < len(ids) for token in ids
        }

    def _shortest_after(self, last: int, missing: frozenset[int]) -> int:
        """The fewest further tokens after a text that ends with a sequence."""
        if not missing:
            return 0
        if (last, missing) not in self._shortest:
            self._shortest[last, missing] = min(
                len(self._sequences[i])
                - self._overlaps[last][i]
                + self._shortest_after(i, missing - self._satisfied[i])
                for number in missing
                for i in self._members[number]
            )
        return self._shortest[last, missing]


def _reduced(groups: Sequence[Sequence[Ids]]) -> list[tuple[Ids, ...]]:
    """Drops sequences that contain another of their group, and groups that other groups imply."""
    smallest = [
        tuple(ids for ids in distinct if not any(other != ids and holds(ids, other) for other in distinct))
        for distinct in (tuple(dict.fromkeys(group)) for group in groups)
    ]
    distinct = {frozenset(group): group for group in reversed(smallest)}
    kept = [group for group in dict.fromkeys(smallest) if distinct.get(frozenset(group)) == group]
    return [group for group in kept if not any(_implies(other, group) for other in kept if other != group)]


def _implies(group: Sequence[Ids], other: Sequence[Ids]) -> bool:
    """Whether each sequence of a group contains one of another group."""
    return all(any(holds(ids, inner) for inner in other) for ids in group)


def _automaton(ids: Ids) -> list[dict[int, int]]:
    """The Knuth-Morris-Pratt automaton: for each number of tokens matched, how many are after a token; 0 for others."""
    table: list[dict[int, int]] = []
    border = 0
    for matched, token in enumerate(ids):
        fallback = table[border] if matched else {}
        table.append({**fallback, token: matched + 1})
        border = fallback.get(token, 0)
    return table


def _overlap(one: Ids, other: Ids) -> int:
    """Counts the tokens at the end of one sequence that begin another, or itself, without being all of it."""
    longest = min(len(one), len(other)) - (one == other)
    return next(size for size in range(longest, -1, -1) if one[len(one) - size :] == other[:size])
