"""Searches again for translations that have lost a day, a month, a small number in words, a sign or a negation.

A translation that has invented a negation is searched again, too.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from attendo.decoding.constraints.words import ForbiddenWords, Spelling, Subwords, forced_word_ids
from attendo.decoding.guards.content import LostWord, lost_words
from attendo.decoding.guards.negation import Negation, invented_negation, negations
from attendo.decoding.guards.spelled import SpelledValue
from attendo.decoding.lines.tasks import Task, added
from attendo.decoding.lines.value_retries import Searches, ValueRetries
from attendo.errors import DataError

_MAX_FORCED = 4
"""Maximum number of words of a sentence that are forced to occur; of more, hardly a sentence is left."""
_MARKS = ".!?"
_WORD_BEHIND = re.compile(r"\W*\w+\W*")
_LEAST_LENGTH, _FEW_TOKENS = 0.75, 2
"""Times the length of the first translation that another must have, up to a few tokens: a word may not cost a
clause."""
_NEGATION_MARGIN = 5.0
"""Maximum loss of log-probability for a negation; if it costs more, the first translation mostly says the same in other
words."""


class WordRetries:
    """Searches again for translations that lack a word of a small class (`lost_words`), or have a negation too many.

    Args:
        tokenizer: the tokenizer of the target language.
        languages: source and target, as ISO 639-1 codes; empty if not known.
        spelling: returns the spelling of the pieces of the target vocabulary.
        values: the retries for other values.
        searches: the searches of tasks.
    """

    def __init__(
        self,
        tokenizer: Subwords,
        languages: tuple[str, str],
        spelling: Callable[[], Spelling],
        values: ValueRetries,
        *,
        searches: Searches,
    ) -> None:
        self._tokenizer, self._languages, self._spelling = tokenizer, languages, spelling
        self._values, self._searches = values, searches

    def kept(self, tasks: list[Task]) -> list[Task]:
        """Tasks, those whose translations have lost or invented such a word searched again."""
        tasks = self._searches.again(tasks, lambda task: bool(self._lost(task)), self._forced)
        return self._searches.again(tasks, lambda task: bool(self._invented(task)), self._without_negation)

    def _without_negation(self, tasks: list[Task]) -> list[Task]:
        """Tasks searched without any negation; results are kept if no worse in other respects, and not improbable."""
        forbidden = ForbiddenWords(negations(self._languages[1]), self._spelling())
        limited = [task.limited(forbidden, *self._values.no_loops) for task in tasks]
        return [
            self._better_of(before, after)
            for before, after in zip(tasks, self._searches.searched(limited), strict=True)
        ]

    def num_faults(self, task: Task) -> int:
        """Counts the words that the best translation of a task has lost or invented."""
        return len(self._lost(task)) + len(self._invented(task))

    def _forced(self, tasks: list[Task]) -> list[Task]:
        """Tasks searched with the lost words forced to occur; results are kept if no worse in other respects.

        If another value is lost for the word, both are forced.
        """
        ruled = {place: again for place, task in enumerate(tasks) if (again := self._with_forced(task)) is not None}
        after = self._searches.wide(list(ruled.values())) if ruled else []
        whole = iter(self._values.forced([task for task in after if task.candidates]))
        found = list(tasks)
        for place, task in zip(ruled, after, strict=True):
            found[place] = self._better_of(tasks[place], next(whole)) if task.candidates else task
        return found

    def _with_forced(self, task: Task) -> Task | None:
        """A task that must write a form of each lost word; None if they are too many, or cannot be spelled."""
        lost = self._lost(task)
        if len(lost) > _MAX_FORCED:
            return None
        rules = task.rules
        try:
            groups = [forced_word_ids(word.forms(self._languages[1]), self._tokenizer) for word in lost]
            ruled = replace(task, rules=replace(rules, forced_any=(*rules.forced_any, *groups)))
            return ruled.limited(*self._values.no_loops)
        except DataError:
            return None

    def _better_of(self, before: Task, after: Task) -> Task:
        if not after.candidates:  # cancelled
            return after
        old, new = before.candidates[0], after.candidates[0]
        faults = [*self._lost(before), *self._invented(before)]
        is_whole = self._searches.is_whole(after) and (new.finished or not old.finished)
        is_better = (
            self.num_faults(after) < len(faults)
            and self._values.num_faults(after) <= self._values.num_faults(before)
            and len(new.ids) + _FEW_TOKENS >= _LEAST_LENGTH * len(old.ids)
        )
        is_likely = (
            any(not isinstance(fault, Negation) for fault in faults) or new.log_prob > old.log_prob - _NEGATION_MARGIN
        )
        if is_whole and is_better and is_likely and _fits(faults, old.text, new.text):
            return replace(after, guards=added(after.guards, "values"))
        return replace(before, steps=min(before.steps, after.steps))

    def _lost(self, task: Task) -> Sequence[LostWord]:
        return lost_words(task.part.text, task.written, self._languages)

    def _invented(self, task: Task) -> Sequence[Negation]:
        return invented_negation(task.part.text, task.written, self._languages)


def _fits(lost: Sequence[LostWord], old: str, new: str) -> bool:
    """Whether a translation has its words within the sentence; days and negations may stand alone behind it."""
    may_be_behind = all(
        isinstance(word, Negation) or (isinstance(word, SpelledValue) and word.may_stand_alone) for word in lost
    )
    return may_be_behind or not _is_appended(old, new)


def _is_appended(before: str, after: str) -> bool:
    """Whether a translation is the first one with a bare word behind it, or without its final mark.

    A model that has no place for a word puts it after the sentence.
    """
    sentence = before.rstrip(_MARKS)
    if after.startswith(sentence) and _WORD_BEHIND.fullmatch(after, len(sentence)):
        return True
    return before.endswith(tuple(_MARKS)) and not after.endswith(tuple(_MARKS))
