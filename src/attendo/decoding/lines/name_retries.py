"""Translations that have lost a person's name, searched again with a placeholder in its place."""

from collections.abc import Callable
from dataclasses import replace

from attendo.decoding.guards.casing import in_title_case
from attendo.decoding.guards.people import Person, people
from attendo.decoding.guards.reading import Reader
from attendo.decoding.lines.tasks import Task, added
from attendo.decoding.lines.value_retries import Searches


class NameRetries:
    """Searches again for translations that lack people named in their sources.

    Args:
        language: the sources' language, as an ISO 639-1 code; empty if not known.
        reader: prepares lines for the model.
        num_faults: counts the faults of a task's translation, except names.
        searches: the searches of tasks.
    """

    def __init__(self, language: str, reader: Reader, num_faults: Callable[[Task], int], *, searches: Searches) -> None:
        self._language, self._reader, self._num_faults, self._searches = language, reader, num_faults, searches

    def kept(self, tasks: list[Task]) -> list[Task]:
        """Tasks, those whose translations have lost a name searched again."""
        return self._searches.again(tasks, lambda task: bool(self._lost(task)), self._as_placeholders)

    def _as_placeholders(self, tasks: list[Task]) -> list[Task]:
        """Searches tasks with placeholders for the lost names; results are kept if no worse in other respects."""
        wanted = [
            {person.text for person in self._lost(task)} | {each.source for each in task.part.kept} for task in tasks
        ]
        parts = [self._reader.with_values(task.part, its) for task, its in zip(tasks, wanted, strict=True)]
        new = self._searches.tasks([(task.line, part) for task, part in zip(tasks, parts, strict=True)])
        found = self._searches.whole([replace(task, guards=old.guards) for task, old in zip(new, tasks, strict=True)])
        return [self._better_of(before, after) for before, after in zip(tasks, found, strict=True)]

    def _better_of(self, before: Task, after: Task) -> Task:
        if not after.candidates:  # cancelled
            return after
        is_good = self._searches.is_whole(after) and (after.candidates[0].finished or not before.candidates[0].finished)
        is_better = len(self._lost(after)) < len(self._lost(before))
        if is_good and is_better and self._num_faults(after) <= self._num_faults(before):
            return replace(after, guards=added(after.guards, "values"))
        return replace(before, steps=min(before.steps, after.steps))

    def _lost(self, task: Task) -> list[Person]:
        """The people that the best translation of a task lacks; in title case any word may look like a name."""
        persons = people(task.part.text)
        if not persons or in_title_case(task.part.text, self._language):
            return []
        return [person for person in persons if person.is_lost(task.written, self._language)]
