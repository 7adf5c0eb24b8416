"""Joins the translations of a line's parts, and restores the text taken out of the parts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from attendo.decoding.config import GuardConfig, GuardName
from attendo.decoding.constraints.terminology import missed_message
from attendo.decoding.constraints.words import Subwords
from attendo.decoding.guards.casing import with_first_capital, with_source_capitals
from attendo.decoding.guards.comparison import with_usual_hours
from attendo.decoding.guards.completeness import length_problem
from attendo.decoding.guards.content import problems
from attendo.decoding.guards.parts import Part, Reading
from attendo.decoding.guards.quotes import with_matching_quotes
from attendo.decoding.guards.words import word_numbers
from attendo.decoding.lines.tasks import NumberedLine, Task
from attendo.decoding.lines.translation import Candidate, Translation
from attendo.decoding.searches.hypothesis import Hypothesis, length_penalty
from attendo.text.subwords.tokenization import EOS_ID

NOTHING = Candidate(text="", ids=(), pieces=(), log_prob=0.0, score=0.0, token_log_probs=(), finished=True)
"""The translation of a part that the model has not read."""
_ORDER: tuple[GuardName, ...] = get_args(GuardName)


def candidates(hypotheses: Sequence[Hypothesis], tokenizer: Subwords) -> tuple[Candidate, ...]:
    """Hypotheses of a part as text."""
    return tuple(
        Candidate(
            text=tokenizer.decode(hypothesis.ids),
            pieces=tuple(tokenizer.pieces([*hypothesis.ids, EOS_ID])),
            **vars(hypothesis),
        )
        for hypothesis in hypotheses
    )


def restored(line: NumberedLine, reading: Reading, tasks: Sequence[Task | None], alpha: float) -> Translation:
    """A line's translation.

    Args:
        line: the line.
        reading: the line as the model read it.
        tasks: one for each part, with candidates; None for a part that was not searched.
        alpha: the exponent of the length penalty.
    """
    parts = [part if task is None else task.part for part, task in zip(reading.parts, tasks, strict=True)]
    names = {name for part in parts for name in part.guards} | set(reading.guards)
    names |= {name for task in tasks if task is not None for name in task.guards}
    if reading.is_plain and parts == list(reading.parts):
        n_best = (tasks[0].candidates if tasks[0] is not None else ()) or (NOTHING,)
        words = None
    elif len(parts) == 1:
        written = (tasks[0].candidates if tasks[0] is not None else ()) or (NOTHING,)
        n_best = tuple(_put_together(parts, [candidate], alpha) for candidate in written)
        words = word_numbers(parts[0].source_segments())
    else:
        best = [task.candidates[0] if task is not None else NOTHING for task in tasks]
        n_best = (_put_together(parts, best, alpha),)
        words = word_numbers([segment for part in parts for segment in part.source_segments()])
    return Translation(
        source=line.text,
        text=n_best[0].text,
        score=n_best[0].score,
        log_prob=n_best[0].log_prob,
        n_best=n_best,
        source_truncated=any(task is not None and task.cut for task in tasks),
        guards=tuple(name for name in _ORDER if name in names),
        read="".join(part.space + part.read for part in parts),
        words=words,
    )


def written_well(translation: Translation, guards: GuardConfig, languages: tuple[str, str]) -> Translation:
    """A translation with its source's capitals, its language's hours and matching quotation marks.

    Its words stay in place.

    Args:
        translation: the translation of a line.
        guards: the active guards.
        languages: source and target, as ISO 639-1 codes; empty where not known.
    """
    source, acted = translation.source.rstrip("\r\n"), set[GuardName]()

    def well(text: str) -> str:
        first = text
        if guards.casing:
            first = with_source_capitals(source, with_first_capital(source, text, languages[0]))
        timed = with_usual_hours(first, languages[1]) if guards.values else first
        found = with_matching_quotes(source, timed, languages[1]) if guards.quotes else timed
        acted.update(
            ["casing"] if first != text else [],
            ["values"] if timed != first else [],
            ["quotes"] if found != timed else [],
        )
        return found

    texts = [well(candidate.text) for candidate in translation.n_best]
    if not acted:
        return translation
    return replace(
        translation,
        text=texts[0],
        n_best=tuple(
            replace(each, text=text, words=each.words or word_numbers([(each.text, text)]))
            for text, each in zip(texts, translation.n_best, strict=True)
        ),
        guards=tuple(name for name in _ORDER if name in {*translation.guards, *acted}),
        words=translation.words or word_numbers([(source, source)]),
    )


def with_problems(translation: Translation, tasks: Sequence[Task | None], languages: tuple[str, str]) -> Translation:
    """A translation with `Translation.problems`.

    Args:
        translation: the translation of a line.
        tasks: the tasks of its parts.
        languages: source and target, as ISO 639-1 codes; empty where not known.
    """
    source, text = translation.source.rstrip("\r\n"), translation.text
    found = problems(source, text, languages)
    if omitted := [task.omitted for task in tasks if task is not None and task.omitted]:
        found = (*found, *(f"nothing in the translation corresponds to {words!r}" for words in omitted))
    elif (length := length_problem(source, text, languages)) is not None:
        found = (*found, length)
    return replace(translation, problems=found) if found else translation


def with_terms(translation: Translation, tasks: Sequence[Task | None]) -> Translation:
    """A translation with `Translation.terms` filled in, and missed terms added to its problems.

    Args:
        translation: the translation of a line.
        tasks: the tasks of its parts.
    """
    uses = tuple(use for task in tasks if task is not None for use in task.terms)
    message = missed_message(uses)
    problems = (*translation.problems, message) if message is not None else translation.problems
    return replace(translation, terms=uses, problems=problems) if uses else translation


def _put_together(parts: Sequence[Part], candidates: Sequence[Candidate], alpha: float) -> Candidate:
    """Joins the parts' translations, with the text taken out of them."""
    segments = [
        segment
        for part, candidate in zip(parts, candidates, strict=True)
        for segment in part.target_segments(candidate.text)
    ]
    ids = tuple(token for candidate in candidates for token in candidate.ids)
    log_probs = tuple(log_prob for candidate in candidates for log_prob in candidate.token_log_probs)
    log_prob = sum(candidate.log_prob for candidate in candidates)
    return Candidate(
        text="".join(text for _, text in segments),
        ids=ids,
        pieces=tuple(piece for candidate in candidates for piece in candidate.pieces),
        log_prob=log_prob,
        score=log_prob / length_penalty(max(1, len(log_probs)), alpha),
        token_log_probs=log_probs,
        finished=all(candidate.finished for candidate in candidates),
        words=word_numbers(segments),
    )
