"""A line's parts as tasks of a search, and the budget that all searches of a part share."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from attendo.decoding.config import GuardName
from attendo.decoding.constraints.constraint import Constraint, Rules
from attendo.decoding.constraints.line_constraints import Constraints
from attendo.decoding.constraints.terminology import TermUse
from attendo.decoding.guards.parts import Part
from attendo.decoding.guards.words import has_few_words
from attendo.decoding.lines.translation import Candidate
from attendo.decoding.watch import BetweenSteps, Pauses, nobody
from attendo.errors import DataError

_ROOM = 10
"""Tokens that a very short part may have besides."""
_RECURRING = 16
"""Maximum number of characters of a part that is likely to recur, as table cells and single letters do."""


@dataclass(frozen=True, kw_only=True)
class NumberedLine:
    """A line to translate."""

    number: int
    """The number of the line among all, from 1, which determines its samples."""
    text: str
    """The line."""
    constraints: Constraints
    """The constraints on its translation."""
    between_steps: BetweenSteps = nobody
    """Called between two decoder steps; equal for all lines that are translated together, which it names by
    `number`."""
    cancellable: bool = False
    """Whether the line may be cancelled while others continue."""
    pauses: Pauses = field(default_factory=Pauses, compare=False)
    """The pauses of all lines that are translated together."""

    def give_way(self) -> None:
        """Yields to more urgent work, before the line is read or checked."""
        self.pauses.before(self.text)


@dataclass(frozen=True, kw_only=True)
class Task:
    """A part of a line to be searched, and the candidates found."""

    line: NumberedLine
    """The line."""
    part: Part
    """The part."""
    src_ids: list[int]
    """The ids that the model reads, with `</s>`."""
    cut: bool
    """Whether the model reads only the beginning of the part."""
    rules: Rules
    """The constraints of the search."""
    needed: int
    """The tokens that a translation may be expected to need."""
    steps: int
    """The tokens that further searches may write, all together."""
    spelled: bool = False
    """Whether the vocabulary can only spell it out: searched greedily, to one and a half times the expected tokens."""
    candidates: tuple[Candidate, ...] = ()
    """The best translations; none before the search, and for a cancelled line."""
    guards: tuple[GuardName, ...] = ()
    """The guards that have acted on the translation."""
    omitted: str = ""
    """Words of the part that nothing in the best translation corresponds to; empty if there are none."""
    terms: tuple[TermUse, ...] = ()
    """The outcomes of the line's terms that occur in the part."""

    @classmethod
    def new(
        cls,
        line: NumberedLine,
        part: Part,
        *,
        src_ids: list[int],
        cut: bool,
        needed: int,
        rules: Rules,
        spelled: bool = False,
    ) -> Self:
        """A task that has not been searched yet.

        Its searches together may write twice the longest translation plus one of the expected length: enough for every
        retry of a sentence, and for one retry of a text that loops up to the limit.
        """
        if spelled:
            rules = replace(rules, max_len=max(rules.min_len, min(rules.max_len, needed + needed // 2)))
        steps = 2 * (rules.max_len + 1) + needed
        return cls(
            line=line,
            part=part,
            src_ids=src_ids,
            cut=cut,
            rules=rules,
            needed=needed,
            steps=steps,
            spelled=spelled,
        )

    @property
    def key(self) -> Hashable:
        """Equal for short parts that a search cannot distinguish; None for others.

        A line that can be cancelled shares no key with others: it has its own search, which ends with it alone.
        """
        if len(self.part.read) > _RECURRING:
            return None
        line = self.line.number if self.line.cancellable else None
        return tuple(self.src_ids), replace(self.rules, seed=0), line

    def found(self, candidates: tuple[Candidate, ...]) -> Self:
        """The task with the candidates of a search; the search's steps are taken off the budget."""
        longest = max((len(each.token_log_probs) for each in candidates), default=0)
        return replace(self, candidates=candidates, steps=self.steps - longest)

    def limited(self, *constraints: Constraint) -> Self:
        """The task with further constraints."""
        return replace(self, rules=replace(self.rules, constraints=(*self.rules.constraints, *constraints)))

    @property
    def written(self) -> str:
        """The best translation, with the text that placeholders stand for."""
        return "".join(text for _, text in self.part.target_segments(self.candidates[0].text))

    @property
    def lacks_unmasked(self) -> bool:
        """Whether a candidate has lost protected text that was read unchanged, or repeats it."""
        return any(not self.part.has_unmasked(candidate.text) for candidate in self.candidates)

    def retry(self) -> Self | None:
        """The task to be searched again within its remaining budget; None if that is too small."""
        if self.steps <= min(self.needed, self.rules.max_len):
            return None
        if self.rules.max_len < self.steps:
            return self
        try:
            return replace(self, rules=replace(self.rules, max_len=self.steps - 1))
        except DataError:  # a prefix, forced words or a least length leave no room
            return None

    def renewed(self) -> Self | None:
        """The task with room for one more search of twice its usual length, regardless of its remaining budget.

        Returns:
            None if the part has few words, so that a longer search gains little, or the forced tokens do not fit.
        """
        if has_few_words(self.part.text):
            return None
        limit = min(self.rules.max_len, 2 * self.needed + _ROOM)
        try:
            return replace(self, rules=replace(self.rules, max_len=limit), steps=max(self.steps, 2 * (limit + 1)))
        except DataError:
            return None


def added(names: tuple[GuardName, ...], name: GuardName) -> tuple[GuardName, ...]:
    """Names of guards with one more, without repetition."""
    return names if name in names else (*names, name)


def numbered_lines(
    lines: Sequence[tuple[str, Constraints]], between_steps: BetweenSteps, first: int, *, cancellable: bool
) -> list[NumberedLine]:
    """Returns numbered lines with the function to call between two decoder steps.

    Args:
        lines: the lines, each with its constraints.
        between_steps: called between two decoder steps.
        first: the number of the first line.
        cancellable: whether `between_steps` may cancel lines.
    """
    pauses = Pauses(between_steps)
    return [
        NumberedLine(
            number=number,
            text=line,
            constraints=constraints,
            between_steps=between_steps,
            cancellable=cancellable,
            pauses=pauses,
        )
        for number, (line, constraints) in enumerate(lines, start=first)
    ]
