"""Translation of sentences with retries: a translation that has lost something is repeated, or the loss is reported.

A sentence is first read with a placeholder for each protected text (`text.subwords.placeholders`), if the vocabulary
has placeholders. If its translation does not have each of them exactly once, the sentence is translated with the
protected text as it is written; and if that loses some too, the stretches between protected texts are translated by
themselves, where nothing can be lost. Numbers are left to the model; those that it loses are protected in a retry. The
search uses terms of a glossary in any of their forms (`decoding.lines.term_retries`); those that it could not use are
put in as placeholders in the last resort, which is reported.
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
from attendo.markup.protection import copied_problems, lost_emoji, lost_numbers, missing_protected, numbers_of
from attendo.markup.rendering import RenderedSentence, has_all_symbols, rendered
from attendo.markup.sentences import (
    SYMBOL,
    Reading,
    Sentence,
    reading_as_it_is,
    reading_of,
    shorter_sentences,
    stretches_between_protected,
    symbols_in,
    with_numbers,
    with_terms,
)
from attendo.markup.splitting import MAX_PROTECTED
from attendo.markup.text_types import Alternative, Confidence, TextRequest, TranslatedLine, TranslateLines
from attendo.markup.together import gathered

_AT_A_TIME = 16
_SHORTER = 200
"""Characters of the pieces of a sentence that has more tokens than the model reads."""

_RelativeLinks = tuple[tuple[tuple[int, int], tuple[int, int]], ...]


@dataclass(frozen=True, slots=True)
class SentenceTranslation:
    """A sentence's translation, with a report of lost content."""

    text: str
    """The text of the translation."""
    links: _RelativeLinks = ()
    """Pairs of stretches of the source and of the translation whose words correspond."""
    confidence: float | None = None
    """Confidence between 0 and 1; None if it is unknown."""
    score: float = 0.0
    """Log-probability over the length penalty."""
    log_prob: float = 0.0
    """Log-probability of the translation."""
    alternatives: tuple[Alternative, ...] = ()
    """The next best translations."""
    problems: tuple[str, ...] = ()
    """Descriptions of content that could not be kept."""
    terms: tuple[TermUse, ...] = ()
    """Outcomes of the glossary's terms."""
    is_corrected: bool = False
    """Whether it is a correction by a person."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """A translation and the content that it lacks."""

    translation: SentenceTranslation
    missing: tuple[str, ...]
    """Protected text that is missing."""
    numbers: tuple[str, ...]
    """Numbers that are missing."""
    truncated: bool
    """Whether the model has read only the beginning of the sentence."""

    @property
    def is_lacking(self) -> bool:
        """Whether the translation lacks something, so that a retry is worthwhile."""
        return bool(self.missing or self.numbers or self.truncated or self.missed)

    @property
    def missed(self) -> list[str]:
        """The terms that the translation does not use, as the glossary has them."""
        return [use.source for use in self.translation.terms if use.outcome == "missed"]


class SentenceTranslator:
    """Translates sentences of a text.

    Args:
        request: the text, its languages and glossary.
        spelling: the spelling of characters in the text.
        translate: translates lines.
        confidence: computes the confidence of a translation.
        known: corrections of sentences, from `corrected.corrections_of`.
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

    async def translate(self, sentences: Sequence[Sentence]) -> list[SentenceTranslation]:
        """Translates sentences, all of them together, and repeats those whose translation lacks something.

        Returns:
            A translation for each sentence, in order.

        Raises:
            ServingError: any error of `translate`.
        """
        corrected = [self._corrected(each) for each in sentences]
        wordy = [each for each, its in zip(sentences, corrected, strict=True) if its is None and each.has_words]
        drafts = await self._drafted(wordy, [reading_of(each) for each in wordy])
        translations = [draft.translation for draft in drafts]
        lacking = [place for place, draft in enumerate(drafts) if draft.is_lacking]
        retried = await gathered([self._retried(wordy[place], drafts[place]) for place in lacking])
        for place, translation in zip(lacking, retried, strict=True):
            translations[place] = translation
        remaining = iter(translations)
        return [
            its or (next(remaining) if each.has_words else self._without_words(each))
            for each, its in zip(sentences, corrected, strict=True)
        ]

    def _corrected(self, sentence: Sentence) -> SentenceTranslation | None:
        """Returns a person's correction of a sentence; None if there is none."""
        text = corrected_sentence(sentence, self._request, self._spelling, self._known)
        if text is None:
            return None
        return SentenceTranslation(text=text, terms=self._uses(sentence, text, ()), is_corrected=True)

    async def _drafted(
        self,
        sentences: Sequence[Sentence],
        readings: Sequence[Reading],
        constraints: Sequence[Constraints] | None = None,
    ) -> list[_Draft]:
        """Translates readings; those with tags are aligned, or all if alignments are requested."""
        aligned = [self._request.alignment or any(mark.kind != "space" for mark in each.marks) for each in readings]
        constraints = self._with_own_terms(sentences, constraints)
        lines: dict[int, TranslatedLine] = {}

        async def translate(with_alignment: bool) -> None:
            places = [place for place, its in enumerate(aligned) if its is with_alignment]
            texts = [readings[place].text for place in places]
            its_constraints = [constraints[place] for place in places] if constraints is not None else None
            translated = await self._translate(texts, its_constraints, alignment=with_alignment)
            lines.update(zip(places, translated, strict=True))

        await gathered([translate(with_alignment) for with_alignment in sorted(set(aligned))])
        drafts = []
        for place, (sentence, reading) in enumerate(zip(sentences, readings, strict=True)):
            if place % _AT_A_TIME == _AT_A_TIME - 1:
                await asyncio.sleep(0)  # others are answered meanwhile
            drafts.append(self._checked(sentence, reading, lines[place]))
        return drafts

    def _with_own_terms(
        self, sentences: Sequence[Sentence], constraints: Sequence[Constraints] | None
    ) -> Sequence[Constraints] | None:
        """Adds the glossary to the constraints of sentences; None if there are neither constraints nor terms."""
        glossary = self._request.glossary
        if glossary is None or not any(glossary.occurrences(each.content.text) for each in sentences):
            return constraints
        return [replace(each, terms=glossary) for each in constraints or [Constraints()] * len(sentences)]

    # --- one sentence -------------------------------------------------------------------------------------------------

    async def _retried(self, sentence: Sentence, first: _Draft) -> SentenceTranslation:
        """Returns a translation that keeps everything, or the best one with a report of what it lacks."""
        if first.truncated:
            return await self._in_pieces(sentence, shorter_sentences(sentence, _SHORTER, self._spelling), ())
        if first.missing and not sentence.content.protected:
            return await self._without_symbols(sentence, first)
        best = first
        if first.missing:
            best = await self._with_protected_as_written(sentence, first)
            if best.missing:
                pieces = stretches_between_protected(sentence, self._spelling)
                names = ", ".join(best.missing)
                return await self._in_pieces(
                    sentence, pieces, (f"translated in pieces, so that they are kept: {names}",)
                )
        if best.numbers and not best.missing:
            best = await self._with_numbers(sentence, best)
        if best.missed and not best.missing:
            best = await self._with_terms(sentence, best)
        problems = best.translation.problems
        message = missed_message(best.translation.terms)
        if message is not None and message not in problems:
            problems = (*problems, message)
        if best.numbers and not any(each.startswith(LOST_NUMBERS) for each in problems):
            problems = (*problems, f"{LOST_NUMBERS}{', '.join(best.numbers)}")
        return replace(best.translation, problems=problems)

    async def _without_symbols(self, sentence: Sentence, first: _Draft) -> SentenceTranslation:
        """Translates a sentence without protected text again if its translation has placeholders all the same."""
        invented = Constraints(forbidden_words=tuple(dict.fromkeys(symbols_in(first.translation.text))))
        [draft] = await self._drafted([sentence], [reading_of(sentence)], [invented])
        if not draft.missing:
            return draft.translation
        problem = "the model writes placeholders that the source has not; the sentence is left as it was"
        return SentenceTranslation(text=self._request.text[sentence.start : sentence.end], problems=(problem,))

    async def _with_protected_as_written(self, sentence: Sentence, first: _Draft) -> _Draft:
        if any("<" in protected.source for protected in sentence.content.protected):
            return first
        [draft] = await self._drafted([sentence], [reading_as_it_is(sentence)])
        return draft

    async def _with_numbers(self, sentence: Sentence, best: _Draft) -> _Draft:
        """Retries with the lost numbers as placeholders, then with all numbers; returns the best draft."""
        for numbers in (best.numbers, None):
            numbered = with_numbers(sentence, numbers, self._languages)
            if len(numbered.content.protected) > MAX_PROTECTED:
                continue
            [draft] = await self._drafted([numbered], [reading_of(numbered)])
            # Text beside a number that was put back may have changed it, as a further digit does.
            lost = tuple(lost_numbers(sentence.content.text, draft.translation.text, self._languages))
            if not draft.missing and not draft.truncated and len(lost) < len(best.numbers):
                best = replace(draft, numbers=lost)
            if not best.numbers:
                break
        return best

    async def _with_terms(self, sentence: Sentence, best: _Draft) -> _Draft:
        """Retries with terms as placeholders that the search could not use; they get the glossary's translations."""
        glossary = self._request.glossary
        assert glossary is not None, "without one no term is missed"
        replaced = with_terms(sentence, glossary, frozenset(best.missed))
        if replaced is not sentence and len(replaced.content.protected) <= MAX_PROTECTED:
            [draft] = await self._drafted([replaced], [reading_of(replaced)])
            uses = self._uses(sentence, draft.translation.text, ())
            missed = {use.source for use in uses if use.outcome == "missed"}
            placed = [use for use in uses if use.source in best.missed and use.source not in missed]
            if placed and not draft.missing and not draft.truncated and missed.issubset(best.missed):
                problem = f"terms put in uninflected, which may not fit: {', '.join(map(str, placed))}"
                terms = tuple(replace(use, outcome="forced") if use in placed else use for use in uses)
                translation = replace(draft.translation, terms=terms, problems=(*draft.translation.problems, problem))
                best = replace(draft, translation=translation)
        return best

    async def _in_pieces(
        self, sentence: Sentence, pieces: Sequence[Sentence], problems: tuple[str, ...]
    ) -> SentenceTranslation:
        """Translates the pieces of a sentence separately; the text between them stays unchanged."""
        translations = await self.translate(pieces)
        texts, links, length, position = [], list[tuple[tuple[int, int], tuple[int, int]]](), 0, sentence.start
        for piece, its in zip(pieces, translations, strict=True):
            between = self._request.text[position : piece.start]
            start = length + len(between)
            texts += [between, its.text]
            links += [
                (source_span, (target_span[0] + start, target_span[1] + start))
                for source_span, target_span in its.links
            ]
            length, position = start + len(its.text), piece.end
        texts.append(self._request.text[position : sentence.end])
        confidences = [each.confidence for each in translations if each.confidence is not None]
        return SentenceTranslation(
            text="".join(texts),
            links=tuple(links),
            confidence=min(confidences, default=None),
            score=sum(each.score for each in translations) / max(1, len(translations)),
            log_prob=sum(each.log_prob for each in translations),
            problems=(*problems, *(problem for each in translations for problem in each.problems)),
            terms=tuple(use for each in translations for use in each.terms),
        )

    def _without_words(self, sentence: Sentence) -> SentenceTranslation:
        """Translates a sentence of digits and punctuation alone, which needs no model."""
        source, text = sentence.content.text, self._request.text[sentence.start : sentence.end]
        numbers = numbers_of(text, self._languages[0])
        if len(numbers) != 1 or STAND_IN in source or len(text) > 40:
            return SentenceTranslation(text=text)
        [number] = numbers
        number_text = target_form(number, text, self._languages)
        return SentenceTranslation(text=text[: number.start] + number_text + text[number.end :])

    # --- checking a translation ---------------------------------------------------------------------------------------

    def _checked(self, sentence: Sentence, reading: Reading, line: TranslatedLine) -> _Draft:
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
            names = tuple(protected.name for symbol, protected in reading.symbols if best.text.count(symbol) != 1)
            lost = names or tuple(protected.name for _, protected in reading.symbols) or ("\u27e6",)
            unusable = SentenceTranslation(text=best.text, terms=self._uses(sentence, best.text, translation.terms))
            return _Draft(unusable, lost, (), translation.source_truncated)
        texts: list[RenderedSentence] = [
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
        usable = SentenceTranslation(
            text=texts[0].text,
            links=texts[0].links if self._request.alignment else (),
            confidence=self._confidence(translation, best),
            score=best.score,
            log_prob=best.log_prob,
            alternatives=tuple(alternatives.values()),
            problems=(*texts[0].problems, *problems),
            terms=self._uses(sentence, texts[0].text, translation.terms),
        )
        written = [] if reading.symbols else [protected.source for protected in sentence.content.protected]
        missing = missing_protected(written, usable.text)
        return _Draft(usable, tuple(missing), tuple(numbers), translation.source_truncated)

    def _numbers_and_problems(self, sentence: Sentence, reading: Reading, written: str) -> tuple[list[str], list[str]]:
        source, target = sentence.content.text, SYMBOL.sub("", written)
        if not reading.symbols and STAND_IN in source:  # protected text as it is written may have numbers
            source, target = reading.text, written
        numbers = lost_numbers(source, target, self._languages)
        pictures = lost_emoji(source, target)
        return numbers, [f"symbols that the translation has not: {' '.join(pictures)}"] if pictures else []

    def _uses(self, sentence: Sentence, text: str, searched: Sequence[TermUse]) -> tuple[TermUse, ...]:
        """Returns the outcomes of a sentence's terms.

        Args:
            sentence: the source.
            text: its translation.
            searched: the outcomes that the search has reported.
        """
        if self._request.glossary is None:
            return ()
        forced = {use.source for use in searched if use.outcome == "forced"}
        uses = (term.use_in(text) for term in self._request.glossary.required(sentence.content.text))
        return tuple(
            replace(use, outcome="forced") if use.source in forced and use.outcome != "missed" else use for use in uses
        )
