"""A model that is ready to translate or parse, to score, to align and to show its attention."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Unpack, overload

from attendo.attention_maps.weights import AttentionMap
from attendo.decoding.constraints.line_constraints import Constraints, paired
from attendo.decoding.lines.alignment import Alignment
from attendo.decoding.lines.texts import (
    by_line,
    constrained_lines,
    joined_alignment,
    joined_alignments,
    joined_score,
    joined_translation,
    pair_lines,
)
from attendo.decoding.lines.translation import Translation
from attendo.decoding.lines.windows import PAUSE_S
from attendo.decoding.scoring import PairScore
from attendo.decoding.search_settings import SearchSettings
from attendo.errors import DataError
from attendo.parsing.sentences import GivenSentence, Sentence
from attendo.workflow.engines.aids import Aids
from attendo.workflow.engines.arguments import (
    checked_pairs,
    checked_sentences,
    constrained_texts,
    renamed,
)
from attendo.workflow.engines.watched_engine import WatchedEngine

if TYPE_CHECKING:
    from attendo.parsing.tree import Tree
    from attendo.workflow.engines.parse import Parse


class Engine(WatchedEngine):
    """A loaded model, or an ensemble of several; made by `attendo.load`.

    An engine is for one thread at a time. `with_search()` returns another engine that shares the models; if
    `concurrent` is true, several threads can work at the same time, each with its own engine. An engine made by
    `attendo.load` can be pickled for another process, which loads the models itself. A copy shares the models.

    An engine is a context manager: the end of `with attendo.load(MODEL) as engine:` closes it.
    """

    # A str is an iterable of str too, so that the second signature would fit it; the first one comes first.
    @overload
    def translate(  # type: ignore[overload-overlap]
        self,
        texts: str,
        constraints: Constraints | None = None,
        *,
        aids: Aids | None = None,
        **search: Unpack[SearchSettings],
    ) -> Translation: ...

    @overload
    def translate(
        self,
        texts: Iterable[str],
        constraints: Iterable[Constraints] | None = None,
        *,
        aids: Aids | None = None,
        **search: Unpack[SearchSettings],
    ) -> list[Translation]: ...

    def translate(
        self,
        texts: str | Iterable[str],
        constraints: Constraints | Iterable[Constraints] | None = None,
        *,
        aids: Aids | None = None,
        **search: Unpack[SearchSettings],
    ) -> Translation | list[Translation]:
        r"""Translates one text, or several.

        The lines of a text are translated one by one, and its line ends (`\n`, `\r\n`) are kept; an empty line stays
        empty. A line end after the only line of a text, as in lines read from a file, is removed.

        Args:
            texts: one text, or several.
            constraints: the constraints of the text, or an iterable of one for each text. For a text of several lines
                the prefix applies to the first line that is not white space, forbidden words apply to all lines, and
                forced words are not possible. White space has an empty translation, whatever the constraints.
            aids: a glossary and translation memories, in place of those of the engine.
            search: search settings for this call, such as `beam_size=1`; see `SearchSettings`.

        Returns:
            The translation of one text, or a list of the translations of several, in order.

        Raises:
            TypeError: `texts` or an item is not a text, or a keyword is not a search setting.
            AttendoError: a package that translation memories need is not installed.
            DataError: a text contains a lone surrogate, which is not a character; constraints contradict each other,
                the settings or the vocabulary; the numbers of texts and constraints differ; or a translation memory
                cannot be read.
            RecipeError: the value of a setting cannot be used.
            ModelError: the model is a parser, or the engine is closed.
        """
        constraints, changes = renamed("translate", constraints, search)
        translator = self._translator("translate", changes, aids)
        given = self._constrained(constrained_texts("translate", texts, constraints), aids)
        found = by_line(enumerate(given, 1), constrained_lines, lambda it: translator.translate_constrained(list(it)))
        alpha = translator.config.length_penalty
        translations = [joined_translation(text, lines, alpha) for text, lines in found]
        return translations[0] if isinstance(texts, str) else translations

    def translate_lines(
        self, lines: Sequence[str], constraints: Sequence[Constraints] | None = None
    ) -> list[Translation]:
        """Translates lines as `translate` does, except that a line feed within a line is white space.

        Args:
            lines: the lines.
            constraints: one for each line.
        """
        constrained = self._constrained(paired(lines, constraints))
        return self._translator("translate_lines", {}).translate_constrained(list(constrained))

    def stream(
        self,
        texts: str | Iterable[str],
        constraints: Constraints | Iterable[Constraints] | None = None,
        *,
        aids: Aids | None = None,
        pause_s: float = PAUSE_S,
        **search: Unpack[SearchSettings],
    ) -> Iterator[Translation]:
        """Translates texts as they arrive: `window_lines` lines at a time, or fewer when the input pauses.

        Args:
            texts: the texts, read as they are needed, in another thread; or one text.
            constraints: as for `translate`, read along with the texts.
            aids: as for `translate`.
            pause_s: seconds without a new text after which the texts received so far are translated.
            search: search settings for this call; see `SearchSettings`.

        Yields:
            The translation of each text, in order, equal to the results of `translate` for all of them.

        Raises:
            TypeError: as for `translate`; at once, but for the items of `texts`.
            DataError: as for `translate`.
            RecipeError: as for `translate`; at once.
            ModelError: as for `translate`; at once.
        """
        constraints, changes = renamed("stream", constraints, search)
        translator = self._translator("stream", changes, aids)
        given = self._constrained(constrained_texts("stream", texts, constraints), aids)
        alpha = translator.config.length_penalty

        def translated(lines: Iterator[tuple[str, Constraints]]) -> Iterator[Translation]:
            for window in translator.constrained_windows(lines, pause_s=pause_s):
                yield from window

        found = by_line(enumerate(given, 1), constrained_lines, translated)
        return (joined_translation(text, lines, alpha) for text, lines in found)

    def stream_aligned(
        self,
        texts: str | Iterable[str],
        constraints: Constraints | Iterable[Constraints] | None = None,
        *,
        aids: Aids | None = None,
        pause_s: float = PAUSE_S,
        **search: Unpack[SearchSettings],
    ) -> Iterator[tuple[Translation, tuple[Alignment, ...]]]:
        """Translates as `stream` does, and aligns the words of each text with those of its n best translations.

        Args:
            texts: as for `stream`.
            constraints: as for `stream`.
            aids: as for `stream`.
            pause_s: as for `stream`.
            search: search settings for this call; see `SearchSettings`.

        Yields:
            For each text its translation and an alignment for each of its n best.

        Raises:
            TypeError: as for `stream`.
            DataError: as for `stream`.
            RecipeError: as for `stream`.
            ModelError: as for `stream`.
        """
        constraints, changes = renamed("stream_aligned", constraints, search)
        translator = self._translator("stream_aligned", changes, aids)
        given = self._constrained(constrained_texts("stream_aligned", texts, constraints), aids)
        alpha = translator.config.length_penalty

        def aligned(lines: Iterator[tuple[str, Constraints]]) -> Iterator[tuple[Translation, tuple[Alignment, ...]]]:
            for window in translator.constrained_windows(lines, pause_s=pause_s):
                yield from zip(window, translator.align_translations(window), strict=True)

        found = by_line(enumerate(given, 1), constrained_lines, aligned)
        return (
            (joined_translation(text, [line for line, _ in lines], alpha), joined_alignments([a for _, a in lines]))
            for text, lines in found
        )

    def stream_part(
        self, lines: Iterable[str], constraints: Iterable[Constraints] | None, *, first: int, alignment: bool
    ) -> Iterator[tuple[Translation, tuple[Alignment, ...]]]:
        """Translates lines that are part of a longer text, as `stream` or `stream_aligned` translates them in it.

        Args:
            lines: the lines; all of them are there.
            constraints: one for each line.
            first: the number of the first line in the whole text, which samples and messages depend on.
            alignment: whether to align the words of each line with those of its n best translations.
        """
        translator = self._translator("stream_part", {})
        # None arrives later than another: all are there.
        constrained = self._constrained(paired(lines, constraints))
        for window in translator.constrained_windows(constrained, pause_s=math.inf, first=first):
            aligned = translator.align_translations(window) if alignment else repeat(())
            yield from zip(window, aligned, strict=False)

    # A str is an iterable of str here too; see `translate`.
    @overload
    def parse(  # type: ignore[overload-overlap]
        self, sentences: str | Sentence, **search: Unpack[SearchSettings]
    ) -> "Tree": ...

    @overload
    def parse(self, sentences: Iterable[GivenSentence], **search: Unpack[SearchSettings]) -> "list[Tree]": ...

    def parse(
        self, sentences: str | Sentence | Iterable[GivenSentence], **search: Unpack[SearchSettings]
    ) -> "Tree | list[Tree]":
        """Parses one sentence, or several, and returns the best tree of each.

        Args:
            sentences: one sentence, as plain text or as a `Sentence`; or several, each as plain text, as words in the
                manner of treebanks, or as a `Sentence` of words with tags.
            search: search settings for this call; see `SearchSettings`.

        Returns:
            For one sentence its tree, over exactly its words; for several a list of trees, in their order.

        Raises:
            TypeError: `sentences` or one of them is no sentence, or a keyword is no search setting.
            DataError: a sentence has no words, is too long, or cannot be read; the message says which one.
            RecipeError: the value of a setting cannot be used.
            ModelError: the model does not parse, or reads tags and there are none; or the engine is closed.
            AttendoError: text is to be split into words, and NLTK is not installed.
        """
        parses = self._parses("parse", sentences, search)
        for number, parse in enumerate(parses, start=1):
            if not parse.n_best:
                raise DataError(f"sentence {number}: {parse.problem or 'it has no words; leave it out'}")
        trees = [parse.tree for parse in parses]
        return trees[0] if isinstance(sentences, (str, Sentence)) else trees

    @overload
    def parse_n_best(  # type: ignore[overload-overlap]
        self, sentences: str | Sentence, **search: Unpack[SearchSettings]
    ) -> "Parse": ...

    @overload
    def parse_n_best(self, sentences: Iterable[GivenSentence], **search: Unpack[SearchSettings]) -> "list[Parse]": ...

    def parse_n_best(
        self, sentences: str | Sentence | Iterable[GivenSentence], **search: Unpack[SearchSettings]
    ) -> "Parse | list[Parse]":
        """Parses one sentence, or several, and returns the `n_best` trees of each, with scores and repairs.

        Args:
            sentences: as for `parse`.
            search: search settings for this call, such as `n_best=3`; see `SearchSettings`.

        Returns:
            For one sentence its parse; for several a list of parses, in their order. A sentence that cannot be parsed
            has the reason in its parse's `problem`.

        Raises:
            TypeError: as for `parse`.
            RecipeError: as for `parse`.
            ModelError: as for `parse`.
            AttendoError: as for `parse`.
        """
        parses = self._parses("parse_n_best", sentences, search)
        return parses[0] if isinstance(sentences, (str, Sentence)) else parses

    def _parses(
        self, method: str, sentences: str | Sentence | Iterable[GivenSentence], search: SearchSettings
    ) -> "list[Parse]":
        parser = self._parser(method, search)
        given = checked_sentences(method, sentences)
        return parser.parse_sentences(list(parser.sentences(given)))

    def stream_parses(
        self,
        sentences: str | Sentence | Iterable[GivenSentence | DataError],
        *,
        pause_s: float = PAUSE_S,
        **search: Unpack[SearchSettings],
    ) -> "Iterator[Parse]":
        """Parses sentences as they arrive: `window_lines` at a time, or fewer when the input pauses.

        Args:
            sentences: as for `parse`, or a `DataError` in place of one that could not be read, which becomes the
                `problem` of its parse.
            pause_s: seconds without a new sentence after which the sentences received so far are parsed.
            search: search settings for this call; see `SearchSettings`.

        Yields:
            A parse of each sentence, in their order, equal to what `parse_n_best` gives for all of them.

        Raises:
            TypeError: as for `parse`; at once, but for the items of `sentences`.
            RecipeError: as for `parse`; at once.
            ModelError: as for `parse`; at once, but for missing tags.
            AttendoError: as for `parse`.
        """
        parser = self._parser("stream_parses", search)
        checked = checked_sentences("stream_parses", sentences)
        return parser.stream(parser.sentences(checked), pause_s=pause_s)

    def align(
        self, pairs: Iterable[tuple[str, str | Sequence[int]]], **search: Unpack[SearchSettings]
    ) -> Iterator[Alignment]:
        """Aligns the words of given translations with the words of their sources, by encoder-decoder attention.

        Args:
            pairs: source texts and their translations, read as they are needed; a translation is a text or, for the
                very pieces that the model wrote, `Candidate.ids`. Texts of equally many lines are aligned line by line.
            search: search settings for this call, such as `alignment_layer`; see `SearchSettings`.

        Yields:
            An alignment of each pair, in their order: weights between pieces and links between words.

        Raises:
            TypeError: an item is no pair of a text and a translation, with its index.
            DataError: a text holds a lone surrogate, or an id is not in the vocabulary.
            ModelError: the engine is closed; at once.
        """
        translator = self._using("align", search).translator
        given = checked_pairs("align", pairs, ids=True)
        found = by_line(given, lambda pair: (None, pair_lines(pair)), translator.stream_alignments)
        return (joined_alignment(lines) for _, lines in found)

    def align_translations(self, translations: Iterable[Translation]) -> list[tuple[Alignment, ...]]:
        """Aligns the words of texts with the words of their translations.

        Args:
            translations: from this engine, or another one of the same models.

        Returns:
            For each translation an alignment for each of its n best.
        """
        translator = self._translator("align_translations", {})
        found = by_line(
            translations,
            lambda translation: (None, translation.lines or (translation,)),
            lambda lines: translator.align_translations(list(lines)),
        )
        return [joined_alignments(lines) for _, lines in found]

    def score(self, pairs: Iterable[tuple[str, str]], **search: Unpack[SearchSettings]) -> Iterator[PairScore]:
        """Computes the log-probabilities of given translations.

        Args:
            pairs: source texts and their translations, read as they are needed. Texts of equally many lines are scored
                line by line, and the log-probabilities added.
            search: search settings for this call, such as `max_source_tokens`; see `SearchSettings`.

        Yields:
            A score of each pair, in their order.

        Raises:
            TypeError: an item is no pair of texts, with its index.
            DataError: a text holds a lone surrogate.
            ModelError: the engine is closed; at once.
        """
        translator = self._using("score", search).translator
        given = checked_pairs("score", pairs, ids=False)
        found = by_line(given, lambda pair: (None, pair_lines(pair)), translator.stream_scores)
        return (joined_score(lines) for _, lines in found)

    def attention(self, source: str, target: str | None = None) -> AttentionMap:
        """Returns the attention weights of every head of every layer for a pair; for an ensemble, the first model's.

        Args:
            source: the source sentence.
            target: its translation, or the symbols of its tree; left out, what the engine finds, with what it has read.

        Raises:
            TypeError: a side is no text.
            DataError: a side is empty, or longer than can be drawn.
            ModelError: the engine is closed.
        """
        pair = self.attention_pair(source, target, self._while_open)
        assert pair is not None, "nobody has cancelled it"
        return self.attention_of(pair)
