"""Translates lines under the guards: searches a prepared line, checks its translation, and searches again if necessary.

A line is read in parts, and nearly every line is a single part. All parts of all lines are searched together, and those
with implausible translations are searched once more, with a constraint or with a wider beam.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial

from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Ids, NoRepeat
from attendo.decoding.constraints.words import ForbiddenWords, Spelling, Subwords
from attendo.decoding.guards.digits import DigitPieces
from attendo.decoding.guards.output import (
    AtMostOnce,
    ExemptingConstraint,
    InOrder,
    NoStutter,
    doubled_words,
    has_loop,
    has_much_of,
    is_copy,
    is_long_loop,
)
from attendo.decoding.guards.parts import Part
from attendo.decoding.lines.name_retries import NameRetries
from attendo.decoding.lines.part_search import PartSearch
from attendo.decoding.lines.restored import NOTHING, restored, with_problems, with_terms, written_well
from attendo.decoding.lines.tasks import NumberedLine, Task, added
from attendo.decoding.lines.term_retries import TermRetries
from attendo.decoding.lines.translation import Candidate, Counts, Translation
from attendo.decoding.lines.value_retries import Searches, ValueRetries
from attendo.decoding.lines.word_retries import WordRetries
from attendo.errors import DataError

COPY_MARGIN = 0.25
"""Maximum score deficit of another translation that replaces one that only repeats its source.

Text of the target language is rightly copied: of 400 such lines a model of 12,000 pieces copied 9, and its second best
translation in other words was further below than this in all but one."""
_FEW_THINGS = 3
_SEVERAL = 4
"""Sentences of a line from which on it is in the target language if most are copied."""
_NO_REPEAT = 3
_MARKS = (".", "!")


class GuardedSearch:
    """Translates lines with the guards of the settings.

    Args:
        parts: reads lines in parts and searches these.
        config: search settings.
        source_tokenizer: the tokenizer of the source language.
        target_tokenizer: the tokenizer of the target language.
        languages: source and target, as ISO 639-1 codes; empty where not known.
        counts: updated with the work done.
    """

    def __init__(
        self,
        parts: PartSearch,
        config: SearchConfig,
        source_tokenizer: Subwords,
        target_tokenizer: Subwords,
        *,
        languages: tuple[str, str],
        counts: Counts,
    ) -> None:
        self._parts, self._config, self._languages = parts, config, languages
        self._source_tokenizer, self._tokenizer = source_tokenizer, target_tokenizer
        self.counts = counts
        """Counts of the lines translated so far, for warnings and figures."""

    def translate(self, lines: Sequence[NumberedLine]) -> list[Translation | None]:
        """Translates lines, all of them sorted by length together.

        Args:
            lines: the lines, with or without line ends.

        Returns:
            A translation for each line, in order; None for a cancelled line.

        Raises:
            DataError: a line contains a lone surrogate, or constraints cannot be fulfilled.
            ModelError: the models' probabilities are not numbers.
        """
        readings = [self._parts.read(line) for line in lines]
        parts = [(line, part) for line, reading in zip(lines, readings, strict=True) for part in reading.parts]
        tasks = self._parts.tasks([(line, part) for line, part in parts if part.is_searched])
        if self._config.guards.protected:  # others are checked later, so the ordinary search need not forbid anything
            tasks = [
                self._parts.without_strays(task) if task.line.constraints.limits_search else task for task in tasks
            ]
        tasks = self._with_terms(self._looked_at(self._parts.searched(tasks)))
        remaining = iter(self._parts.omissions.marked(tasks) if self._config.guards.values else tasks)
        translations: list[Translation | None] = []
        for line, reading in zip(lines, readings, strict=True):
            its_tasks = [next(remaining) if part.is_searched else None for part in reading.parts]
            if any(task is not None and not task.candidates for task in its_tasks):
                translations.append(None)
                continue
            line.give_way()
            translation = restored(line, reading, its_tasks, self._config.length_penalty)
            if not line.constraints.limits_search:
                translation = written_well(translation, self._config.guards, self._languages)
            if self._config.guards.values:
                translation = with_problems(translation, its_tasks, self._languages)
            translation = with_terms(translation, its_tasks)
            self.counts.add(translation, sum(len(task.src_ids) for task in its_tasks if task), line.number)
            translations.append(translation)
        return translations

    # --- looking again ------------------------------------------------------------------------------------------------

    def _looked_at(self, tasks: list[Task]) -> list[Task]:
        """Searches the tasks in which a guard finds a fault again."""
        guards = self._config.guards
        if guards.protected and self._parts.placeholders:
            tasks = self._again(tasks, lambda task: task.lacks_unmasked, partial(self._read_again, Part.as_masked))
            tasks = self._again(tasks, self._lacks_protected, self._with_protected)
            tasks = list(map(self._with_verbatim, tasks))
            tasks = self._again(tasks, self._lacks_protected, partial(self._read_again, self._parts.reader.unprotected))
        if self._config.sampling:  # sampled translations are kept as drawn
            return tasks
        if guards.fragments and self._config.n_best == 1:
            tasks = self._again(tasks, lambda task: task.part.is_fragment and not task.spelled, self._as_sentences)
        if guards.repetition:
            tasks = self._again(tasks, self._loops, self._without_loops)
        if guards.copies and self._config.n_best == 1:
            others = self._in_target_language(tasks)
            tasks = self._again(
                tasks, lambda task: task.line.number not in others and self._copies_its_source(task), self._other_words
            )
        if guards.values:
            values = self._value_retries()
            names = NameRetries(
                self._languages[0], self._parts.reader, values.num_faults, searches=self._retry_searches()
            )
            tasks = self._word_retries(values).kept(names.kept(values.kept(tasks)))
        if guards.repetition:
            tasks = self._again(tasks, lambda task: bool(_doubled(task)), self._without_doubled)
        return tasks

    def _with_terms(self, tasks: list[Task]) -> list[Task]:
        """Records the use of terms in each task, and searches tasks that lack a term for its forms."""
        if all(task.line.constraints.terms is None for task in tasks):
            return tasks
        return TermRetries(
            self._tokenizer,
            self._spelling,
            lambda tasks: self._parts.searched(
                list(map(self._parts.without_strays, tasks)), self._parts.variants.terms
            ),
            self._num_faults,
            self._value_retries().no_loops,
            n_best=0 if self._config.sampling else self._config.n_best,
        ).kept(tasks)

    def _num_faults(self, task: Task) -> int:
        """Counts faults of a translation other than terms: missing placeholders, end or values, and loops."""
        lacking = [self._lacks_protected(task), not task.candidates[0].finished, self._loops(task)]
        if not self._config.guards.values:
            return sum(lacking)
        values = self._value_retries()
        return sum(lacking) + values.num_faults(task) + self._word_retries(values).num_faults(task)

    def _again(
        self,
        tasks: list[Task],
        is_wrong: Callable[[Task], bool],
        repaired: Callable[[list[Task]], list[Task]],
        retry: Callable[[Task], Task | None] = Task.retry,
    ) -> list[Task]:
        """Repairs the tasks that are wrong; tasks with constraints, or whose `retry` is None, are left alone."""
        wrong = {
            place: self._parts.without_strays(again)
            for place, task in enumerate(tasks)
            if task.candidates
            and not task.line.constraints.limits_search
            and is_wrong(task)
            and (again := retry(task)) is not None
        }
        if not wrong:
            return tasks
        tasks = list(tasks)
        for place, task in zip(wrong, repaired(list(wrong.values())), strict=True):
            tasks[place] = task
        return tasks

    def _lacks_protected(self, task: Task) -> bool:
        """Whether a candidate does not have each of the part's placeholders once, tags in order, and no others."""
        texts = [candidate.text for candidate in task.candidates]
        if any(not task.part.is_whole(text) for text in texts):
            return True
        read = task.part.read
        return any(symbol in text and symbol not in read for text in texts for symbol in self._parts.placeholders)

    def _with_protected(self, tasks: list[Task]) -> list[Task]:
        """Searches again with each placeholder forced to occur once; tasks without room are returned unchanged."""
        ruled = list(map(self._with_forced, tasks))
        if self._config.sampling:
            return self._parts.searched(ruled)
        # With many forced tokens a wide beam costs as much as ten sentences, and the words between them are few.
        is_few = [len(task.part.kept) <= _FEW_THINGS for task in ruled]
        wide = iter(
            self._parts.searched(
                [task for task, few in zip(ruled, is_few, strict=True) if few], self._parts.variants.wide
            )
        )
        others = iter(self._parts.searched([task for task, few in zip(ruled, is_few, strict=True) if not few]))
        return [next(wide if few else others) for few in is_few]

    def _with_forced(self, task: Task) -> Task:
        wanted = [self._parts.strays.ids[each.symbol] for each in task.part.kept]
        in_order = InOrder([self._parts.strays.ids[symbol] for symbol in task.part.tags])
        constraints = (*task.rules.constraints, AtMostOnce(frozenset(wanted)), in_order)
        forced: tuple[Ids, ...] = tuple((token,) for token in wanted)
        guards = added(task.guards, "protected")
        try:
            rules = replace(task.rules, forced=forced, constraints=constraints)
        except DataError:  # the length limit leaves no room for all
            rules = replace(task.rules, constraints=constraints)
        return replace(task, rules=rules, guards=guards)

    def _read_again(self, read: Callable[[Part], Part], tasks: list[Task]) -> list[Task]:
        """Translates parts that are read in another way, within the remaining budget of their tasks."""
        new = self._parts.new_tasks([(task.line, read(task.part)) for task in tasks])
        return self._parts.searched(
            [replace(now, steps=min(now.steps, old.steps)) for now, old in zip(new, tasks, strict=True)]
        )

    def _with_verbatim(self, task: Task) -> Task:
        """Copied as a whole where the model has lost text that is no language: it is not to read that."""
        if not task.part.copied or not self._lacks_protected(task):
            return task
        return replace(task, part=self._parts.reader.unprotected(task.part), candidates=(NOTHING,))

    def _as_sentences(self, tasks: list[Task]) -> list[Task]:
        """Fragments with a final mark, where their translations are more probable so."""
        marked = [(task.line, task.part.as_sentence(mark)) for mark in _MARKS for task in tasks]
        found = self._parts.searched(self._parts.new_tasks(marked))
        best = list(tasks)
        for place, after in enumerate(found):
            before = best[place % len(tasks)]
            if not (before.candidates and after.candidates):
                best[place % len(tasks)] = replace(before, candidates=())
                continue
            steps = before.steps - len(after.candidates[0].token_log_probs)
            if after.candidates[0].score > before.candidates[0].score and not self._lacks_protected(after):
                before = replace(after, guards=added(before.guards, "fragments"))
            best[place % len(tasks)] = replace(before, steps=steps)
        return best

    def _loops(self, task: Task) -> bool:
        pieces = task.candidates[0].pieces[:-1]
        loops = has_loop(pieces) or is_long_loop(pieces, len(task.src_ids) - 1)
        return loops and not has_loop(self._source_tokenizer.pieces(task.src_ids[:-1]))

    def _without_loops(self, tasks: list[Task]) -> list[Task]:
        """Searched again without repeated n-grams; the first translation is kept if the new one is no better."""
        more = tuple(ExemptingConstraint(each, self._digits.tokens) for each in (NoRepeat(_NO_REPEAT), NoStutter()))
        found = self._parts.searched([task.limited(*more) for task in tasks])
        return [
            replace(before, steps=after.steps)
            if after.candidates and self._loops(after)
            else replace(after, guards=added(before.guards, "repetition"))
            for before, after in zip(tasks, found, strict=True)
        ]

    def _without_doubled(self, tasks: list[Task]) -> list[Task]:
        """Searched again without the words that are written twice in a row; results are kept if they lack nothing."""
        found = self._parts.searched(
            [
                task.limited(ForbiddenWords([f"{word} {word}" for word in _doubled(task)], self._spelling))
                for task in tasks
            ]
        )
        return [
            replace(before, steps=after.steps)
            if after.candidates and (_doubled(after) or self._num_faults(after) > self._num_faults(before))
            else replace(after, guards=added(before.guards, "repetition"))
            for before, after in zip(tasks, found, strict=True)
        ]

    def _in_target_language(self, tasks: Sequence[Task]) -> set[int]:
        """Finds lines of several sentences most of which are rightly copied: another search finds nothing better."""
        parts = Counter(task.line.number for task in tasks)
        copied = Counter(task.line.number for task in tasks if task.candidates and self._copies_its_source(task))
        return {number for number, count in copied.items() if count >= _SEVERAL and 2 * count > parts[number]}

    def _copies_its_source(self, task: Task) -> bool:
        return is_copy(task.part.read, task.candidates[0].text) and not task.spelled

    def _other_words(self, tasks: list[Task]) -> list[Task]:
        """The best of a diverse beam that is no copy and about as good as the copy; else the copy."""
        found = self._parts.searched(tasks, self._parts.variants.diverse)
        return [
            self._other_candidate(before, after.candidates) if after.candidates else after
            for before, after in zip(tasks, found, strict=True)
        ]

    def _other_candidate(self, task: Task, candidates: Sequence[Candidate]) -> Task:
        [copy] = task.candidates
        for candidate in candidates:
            if candidate.score < copy.score - COPY_MARGIN:
                break
            other = replace(task, candidates=(candidate,))
            is_good = candidate.finished and not self._lacks_protected(other) and not self._loops(other)
            if is_good and not has_much_of(task.part.read, candidate.text):
                return replace(other, guards=added(task.guards, "copies"))
        return task

    @cached_property
    def _digits(self) -> DigitPieces:
        return DigitPieces(self._spelling, self._parts.strays.ids.values())

    @cached_property
    def _spelling(self) -> Spelling:
        return Spelling(self._tokenizer)

    def _retry_searches(self) -> Searches:
        # Not cached: it refers to this search, and memory must be freed as soon as an engine is closed.
        return Searches(
            tasks=self._parts.new_tasks,
            searched=self._parts.searched,
            wide=lambda tasks: self._parts.searched(tasks, self._parts.variants.wide),
            whole=lambda tasks: self._again(self._parts.searched(tasks), self._lacks_protected, self._with_protected),
            is_whole=lambda task: not self._lacks_protected(task),
            again=lambda tasks, is_wrong, repaired: self._again(tasks, is_wrong, repaired, Task.renewed),
        )

    def _value_retries(self) -> ValueRetries:
        return ValueRetries(
            self._tokenizer,
            self._languages,
            self._parts.reader,
            lambda: self._spelling,
            lambda: self._digits,
            exact=self._config.guards.protected,
            searches=self._retry_searches(),
        )

    def _word_retries(self, values: ValueRetries) -> WordRetries:
        return WordRetries(
            self._tokenizer, self._languages, lambda: self._spelling, values, searches=self._retry_searches()
        )


def _doubled(task: Task) -> list[str]:
    """The words that the best translation of a task has twice in a row."""
    return doubled_words(task.candidates[0].text, task.part.read)
