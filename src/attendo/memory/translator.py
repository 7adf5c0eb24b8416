"""A translator with a translation memory: it reuses those of identical texts, similar ones guide the search."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from attendo.decoding.backends.models import DecodingModel
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.frames import Frame
from attendo.decoding.constraints.line_constraints import Constraints
from attendo.decoding.constraints.words import Subwords
from attendo.decoding.guards.content import num_faults, problems
from attendo.decoding.lines.tasks import NumberedLine, numbered_lines
from attendo.decoding.lines.translation import Candidate, Counts, MemoryMatch, Translation
from attendo.decoding.lines.translator import Translator
from attendo.decoding.scoring import PairScore
from attendo.decoding.searches.hypothesis import length_penalty
from attendo.decoding.watch import BetweenSteps
from attendo.errors import DataError
from attendo.memory.lookup import NOWHERE, Memory, Surroundings
from attendo.memory.similar import frame_of
from attendo.memory.texts import without_marks

_MARGIN = 0.5
"""Maximum deficit, in mean log-probability per token, of a translation against that of the similar text."""
_BEAM_SIZE = 8


@dataclass(frozen=True, kw_only=True)
class _Similar:
    """A line that has a similar text in the memory."""

    place: int
    """The index of the line among those that are translated together."""
    line: NumberedLine
    match: MemoryMatch
    translation: Translation
    """The ordinary translation, without the memory."""

    @property
    def known(self) -> tuple[str, str]:
        """The similar text and its translation, without marks for codes."""
        return without_marks(self.match.source), without_marks(self.match.target)


class MemoryTranslator(Translator):
    """A translator that looks each line up in a translation memory first.

    Lines with constraints other than terms are translated without the memory. If several translations are requested, or
    sampling, similar texts are not used.

    Args:
        memory: the translation memory.
        models: the models, as for `Translator`.
        source_tokenizer: the tokenizer of the source language.
        target_tokenizer: the tokenizer of the target language.
        config: the search settings.
        languages: source and target, as for `Translator`.
        options: further keyword arguments of `Translator`.
    """

    def __init__(
        self,
        memory: Memory,
        models: Sequence[DecodingModel],
        source_tokenizer: Subwords,
        target_tokenizer: Subwords,
        config: SearchConfig,
        *,
        languages: tuple[str, str],
        **options: Any,
    ) -> None:
        super().__init__(models, source_tokenizer, target_tokenizer, config, languages=languages, **options)
        self._memory, self._languages = memory, languages
        self._can_be_guided = config.n_best == 1 and not config.sampling
        wide = replace(config, beam_size=max(_BEAM_SIZE, config.beam_size), beam_groups=1, n_best=_BEAM_SIZE)
        self._wide = Translator(
            models,
            source_tokenizer,
            target_tokenizer,
            wide if self._can_be_guided else config,
            languages=languages,
            **{**options, "counts": Counts()},
        )

    def translate_constrained(self, lines: Sequence[tuple[str, Constraints]], *, first: int = 1) -> list[Translation]:
        """Translates lines as `Translator.translate_constrained` does, but takes those found in the memory from it."""
        matches = [
            self._match(line, constraints, Surroundings(before=lines[place - 1][0] if place else None))
            for place, (line, constraints) in enumerate(lines)
        ]
        numbered = numbered_lines(lines, self._between_steps, first, cancellable=False)
        return [found for found in self._remembered(numbered, matches) if found is not None]

    def translate_watched(
        self, lines: Sequence[tuple[str, Constraints]], between_steps: BetweenSteps, *, first: int = 1
    ) -> list[Translation | None]:
        """Translates lines as `Translator.translate_watched` does, but takes those found in the memory from it.

        The preceding line may belong to another request, so it does not count as context.
        """
        matches = [self._match(line, constraints, NOWHERE) for line, constraints in lines]
        return self._remembered(numbered_lines(lines, between_steps, first, cancellable=True), matches)

    def _match(self, line: str, constraints: Constraints, surroundings: Surroundings) -> MemoryMatch | None:
        if constraints.limits_search:
            return None
        text = line.rstrip("\r\n")
        return self._memory.match(text, surroundings) if self._can_be_guided else self._memory.exact(text, surroundings)

    def _remembered(
        self, lines: Sequence[NumberedLine], matches: Sequence[MemoryMatch | None]
    ) -> list[Translation | None]:
        """Translates lines for which the memory has these matches; None for a cancelled line."""
        others = [line for line, match in zip(lines, matches, strict=True) if match is None or not match.text]
        searched = iter(self._search.translate(others) if others else ())
        result, similar = list[Translation | None](), list[_Similar]()
        for line, match in zip(lines, matches, strict=True):
            if match is not None and match.text:
                result.append(self._taken(line.text, match))
                continue
            translation = next(searched)
            result.append(translation)
            if match is not None and translation is not None:
                similar.append(_Similar(place=len(result) - 1, line=line, match=match, translation=translation))
        for place, guided in self._guided(similar).items():
            result[place] = guided
        return result

    def _taken(self, line: str, match: MemoryMatch) -> Translation:
        """A line's translation as the memory has it."""
        text = match.text.replace("\r", " ").replace("\n", " ")
        [ids] = self._target_tokenizer.encode_batch([text])
        candidate = Candidate(
            text=text,
            ids=tuple(ids[:-1]),
            pieces=tuple(self._target_tokenizer.pieces(ids)),
            log_prob=0.0,
            score=0.0,
            token_log_probs=(),
            finished=True,
        )
        found = Translation(
            source=line,
            text=text,
            score=0.0,
            log_prob=0.0,
            n_best=(candidate,),
            read=line.rstrip("\r\n"),
            match=match,
        )
        self.counts.add(found, 0)
        self.counts.matches[match.kind] += 1
        return found

    def _guided(self, similar: Sequence[_Similar]) -> dict[int, Translation]:
        """Translates lines that have similar texts; among several translations, the closest to these is chosen.

        Returns:
            The translations by the lines' indices, except for lines whose ordinary translation is better.
        """
        framed = [(line, frame) for line in similar if (frame := self._frame(line)) is not None]
        lines = [
            replace(line.line, text=_text(line.translation), constraints=replace(line.line.constraints, frame=frame))
            for line, frame in framed
        ]
        result = {}
        for (line, _), found in zip(framed, self._widely(lines), strict=True):
            texts = [] if found is None else [each.text for each in found.n_best if each.finished]
            chosen = self._best(line, texts)
            if chosen is not None:
                result[line.place] = replace(chosen, match=line.match)
                self.counts.matches["fuzzy"] += 1
        return result

    def _frame(self, one: _Similar) -> Frame | None:
        """A line's frame from a similar text's translation; one at a time, since an alignment cannot be interrupted."""
        one.line.between_steps()
        [alignment] = self.align([one.known])
        return frame_of(_text(one.translation), alignment)

    def _widely(self, lines: Sequence[NumberedLine]) -> list[Translation | None]:
        """Several translations of each line; None if its constraints cannot be met, or for a cancelled line."""
        if not lines:
            return []
        try:
            return self._wide.translate_numbered(lines)
        except DataError:  # in one of them: a stretch that the vocabulary cannot spell, or a frame that is too long
            if len(lines) == 1:
                return [None]
            return [found for line in lines for found in self._widely([line])]

    def _best(self, one: _Similar, texts: Sequence[str]) -> Translation | None:
        """The best of the translations that follow a frame; None if it is worse than the ordinary one.

        It is not worse if the model finds it about as probable as the similar text's own translation, which a person
        has written: a model can judge no better about text that it was not trained on.

        Args:
            one: the line, with its ordinary translation and the similar text.
            texts: the translations that follow a frame.
        """
        translation, source = one.translation, _text(one.translation)
        most = num_faults(source, translation.text, self._languages)
        texts = [text for text in texts if num_faults(source, text, self._languages) <= most]
        if not texts:
            return None
        pairs = [one.known, (source, translation.text), *((source, text) for text in texts)]
        scores = self.score_pairs(pairs, between=one.line.between_steps)
        values = [score.log_prob / len(score.token_log_probs) for score in scores]
        best = max(range(2, len(values)), key=values.__getitem__)
        if values[best] < min(values[0] - _MARGIN, values[1]):
            return None
        return self._written(translation, texts[best - 2], scores[best])

    def _written(self, before: Translation, text: str, score: PairScore) -> Translation:
        """A translation with another text."""
        [ids] = self._target_tokenizer.encode_batch([text])
        source = _text(before)
        candidate = Candidate(
            text=text,
            ids=tuple(ids[:-1]),
            pieces=tuple(self._target_tokenizer.pieces(ids)),
            log_prob=score.log_prob,
            score=score.log_prob / length_penalty(len(score.token_log_probs), self.config.length_penalty),
            token_log_probs=score.token_log_probs,
            finished=True,
        )
        return Translation(
            source=before.source,
            text=text,
            score=candidate.score,
            log_prob=candidate.log_prob,
            n_best=(candidate,),
            source_truncated=before.source_truncated,
            problems=problems(source, text, self._languages) if self.config.guards.values else (),
            read=source,
        )


def _text(translation: Translation) -> str:
    """The line of a translation, without its end."""
    return translation.source.rstrip("\r\n")
