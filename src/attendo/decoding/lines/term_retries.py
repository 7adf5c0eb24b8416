"""Searches again for translations that do not use the terms of a glossary.

A translation is accepted if it has some form of every term. If one is missing, another search with a wide beam must
write one of the forms; the model chooses which one and where. Forbidden words are banned. Among the candidates with the
most terms, the best one is chosen that lacks nothing else of the first translation.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

from attendo.decoding.constraints.constraint import Constraint, Ids, Rules
from attendo.decoding.constraints.terminology import RequiredTerm, TermUse
from attendo.decoding.constraints.words import ForbiddenWords, Spelling, Subwords
from attendo.decoding.lines.alignment import words_of
from attendo.decoding.lines.tasks import Task
from attendo.decoding.lines.translation import Candidate
from attendo.errors import DataError
from attendo.text.subwords.tokenization import UNK_ID

_MARKS = ".!?"
_END = re.compile(r"[.!?](?=\s)")
_BEFORE, _WEIGHT_BEFORE = 2, 0.4
"""Number of words before a forced term that count less, and their weight."""


class TermRetries:
    """Searches again for translations that lack terms.

    Args:
        tokenizer: the tokenizer of the target language.
        spelling: the spelling of its pieces.
        searched: searches tasks with a wide beam for several candidates each.
        num_faults: counts the faults of a task's best translation, except terms.
        no_loops: constraints against repetition.
        n_best: candidates to keep; 0 for translations that are not searched again.
    """

    def __init__(
        self,
        tokenizer: Subwords,
        spelling: Spelling,
        searched: Callable[[list[Task]], list[Task]],
        num_faults: Callable[[Task], int],
        no_loops: tuple[Constraint, ...] = (),
        *,
        n_best: int,
    ) -> None:
        self._tokenizer, self._spelling = tokenizer, spelling
        self._searched, self._num_faults, self._n_best = searched, num_faults, n_best
        self._no_loops = no_loops

    def kept(self, tasks: list[Task]) -> list[Task]:
        """Tasks with `Task.terms` filled in; those that lack a term are searched again."""
        required = [
            terms.required(task.part.read) if (terms := task.line.constraints.terms) and task.candidates else ()
            for task in tasks
        ]
        found = [self._preferred(task, its) if its else task for task, its in zip(tasks, required, strict=True)]
        again: dict[int, Task] = {}
        for place, (task, its) in enumerate(zip(found, required, strict=True)):
            if self._n_best and _num_missed(task.terms) and (ruled := self._with_rules(task, its)) is not None:
                again[place] = ruled
        if again:
            for place, after in zip(again, self._searched(list(again.values())), strict=True):
                found[place] = self._better_of(found[place], after, required[place])
        return list(map(_with_copied, found))

    def _preferred(self, task: Task, required: Sequence[RequiredTerm]) -> Task:
        """A task with the uses of its terms; the candidate with the most terms comes first."""
        uses = [[term.use_in(each.text) for term in required] for each in task.candidates]
        best = min(range(len(uses)), key=lambda place: (_num_missed(uses[place]), place))
        candidates = (task.candidates[best], *task.candidates[:best], *task.candidates[best + 1 :])
        preferred = replace(task, candidates=candidates, terms=tuple(uses[best]))
        if best and self._num_faults(preferred) > self._num_faults(task):
            return replace(task, terms=tuple(uses[0]))
        return preferred

    def _with_rules(self, task: Task, required: Sequence[RequiredTerm]) -> Task | None:
        """A task whose translation must have a form of each term; None if that is impossible."""
        uses = task.terms
        task = task.retry() or task.renewed() or task
        spelled = (self._spelled(term, use) for term, use in zip(required, uses, strict=True))
        groups = [group for group in spelled if group]
        forbidden = [word for term in required for word in term.forbidden]
        if not groups and not forbidden:
            return None
        rules: Rules = task.rules
        constraints = (*rules.constraints, *self._no_loops)
        if forbidden:
            constraints = (*constraints, ForbiddenWords(forbidden, self._spelling))
        try:
            ruled = replace(rules, forced_any=(*rules.forced_any, *groups), constraints=constraints)
        except DataError:  # the length limit leaves no room
            return None
        return replace(task, rules=ruled)

    def _spelled(self, term: RequiredTerm, use: TermUse) -> tuple[Ids, ...]:
        """The forms as the tokenizer spells them, also capitalised as at the start of a sentence.

        The form that the translation already uses is included: it may be a compound, which would be torn apart
        otherwise.
        """
        forms = list(term.likely)
        if use.form and use.form not in forms:
            forms.append(use.form)
        if not term.is_exact:
            forms += [form[:1].upper() + form[1:] for form in term.likely]
        spelled = (tuple(ids[:-1]) for ids in self._tokenizer.encode_batch(list(dict.fromkeys(forms))))
        return tuple(dict.fromkeys(ids for ids in spelled if ids and UNK_ID not in ids))

    def _better_of(self, before: Task, after: Task, required: Sequence[RequiredTerm]) -> Task:
        """The task whose translation has more terms, if it lacks nothing else; otherwise the first."""
        if not after.candidates:  # cancelled
            return after
        num_faults = self._num_faults(before)
        ranked = []
        for place, candidate in enumerate(after.candidates):
            uses = list(map(_forced, before.terms, (term.use_in(candidate.text) for term in required)))
            is_appended = _is_appended(before.candidates[0].text, candidate.text)
            if _num_missed(uses) < _num_missed(before.terms) and not is_appended:
                is_longer = _num_ends(candidate.text) > _num_ends(before.candidates[0].text)
                ranked.append((_num_missed(uses), is_longer, -_score(candidate, uses), place, uses))
        for *_, place, uses in sorted(ranked, key=lambda each: each[:4]):
            candidates = (after.candidates[place], *after.candidates[:place], *after.candidates[place + 1 :])
            chosen = replace(before, candidates=candidates[: self._n_best], steps=after.steps)
            if self._num_faults(chosen) <= num_faults:
                return replace(chosen, terms=tuple(uses))
        return replace(before, steps=min(before.steps, after.steps))


def _is_appended(before: str, after: str) -> bool:
    """Whether a translation is the first one with words appended at its end or after its last full stop."""
    marks = tuple(_MARKS)
    return after.startswith(before.rstrip(_MARKS)) or (before.endswith(marks) and not after.endswith(marks))


def _num_ends(text: str) -> int:
    """Counts the sentence ends within a text: a model that has no place for a term puts it after the sentence."""
    return len(_END.findall(text))


def _score(candidate: Candidate, uses: Sequence[TermUse]) -> float:
    """A candidate's score with the tokens before a forced term counting less.

    The model has chosen the words before a term, such as an article, for the word that it would have written itself;
    how well the term goes with them is in its own probability.
    """
    words = words_of(candidate.pieces[:-1])
    weights = [1.0] * len(candidate.pieces)
    for use in uses:
        if use.outcome == "forced":
            number = len(candidate.text[: candidate.text.find(use.form)].split())
            for place in chain.from_iterable(words[max(0, number - _BEFORE) : number]):
                weights[place] = _WEIGHT_BEFORE
    weighted: float = sum(
        weight * log_prob for weight, log_prob in zip(weights, candidate.token_log_probs, strict=True)
    )
    return weighted * candidate.score / candidate.log_prob if candidate.log_prob else weighted


def _with_copied(task: Task) -> Task:
    """A task with the uses of terms that are copied unchanged by a placeholder, and so were not read."""
    terms = task.line.constraints.terms
    if terms is None or not task.candidates or not task.part.kept:
        return task
    known = {use.source for use in task.terms}
    copied = [term for term in terms.required(task.part.text) if term.is_exact and term.source not in known]
    uses = (TermUse(source=term.source, target=term.target, outcome="kept", form=term.target) for term in copied)
    return replace(task, terms=(*task.terms, *uses)) if copied else task


def _num_missed(uses: Sequence[TermUse]) -> int:
    return sum(use.outcome == "missed" for use in uses)


def _forced(before: TermUse, after: TermUse) -> TermUse:
    """The use of a term, which the search was made to write where the first translation had missed it."""
    is_new = before.outcome == "missed" and after.outcome != "missed"
    return replace(after, outcome="forced") if is_new else after
