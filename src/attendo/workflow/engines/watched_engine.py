"""An engine's work on lines that can be cancelled one by one during a call, for servers."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from attendo.attention_maps.weights import AttentionMap
from attendo.decoding.constraints.line_constraints import Constraints, paired
from attendo.decoding.lines.alignment import Alignment
from attendo.decoding.lines.translation import Translation
from attendo.decoding.watch import BetweenSteps, nobody
from attendo.parsing.sentences import GivenSentence
from attendo.text.subwords.tokenization import EOS_ID
from attendo.workflow.engines.arguments import checked_sentences, checked_text
from attendo.workflow.engines.attention import attention_map
from attendo.workflow.engines.engine_base import EngineBase

if TYPE_CHECKING:
    from attendo.workflow.engines.parse import Parse

IdPair = tuple[list[int], list[int]]
"""Ids of a source and of its target, each with `</s>`."""


class WatchedEngine(EngineBase):
    """An engine that checks for cancelled lines between two decoder steps, and can pause there.

    The function `between_steps` returns the numbers, from 1, of the lines that are cancelled so far. It can take time
    for other work, and an exception from it ends the call. The results of the other lines do not depend on it.
    """

    def translate_watched(
        self, lines: Sequence[str], constraints: Sequence[Constraints] | None, between_steps: BetweenSteps
    ) -> list[Translation | None]:
        """Translates lines that can be cancelled; a line feed within a line is white space.

        Args:
            lines: the lines.
            constraints: the constraints of each line, or None.
            between_steps: called between two decoder steps.

        Returns:
            The translation of each line, in order; None for a cancelled line.

        Raises:
            DataError: a line contains a lone surrogate, or constraints cannot be fulfilled.
            ModelError: the model is a parser, or the engine is closed.
        """
        translator = self._translator("translate_watched", {})
        constrained = self._constrained(paired(lines, constraints))
        return translator.translate_watched(list(constrained), between_steps)

    def align_watched(
        self, translations: Sequence[Translation], between_steps: BetweenSteps
    ) -> list[tuple[Alignment, ...]]:
        """Aligns the words of lines with the words of their translations, with pauses.

        Args:
            translations: translations of lines, from this engine.
            between_steps: called between two sublayers.

        Returns:
            For each translation an alignment for each of its n best.

        Raises:
            ModelError: the model is a parser, or the engine is closed.
        """
        return self._translator("align_watched", {}).align_translations(translations, between=between_steps)

    def parse_watched(self, sentences: Iterable[GivenSentence], between_steps: BetweenSteps) -> "list[Parse | None]":
        """Parses sentences that can be cancelled.

        Args:
            sentences: as for `Engine.parse`.
            between_steps: called between two decoder steps.

        Returns:
            The parse of each sentence, in order; None for a cancelled one.

        Raises:
            ModelError: the model does not parse, or the engine is closed.
        """
        parser = self._parser("parse_watched", {})
        given = checked_sentences("parse_watched", sentences)
        return parser.parse_watched(list(parser.sentences(given)), between_steps)

    def attention_pair(self, source: str, target: str | None, between_steps: BetweenSteps) -> IdPair | None:
        """Returns the pair whose attention `attention_of` shows.

        Args:
            source: the source sentence.
            target: its translation, or the symbols of its tree; None for the engine's own result.
            between_steps: called between two decoder steps; the sentence is number 1.

        Returns:
            The ids of both; None if the search is cancelled.

        Raises:
            TypeError: a side is not a text.
            ModelError: the engine is closed.
        """
        first, set_up = self._open().first, self._using("attention", {})
        checked_text("attention", "the source", source)
        encode, encode_target = first.source_tokenizer.encode, first.target_tokenizer.encode
        if target is not None:
            return encode(source), encode_target(checked_text("attention", "the target", target))
        parser = set_up.parser
        if parser is None:
            # The text read differs from the source where a guard acted.
            constrained = list(self._constrained(paired([source], None)))
            [translation] = set_up.translator.translate_watched(constrained, between_steps)
            return None if translation is None else (encode(translation.read), [*translation.n_best[0].ids, EOS_ID])
        sentence = parser.sentence(source)
        [parse] = parser.parse_watched([sentence], between_steps)
        if parse is None:
            return None
        symbols = " ".join(parse.n_best[0].symbols) if parse.n_best else ""
        return encode(parser.read(sentence)), encode_target(symbols)

    def attention_of(self, pair: IdPair, between_steps: BetweenSteps = nobody) -> AttentionMap:
        """Returns the attention weights of every head of every layer; for an ensemble, the first model's.

        Args:
            pair: the result of `attention_pair`.
            between_steps: called between two sublayers.

        Raises:
            DataError: a side is empty, or longer than can be drawn.
            ModelError: the engine is closed.
        """
        first, translator = self._open().first, self._using("attention", {}).translator
        tokenizers = first.source_tokenizer, first.target_tokenizer
        return attention_map(translator.models[0], *tokenizers, *pair, between=between_steps)
