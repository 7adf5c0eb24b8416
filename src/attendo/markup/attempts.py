"""Translation of sentences with retries: what a translation has lost is tried again, or reported.

A sentence is first read with a symbol for each thing (`text.subwords.placeholders`), which a vocabulary may have. A
translation that has not each of them once gives way to one of the sentence with its things as they are written; and if
that has not all of them either, to those of the stretches between the things, where nothing can be lost. Numbers are
left to the model, and made things where it has not kept them. Terms of a glossary are looked for by the search in any
of their forms (`decoding.lines.term_retries`); what it could not use is made a thing in the last resort, and said.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from attendo.decoding.constraints.line_constraints import Constraints
from attendo.decoding.constraints.terminology import TermUse, missed_message
from attendo.decoding.guards.comparison import LOST_NUMBERS, target_form
from attendo.decoding.guards.verbatim import verbatim
from attendo.markup.content import STAND_IN
from attendo.markup.corrected import corrected_sentence
from attendo.markup.entities import Spelling
from attendo.markup.protection import copied_problems, lost_emoji, lost_numbers, missing_things, numbers_of
from attendo.markup.rendering import Rendered, has_all_symbols, rendered
from attendo.markup.sentences import (
    SYMBOL,
    Reading,
    Sentence,
    reading_as_it_is,
    reading_of,
    shorter_sentences,
    stretches_between_things,
    symbols_in,
    with_numbers,
    with_terms,
)
from attendo.markup.splitting import MAX_THINGS
from attendo.markup.text_types import Alternative, Confidence, TextRequest, TranslatedLine, TranslateLines
from attendo.markup.together import gathered

_AT_A_TIME = 16
_SHORTER = 200
"""Characters of the pieces of a sentence that has more tokens than the model reads."""

_RelativeLinks = tuple[tuple[tuple[int, int], tuple[int, int]], ...]


@dataclass(frozen=True, slots=True)
class Made:
    """The result for a sentence."""

    text: str
    """Its translation."""
    links: _RelativeLinks = ()
    """Stretches of the source and of the translation whose words belong together."""
    confidence: float | None = None
    """Confidence between 0 and 1; None if it is unknown."""
    score: float = 0.0
    """Log-probability over the length penalty."""
    log_prob: float = 0.0
    """Log-probability of the translation."""
    alternatives: tuple[Alternative, ...] = ()
    """The next best."""
    problems: tuple[str, ...] = ()
    """Descriptions of what could not be kept."""
    terms: tuple[TermUse, ...] = ()
    """Outcomes of the glossary's terms."""
    is_corrected: bool = False
    """Whether it is a correction by a person."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A translation and what it lacks."""

    made: Made
    things: tuple[str, ...]
    """Protected text that is missing."""
    numbers: tuple[str, ...]
    """Numbers that are missing."""
    truncated: bool
    """Whether the model has not read all."""

    @property
    def is_lacking(self) -> bool:
        """Whether there is something to mend."""
        return bool(self.things or self.numbers or self.truncated or self.missed)

    @property
    def missed(self) -> list[str]:
        """The terms that the translation does not use, as the glossary has them."""
        return [use.source for use in self.made.terms if use.outcome == "missed"]


class Attempts:
    """Translates sentences of a text.

    Args:
        request: the text, its languages and glossary.
        spelling: how its characters are written.
        translate: what translates lines.
        confidence: how sure a translation is.
        known: corrections of sentences, as `corrected.corrections_of` gives them.
    """

    def __init__(
        self,
        request: TextRequest,
        spelling: Spelling,
        translate: TranslateLines,
        confidence: Confidence,
        known: Mapping[str, str],
    ) -> None:
        self._request, self._spelling, self._translate, self._confidence = request, spelling, translate, confidence
        self._known = known
        self._languages = request.source_language, request.target_language

    async def made(self, sentences: Sequence[Sentence]) -> list[Made]:
        """Translates sentences, all of them together, and mends those that lack something.

        Returns:
            One a sentence, in their order.

        Raises:
            ServingError: whatever `translate` raises.
        """
        corrected = [self._corrected(each) for each in sentences]
        wordy = [each for each, its in zip(sentences, corrected, strict=True) if its is None and each.has_words]
        attempts = await self._attempted(wordy, [reading_of(each) for each in wordy])
        made = [attempt.made for attempt in attempts]
        lacking = [place for place, attempt in enumerate(attempts) if attempt.is_lacking]
        mended = await gathered([self._mended(wordy[place], attempts[place]) for place in lacking])
        for place, each in zip(lacking, mended, strict=True):
            made[place] = each
        remaining = iter(made)
        return [
            its or (next(remaining) if each.has_words else self._without_words(each))
            for each, its in zip(sentences, corrected, strict=True)
        ]

    def _corrected(self, sentence: Sentence) -> Made | None:
        """A sentence's correction; None where it has none."""
        text = corrected_sentence(sentence, self._request, self._spelling, self._known)
        return None if text is None else Made(text=text, terms=self._uses(sentence, text, ()), is_corrected=True)

    async def _attempted(
        self,
        sentences: Sequence[Sentence],
        readings: Sequence[Reading],
        constraints: Sequence[Constraints] | None = None,
    ) -> list[_Attempt]:
        """Translates readings; those with tags, or all if that is asked for, are aligned."""
        aligned = [self._request.alignment or any(mark.kind != "space" for mark in each.marks) for each in readings]
        constraints = self._with_own_terms(sentences, constraints)
        lines: dict[int, TranslatedLine] = {}

        async def translate(with_alignment: bool) -> None:
            places = [place for place, its in enumerate(aligned) if its is with_alignment]
            if places:
                texts = [readings[place].text for place in places]
                its_constraints = [constraints[place] for place in places] if constraints is not None else None
                found = await self._translate(texts, its_constraints, alignment=with_alignment)
                lines.update(zip(places, found, strict=True))

        await gathered([translate(True), translate(False)])
        attempts = []
        for place, (sentence, reading) in enumerate(zip(sentences, readings, strict=True)):
            if place % _AT_A_TIME == _AT_A_TIME - 1:
                await asyncio.sleep(0)  # others are answered meanwhile
            attempts.append(self._looked_at(sentence, reading, lines[place]))
        return attempts

    def _with_own_terms(
        self, sentences: Sequence[Sentence], constraints: Sequence[Constraints] | None
    ) -> Sequence[Constraints] | None:
        """Constraints by which sentences use the terms of the glossary; None where there are none at all."""
        glossary = self._request.glossary
        if glossary is None or not any(glossary.occurrences(each.content.text) for each in sentences):
            return constraints
        return [replace(each, terms=glossary) for each in constraints or [Constraints()] * len(sentences)]

    # --- one sentence -------------------------------------------------------------------------------------------------

    async def _mended(self, sentence: Sentence, first: _Attempt) -> Made:
        """Gives a sentence's translation that keeps everything, or the best one and what it lacks."""
        if first.truncated:
            return await self._in_pieces(sentence, shorter_sentences(sentence, _SHORTER, self._spelling), ())
        if first.things and not sentence.content.things:
            return await self._without_symbols(sentence, first)
        found = first
        if first.things:
            found = await self._with_things_as_they_are(sentence, first)
            if found.things:
                pieces = stretches_between_things(sentence, self._spelling)
                names = ", ".join(found.things)
                return await self._in_pieces(
                    sentence, pieces, (f"translated in pieces, so that they are kept: {names}",)
                )
        if found.numbers and not found.things:
            found = await self._with_numbers(sentence, found)
        if found.missed and not found.things:
            found = await self._with_terms(sentence, found)
        problems = found.made.problems
        message = missed_message(found.made.terms)
        if message is not None and message not in problems:
            problems = (*problems, message)
        if found.numbers and not any(each.startswith(LOST_NUMBERS) for each in problems):
            problems = (*problems, f"{LOST_NUMBERS}{', '.join(found.numbers)}")
        return replace(found.made, problems=problems)

    async def _without_symbols(self, sentence: Sentence, first: _Attempt) -> Made:
        """A sentence without things, in whose translation the model wrote symbols for some; else left as it is."""
        invented = Constraints(forbidden_words=tuple(dict.fromkeys(symbols_in(first.made.text))))
        [attempt] = await self._attempted([sentence], [reading_of(sentence)], [invented])
        if not attempt.things:
            return attempt.made
        problem = "the model writes placeholders that the source has not; the sentence is left as it was"
        return Made(text=self._request.text[sentence.start : sentence.end], problems=(problem,))

    async def _with_things_as_they_are(self, sentence: Sentence, first: _Attempt) -> _Attempt:
        if any("<" in thing.source for thing in sentence.content.things):
            return first
        [attempt] = await self._attempted([sentence], [reading_as_it_is(sentence)])
        return attempt

    async def _with_numbers(self, sentence: Sentence, found: _Attempt) -> _Attempt:
        """Retries with the lost numbers as placeholders, then with all numbers; gives what keeps most."""
        for numbers in (found.numbers, None):
            numbered = with_numbers(sentence, numbers, self._languages)
            if len(numbered.content.things) > MAX_THINGS:
                continue
            [attempt] = await self._attempted([numbered], [reading_of(numbered)])
            # What stands beside a number that was put back may have made another of it.
            lost = tuple(lost_numbers(sentence.content.text, attempt.made.text, self._languages))
            if not attempt.things and not attempt.truncated and len(lost) < len(found.numbers):
                found = replace(attempt, numbers=lost)
            if not found.numbers:
                break
        return found

    async def _with_terms(self, sentence: Sentence, found: _Attempt) -> _Attempt:
        """Retries with terms as placeholders that the search could not use; they get the glossary's translations."""
        glossary = self._request.glossary
        assert glossary is not None, "without one no term is missed"
        replaced = with_terms(sentence, glossary, frozenset(found.missed))
        if replaced is not sentence and len(replaced.content.things) <= MAX_THINGS:
            [attempt] = await self._attempted([replaced], [reading_of(replaced)])
            uses = self._uses(sentence, attempt.made.text, ())
            missed = {use.source for use in uses if use.outcome == "missed"}
            placed = [use for use in uses if use.source in found.missed and use.source not in missed]
            if placed and not attempt.things and not attempt.truncated and missed.issubset(found.missed):
                problem = f"terms put in uninflected, which may not fit: {', '.join(map(str, placed))}"
                terms = tuple(replace(use, outcome="forced") if use in placed else use for use in uses)
                made = replace(attempt.made, terms=terms, problems=(*attempt.made.problems, problem))
                found = replace(attempt, made=made)
        return found

    async def _in_pieces(self, sentence: Sentence, pieces: Sequence[Sentence], problems: tuple[str, ...]) -> Made:
        """Translates the pieces of a sentence separately; what is between them stays unchanged."""
        made = await self.made(pieces)
        texts, links, length, position = [], list[tuple[tuple[int, int], tuple[int, int]]](), 0, sentence.start
        for piece, its in zip(pieces, made, strict=True):
            between = self._request.text[position : piece.start]
            start = length + len(between)
            texts += [between, its.text]
            links += [(here, (there[0] + start, there[1] + start)) for here, there in its.links]
            length, position = start + len(its.text), piece.end
        texts.append(self._request.text[position : sentence.end])
        sure = [each.confidence for each in made if each.confidence is not None]
        return Made(
            text="".join(texts),
            links=tuple(links),
            confidence=min(sure, default=None),
            score=sum(each.score for each in made) / max(1, len(made)),
            log_prob=sum(each.log_prob for each in made),
            problems=(*problems, *(problem for each in made for problem in each.problems)),
            terms=tuple(use for each in made for use in each.terms),
        )

    def _without_words(self, sentence: Sentence) -> Made:
        """Digits and marks, which no model is needed for."""
        source, text = sentence.content.text, self._request.text[sentence.start : sentence.end]
        numbers = numbers_of(text, self._languages[0])
        if len(numbers) != 1 or STAND_IN in source or len(text) > 40:
            return Made(text=text)
        [number] = numbers
        return Made(text=text[: number.start] + target_form(number, text, self._languages) + text[number.end :])

    # --- looking at what came -----------------------------------------------------------------------------------------

    def _looked_at(self, sentence: Sentence, reading: Reading, line: TranslatedLine) -> _Attempt:
        translation = line.translation
        alignments = line.alignments or (None,) * len(translation.n_best)
        # A translation may be empty; the line's alignment is then of no candidate.
        possible = [
            (candidate, alignment)
            for candidate, alignment in zip(translation.n_best, alignments, strict=False)
            if has_all_symbols(reading, candidate.text)
        ]
        best = translation.n_best[0]
        if not possible or possible[0][0] is not best:
            names = tuple(thing.name for symbol, thing in reading.symbols if best.text.count(symbol) != 1)
            lost = names or tuple(thing.name for _, thing in reading.symbols) or ("\u27e6",)
            made = Made(text=best.text, terms=self._uses(sentence, best.text, translation.terms))
            return _Attempt(made, lost, (), translation.source_truncated)
        texts: list[Rendered] = [
            rendered(sentence, reading, translation, candidate, alignment, self._spelling)
            for candidate, alignment in possible
        ]
        alternatives: dict[str, Alternative] = {}
        for (candidate, _), each in zip(possible[1:], texts[1:], strict=True):
            sure = self._confidence(translation, candidate)
            alternatives.setdefault(each.text, Alternative(text=each.text, score=candidate.score, confidence=sure))
        alternatives.pop(texts[0].text, None)
        numbers, problems = self._numbers_and_problems(sentence, reading, best.text)
        if "verbatim" in translation.guards:
            source = translation.source
            problems += copied_problems([source[each.start : each.end] for each in verbatim(source)])
        problems += translation.problems
        made = Made(
            text=texts[0].text,
            links=texts[0].links if self._request.alignment else (),
            confidence=self._confidence(translation, best),
            score=best.score,
            log_prob=best.log_prob,
            alternatives=tuple(alternatives.values()),
            problems=(*texts[0].problems, *problems),
            terms=self._uses(sentence, texts[0].text, translation.terms),
        )
        things = [] if reading.symbols else missing_things([each.source for each in sentence.content.things], made.text)
        return _Attempt(made, tuple(things), tuple(numbers), translation.source_truncated)

    def _numbers_and_problems(self, sentence: Sentence, reading: Reading, written: str) -> tuple[list[str], list[str]]:
        source, target = sentence.content.text, SYMBOL.sub("", written)
        if not reading.symbols and STAND_IN in source:  # things as they are written may have numbers
            source, target = reading.text, written
        numbers = lost_numbers(source, target, self._languages)
        pictures = lost_emoji(source, target)
        return numbers, [f"symbols that the translation has not: {' '.join(pictures)}"] if pictures else []

    def _uses(self, sentence: Sentence, text: str, searched: Sequence[TermUse]) -> tuple[TermUse, ...]:
        """Gives the outcomes of a sentence's terms.

        Args:
            sentence: the source.
            text: its translation.
            searched: what the search says of them.
        """
        if self._request.glossary is None:
            return ()
        forced = {use.source for use in searched if use.outcome == "forced"}
        uses = (term.use_in(text) for term in self._request.glossary.required(sentence.content.text))
        return tuple(
            replace(use, outcome="forced") if use.source in forced and use.outcome != "missed" else use for use in uses
        )
