"""Searches again for translations that have lost, changed or invented a number, an identifier or the like.

First with digits limited to the source's numbers, then with placeholders in place of missing values, then with missing
values forced to occur, and at last with invented identifiers and the like forbidden. Each translation has to be better
than the one before; remaining faults are reported.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from attendo.decoding.constraints.constraint import Constraint, NoRepeat, Rules
from attendo.decoding.constraints.words import ForbiddenWords, Spelling, Subwords, forced_word_ids
from attendo.decoding.guards.comparison import Comparison, compared, possible_numbers, target_form
from attendo.decoding.guards.digits import DigitPieces, OnlyNumbers
from attendo.decoding.guards.output import ExemptingConstraint, NoStutter
from attendo.decoding.guards.parts import Part
from attendo.decoding.guards.reading import Reader
from attendo.decoding.guards.values import Value
from attendo.decoding.lines.tasks import NumberedLine, Task, added
from attendo.errors import DataError

Searched = Callable[[list[Task]], list[Task]]
_MARK = "."
_NO_REPEAT = 4
_MAX_FORCED = 4
"""Maximum number of values of a sentence that are forced to occur as spelled; of more, hardly a sentence is left."""


@dataclass(frozen=True, kw_only=True)
class Searches:
    """The part of a search that retries need."""

    tasks: Callable[[Sequence[tuple[NumberedLine, Part]]], list[Task]]
    """Makes tasks of parts that have been read again."""
    searched: Searched
    """Searches tasks for candidates with the engine's settings."""
    wide: Searched
    """Searches tasks for candidates with a beam that has room for forced tokens."""
    whole: Searched
    """Searches tasks for candidates, and again if one lacks a placeholder."""
    is_whole: Callable[[Task], bool]
    """Whether a task's translation has its placeholders, and no others."""
    again: Callable[[list[Task], Callable[[Task], bool], Searched], list[Task]]
    """Searches the wrong tasks again with the given function, where permitted."""


class ValueRetries:
    """Searches again for translations that lack values of their sources.

    Args:
        tokenizer: the tokenizer of the target language.
        languages: source and target, as ISO 639-1 codes; empty if not known.
        reader: prepares lines for the model.
        spelling: returns the spelling of the pieces of the target vocabulary.
        digits: returns those of its pieces that write a digit.
        exact: whether names and codes are checked too, not only numbers.
        searches: the searches of tasks.
    """

    def __init__(
        self,
        tokenizer: Subwords,
        languages: tuple[str, str],
        reader: Reader,
        spelling: Callable[[], Spelling],
        digits: Callable[[], DigitPieces],
        *,
        exact: bool,
        searches: Searches,
    ) -> None:
        self._tokenizer, self._languages, self._reader = tokenizer, languages, reader
        self._spelling, self._digits, self._exact, self._searches = spelling, digits, exact, searches

    def kept(self, tasks: list[Task]) -> list[Task]:
        """Tasks, those whose translations have lost or invented a value searched again."""
        places = [place for place, task in enumerate(tasks) if task.candidates and self.has_faults(task)]
        if not places:
            return tasks
        wrong = [tasks[place] for place in places]
        for repaired in (self.only_numbers, self.as_placeholders, self.forced, self.without_invented):
            wrong = self._searches.again(wrong, self.has_faults, repaired)
        found = list(tasks)
        for place, task in zip(places, wrong, strict=True):
            found[place] = task
        return found

    def only_numbers(self, tasks: list[Task]) -> list[Task]:
        """Tasks searched with the digits limited to the numbers of their sources."""
        places = [place for place, task in enumerate(tasks) if self._has_other_digits(task)]
        limited = [self._with_rules(tasks[place], self._only_numbers(tasks[place].part)) for place in places]
        return self._put_in(tasks, places, self._searches.searched(limited) if limited else [])

    def as_placeholders(self, tasks: list[Task]) -> list[Task]:
        """Tasks searched with placeholders for the numbers that are lost, where the vocabulary has enough."""
        wanted = [{each.text for each in self._comparison(task).lost if each.is_numeric} for task in tasks]
        parts = [self._reader.with_values(task.part, its) for task, its in zip(tasks, wanted, strict=True)]
        places = [
            place
            for place, (part, its) in enumerate(zip(parts, wanted, strict=True))
            if its and part.is_searched and all(any(text in kept.source for kept in part.kept) for text in its)
        ]
        read = [parts[place].as_sentence(_MARK) if tasks[place].part.marked else parts[place] for place in places]
        new = self._searches.tasks([(tasks[place].line, part) for place, part in zip(places, read, strict=True)])
        limited = [
            replace(self._with_rules(task.renewed() or task, self._only_numbers(task.part)), guards=tasks[place].guards)
            for place, task in zip(places, new, strict=True)
        ]
        return self._put_in(tasks, places, self._searches.whole(limited) if limited else [])

    def forced(self, tasks: list[Task]) -> list[Task]:
        """Tasks searched with the values that are lost forced to occur, spelled as the tokenizer spells them."""
        ruled = {place: again for place, task in enumerate(tasks) if (again := self._with_forced(task)) is not None}
        return self._put_in(tasks, list(ruled), self._searches.wide(list(ruled.values())) if ruled else [])

    def without_invented(self, tasks: list[Task]) -> list[Task]:
        """Tasks searched without the identifiers and the like that their sources do not have."""
        invented = [[each.text for each in self._comparison(task).invented if not each.is_numeric] for task in tasks]
        ruled = {
            place: self._with_rules(task, ForbiddenWords(texts, self._spelling()))
            for place, (task, texts) in enumerate(zip(tasks, invented, strict=True))
            if texts
        }
        return self._put_in(tasks, list(ruled), self._searches.searched(list(ruled.values())) if ruled else [])

    def has_faults(self, task: Task) -> bool:
        """Whether the best translation of a task has lost or invented a value."""
        return self.num_faults(task) > 0

    def num_faults(self, task: Task) -> int:
        """The values that the best translation of a task has lost or invented."""
        return self._comparison(task).num_faults

    @cached_property
    def no_loops(self) -> tuple[Constraint, ...]:
        """Constraints that keep a search with restricted tokens from endless repetition."""
        return tuple(ExemptingConstraint(each, self._digits().tokens) for each in (NoRepeat(_NO_REPEAT), NoStutter()))

    # --- one task -----------------------------------------------------------------------------------------------------

    def _comparison(self, task: Task) -> Comparison:
        task.line.give_way()
        # In documentation, interfaces and chats 490 of 496 numbers up to 99 stay digits, in news 9 of 10; where a word
        # remains all the same, that is no problem.
        found = compared(task.part.text, task.written, self._languages, in_words=False)
        return found if self._exact else found.of_numbers

    def _has_other_digits(self, task: Task) -> bool:
        """Whether numbers differ, and the translation has digits at all: of others no limit makes any."""
        return self._comparison(task).has_numbers and any(map(str.isdigit, task.candidates[0].text))

    def _only_numbers(self, part: Part) -> OnlyNumbers:
        return OnlyNumbers(self._digits(), possible_numbers(part.read, self._languages))

    def _with_rules(self, task: Task, constraint: Constraint) -> Task:
        return task.limited(constraint, *self.no_loops)

    def _with_forced(self, task: Task) -> Task | None:
        """A task whose rules force the missing values; None if they are too many, or cannot be spelled."""
        lost = self._comparison(task).lost
        if not 0 < len(lost) <= _MAX_FORCED:
            return None
        words = list(dict.fromkeys(self._target_form(value, task.part) for value in lost))
        rules: Rules = task.rules
        try:
            forced = (*rules.forced, *forced_word_ids(words, self._tokenizer))
            numbers = possible_numbers(task.part.text, self._languages)
            only = OnlyNumbers(self._digits(), numbers) if all(value.is_numeric for value in lost) else None
            constraints = rules.constraints if only is None else (*rules.constraints, only)
            return replace(task, rules=replace(rules, forced=forced, constraints=constraints))
        except DataError:
            return None

    def _target_form(self, value: Value, part: Part) -> str:
        return target_form(value, part.text, self._languages).rstrip(".")

    # --- what is better -----------------------------------------------------------------------------------------------

    def _put_in(self, tasks: list[Task], places: Sequence[int], after: Sequence[Task]) -> list[Task]:
        """Tasks, those at some places replaced by others that are better."""
        found = list(tasks)
        for place, task in zip(places, after, strict=True):
            found[place] = self._better_of(tasks[place], task)
        return found

    def _better_of(self, before: Task, after: Task) -> Task:
        """The task whose translation has fewer faults; the first if both have equally many."""
        if not after.candidates:  # cancelled
            return after
        is_whole = after.candidates[0].finished or not before.candidates[0].finished
        num_faults = self._comparison(before).num_faults
        if is_whole and self._searches.is_whole(after) and self._comparison(after).num_faults < num_faults:
            return replace(after, guards=added(after.guards, "values"))
        return replace(before, steps=min(before.steps, after.steps))
