"""A translator with a translation memory: the same texts are taken from it, similar ones guide the search."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from attendo.decoding.backends.models import DecodingModel
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.line_constraints import Constraints
from attendo.decoding.constraints.words import Subwords
from attendo.decoding.guards.comparison import compared
from attendo.decoding.lines.translation import Candidate, Counts, MemoryMatch, Translation
from attendo.decoding.lines.translator import Translator, numbered_lines
from attendo.decoding.scoring import PairScore
from attendo.decoding.searches.hypothesis import length_penalty
from attendo.decoding.watch import BetweenSteps
from attendo.errors import DataError
from attendo.memory.lookup import Memory, Surroundings
from attendo.memory.similar import frame_of
from attendo.memory.texts import without_marks

_MARGIN = 0.5
"""So much less probable, as the logarithm of a token's probability, a translation may be than the similar text's."""
_BEAM_SIZE = 8


class MemoryTranslator(Translator):
    """A translator that looks each line up in a translation memory first.

    Lines with constraints other than terms are translated as if there were no memory. Where several translations are
    asked for, or chance is to choose, similar texts are not used.

    Args:
        memory: the translation memory.
        models: as for `Translator`.
        source_tokenizer: likewise.
        target_tokenizer: likewise.
        config: likewise.
        languages: likewise.
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
        """Translates lines as `Translator.translate_constrained` does, those that the memory has by the memory."""
        matches = [self._match(lines, place) for place in range(len(lines))]
        taken = {place for place, match in enumerate(matches) if match is not None and match.text}
        numbered = numbered_lines(lines, self._between_steps, first, cancellable=False)
        others = [line for place, line in enumerate(numbered) if place not in taken]
        searched = iter(self._translated(others) if others else ())
        result = []
        for (line, _), match in zip(lines, matches, strict=True):
            if match is not None and match.text:
                result.append(self._taken(line, match))
            else:
                result.append(next(searched))
        similar = {place: match for place, match in enumerate(matches) if match is not None and match.kind == "fuzzy"}
        for place, guided in self._guided(result, similar, [its for _, its in lines]).items():
            result[place] = guided
        return result

    def translate_watched(
        self, lines: Sequence[tuple[str, Constraints]], between_steps: BetweenSteps, *, first: int = 1
    ) -> list[Translation | None]:
        """Translates lines as `Translator.translate_watched` does, those that the memory has by the memory."""
        matches = [
            None if constraints.limits_search else self._memory.exact(line.rstrip("\r\n"))
            for line, constraints in lines
        ]
        numbered = numbered_lines(lines, between_steps, first, cancellable=True)
        others = [line for line, match in zip(numbered, matches, strict=True) if match is None]
        searched = iter(self._search.translate(others) if others else ())
        return [
            next(searched) if match is None else self._taken(line, match)
            for (line, _), match in zip(lines, matches, strict=True)
        ]

    def _match(self, lines: Sequence[tuple[str, Constraints]], place: int) -> MemoryMatch | None:
        line, constraints = lines[place]
        if constraints.limits_search:
            return None
        surroundings = Surroundings(before=lines[place - 1][0] if place else None)
        text = line.rstrip("\r\n")
        return self._memory.match(text, surroundings) if self._can_be_guided else self._memory.exact(text, surroundings)

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

    def _guided(
        self, translations: Sequence[Translation], similar: dict[int, MemoryMatch], constraints: Sequence[Constraints]
    ) -> dict[int, Translation]:
        """Translations of lines that have similar texts, chosen among several by how much they agree with these."""
        if not similar:
            return {}
        known = {place: (without_marks(match.source), without_marks(match.target)) for place, match in similar.items()}
        frames = {
            place: frame
            for place, found in zip(similar, self.align(list(known.values())), strict=True)
            if (frame := frame_of(_text(translations[place]), found)) is not None
        }
        framed = {place: replace(constraints[place], frame=frame) for place, frame in frames.items()}
        lines = [(_text(translations[place]), its) for place, its in framed.items()]
        result = {}
        for place, found in zip(frames, self._widely(lines), strict=True):
            texts = [] if found is None else [each.text for each in found.n_best if each.finished]
            chosen = self._best(translations[place], texts, known[place])
            if chosen is not None:
                result[place] = replace(chosen, match=similar[place])
                self.counts.matches["fuzzy"] += 1
        return result

    def _widely(self, lines: Sequence[tuple[str, Constraints]]) -> list[Translation | None]:
        """Several translations of each line; None where its constraints cannot be kept."""
        try:
            return list(self._wide.translate_constrained(lines))
        except DataError:  # of one of them: a stretch that the vocabulary cannot spell, or a frame that is too long
            if len(lines) == 1:
                return [None]
            return [found for line in lines for found in self._widely([line])]

    def _best(self, translation: Translation, texts: Sequence[str], known: tuple[str, str]) -> Translation | None:
        """The best of the translations that keep to a frame; None where it is worse than the ordinary one.

        It is not worse if the model takes it to be about as probable as the similar text's own translation, which a
        person has written: that is as much as a model can say of text that it was not trained on.

        Args:
            translation: the ordinary translation.
            texts: those that keep to a frame.
            known: the similar text and its translation.
        """
        source = _text(translation)
        lost = compared(source, translation.text, self._languages).num_faults
        texts = [text for text in texts if compared(source, text, self._languages).num_faults <= lost]
        if not texts:
            return None
        pairs = [known, (source, translation.text), *((source, text) for text in texts)]
        scores = self.score_pairs(pairs)
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
            problems=compared(source, text, self._languages).problems if self.config.guards.values else (),
            read=source,
        )


def _text(translation: Translation) -> str:
    """The line of a translation, without its end."""
    return translation.source.rstrip("\r\n")
