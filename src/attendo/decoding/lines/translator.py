"""Turns text into translations: subwords, batches of similar length, search, and text in the input's order.

On the native kernels, results do not depend on the rest of the batch, to the bit. In plain torch a batch may change the
last bits of a float32 product, so two hypotheses that are equal up to rounding could change places; otherwise padding
is masked, ties are decided by order, and the tokens on real test sets are the same alone and in any batch.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice

from attendo.decoding.backends.models import DecodingModel
from attendo.decoding.batches import length_batches
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.line_constraints import Constraints, paired
from attendo.decoding.constraints.words import Subwords
from attendo.decoding.guards.spaces import squeezed_around
from attendo.decoding.guards.verbatim import verbatim
from attendo.decoding.guards.words import words
from attendo.decoding.lines.alignment import Alignment, alignment, attention_batch, check_choice
from attendo.decoding.lines.guarded import GuardedSearch
from attendo.decoding.lines.part_search import PartSearch
from attendo.decoding.lines.ranking import Ranking
from attendo.decoding.lines.reverse import ReverseModel
from attendo.decoding.lines.tasks import NumberedLine, numbered_lines
from attendo.decoding.lines.translation import Candidate, Counts, Translation
from attendo.decoding.lines.windows import PAUSE_S, windows
from attendo.decoding.parallel import on_threads
from attendo.decoding.scoring import PairScore, score_batch
from attendo.decoding.watch import BetweenSteps, nobody
from attendo.errors import DataError, ModelError
from attendo.text.subwords.tokenization import EOS_ID

_CHARACTERS_PER_TOKEN = 32
"""Twice SentencePiece's longest piece: text beyond this many characters per token cannot be used, and is not even
encoded."""


class Translator:
    """Translates and scores text with one model, or with several as an ensemble.

    Args:
        models: the models; several are searched by the mean of their probabilities.
        source_tokenizer: the tokenizer of the source language.
        target_tokenizer: the tokenizer of the target language; the same one for a joint vocabulary.
        config: search settings.
        threads: number of threads that may work at the same time, for models that are `concurrent`.
        languages: source and target, as ISO 639-1 codes, for the guards; empty where not known.
        counts: updated with the work done; None for new counts.
        between_steps: called between two decoder steps if a call has no such function of its own; it cancels no line,
            but an exception from it ends the call.
        reverse: a model of the opposite direction that helps to choose among the candidates of beam search.

    Raises:
        ModelError: no model, or a vocabulary of another size than the tokenizer's.
    """

    def __init__(
        self,
        models: Sequence[DecodingModel],
        source_tokenizer: Subwords,
        target_tokenizer: Subwords,
        config: SearchConfig,
        *,
        threads: int = 1,
        languages: tuple[str, str] = ("", ""),
        counts: Counts | None = None,
        between_steps: BetweenSteps = nobody,
        reverse: ReverseModel | None = None,
    ) -> None:
        _check_vocabularies(models, source_tokenizer, target_tokenizer)
        check_choice(models, config.alignment_layer, config.alignment_head)
        self.models = tuple(models)
        self.config = config
        self._between_steps = between_steps
        self._threads = threads if all(model.concurrent for model in models) else 1
        self._source_tokenizer, self._target_tokenizer = source_tokenizer, target_tokenizer
        configs = [model.config for model in models]
        learned = [config.max_positions for config in configs if config.positions == "learned"]
        # One position is reserved for the source's </s>, and one of the target for the start.
        self._max_positions = min(learned) - 1 if learned else None
        self._max_source_tokens = self._within_positions(config.max_source_tokens)
        # The maximum length of a translation of the longest source.
        longest = config.max_source_tokens + config.max_len_offset
        self._max_target_tokens = self._within_positions(max(longest, config.min_len))
        parts = PartSearch(
            models,
            config,
            source_tokenizer,
            target_tokenizer,
            encode=partial(_encode, source_tokenizer, max_tokens=self._max_source_tokens),
            max_positions=self._max_positions,
            languages=languages,
            threads=threads,
            ranking=_ranking(config, reverse),
        )
        self._search = GuardedSearch(
            parts, config, source_tokenizer, target_tokenizer, languages=languages, counts=counts or Counts()
        )

    @property
    def counts(self) -> Counts:
        """Counts of all work so far, for warnings and statistics."""
        return self._search.counts

    def translate(self, lines: Sequence[str], constraints: Sequence[Constraints] | None = None) -> list[Translation]:
        """Translates lines, all of them sorted by length together.

        Args:
            lines: one sentence each; a line end is dropped.
            constraints: the constraints of each line; ignored for a line of white space.

        Returns:
            A translation for each line, in order. White space gives an empty one with score 0. When sampling, a line's
            random numbers depend only on `seed` and the line's number here.

        Raises:
            DataError: a line holds a lone surrogate, constraints cannot be fulfilled, or the number of constraints
                differs from that of lines.
            ModelError: the model's probabilities are not numbers.
        """
        return self.translate_constrained(list(paired(lines, constraints)))

    def stream(
        self, lines: Iterable[str], constraints: Iterable[Constraints] | None = None, *, pause_s: float = PAUSE_S
    ) -> Iterator[Translation]:
        """Translates lines as they arrive: `window_lines` of them at a time, or fewer when the input pauses.

        Args:
            lines: one sentence each; `windows.read_lines` reads them from standard input.
            constraints: the constraints of each line, read along with the lines.
            pause_s: seconds without a new line after which the lines read so far are translated.

        Yields:
            A translation for each line, in order, the same as `translate` gives for all lines at once. An error in
            `lines` is raised after the translations of the lines before it.

        Raises:
            DataError: as for `translate`.
            ModelError: the model's probabilities are not numbers.
        """
        for window in self.stream_windows(lines, constraints, pause_s=pause_s):
            yield from window

    def stream_windows(
        self,
        lines: Iterable[str],
        constraints: Iterable[Constraints] | None = None,
        *,
        pause_s: float = PAUSE_S,
        first: int = 1,
    ) -> Iterator[list[Translation]]:
        """Translates as `stream` does, but yields the lines that were translated together, for further processing.

        `first` is the number of the first line, where the lines are part of a longer text.
        """
        return self.constrained_windows(paired(lines, constraints), pause_s=pause_s, first=first)

    def constrained_windows(
        self, lines: Iterable[tuple[str, Constraints]], *, pause_s: float = PAUSE_S, first: int = 1
    ) -> Iterator[list[Translation]]:
        """Translates as `stream_windows` does, from lines that come with their constraints."""
        arriving = windows(lines, self.config.window_lines, pause_s=pause_s, characters=lambda pair: len(pair[0]))
        for window in arriving:
            yield self.translate_constrained(window, first=first)
            first += len(window)

    def translate_constrained(self, lines: Sequence[tuple[str, Constraints]], *, first: int = 1) -> list[Translation]:
        """Translates as `translate` does, from lines that come with their constraints.

        Args:
            lines: the lines, each with its constraints.
            first: the number of the first one.
        """
        numbered = numbered_lines(lines, self._between_steps, first, cancellable=False)
        return [translation for translation in self.translate_numbered(numbered) if translation is not None]

    def translate_watched(
        self, lines: Sequence[tuple[str, Constraints]], between_steps: BetweenSteps, *, first: int = 1
    ) -> list[Translation | None]:
        """Translates as `translate_constrained` does; lines may be cancelled meanwhile.

        Args:
            lines: the lines, each with its constraints.
            between_steps: called between two decoder steps.
            first: the number of the first line, which `between_steps` counts from.

        Returns:
            A translation for each line, in order; None for a line cancelled before it is done. The other translations
            do not depend on that.
        """
        return self.translate_numbered(numbered_lines(lines, between_steps, first, cancellable=True))

    def translate_numbered(self, lines: Sequence[NumberedLine]) -> list[Translation | None]:
        """Translates lines by the numbers that they have in a longer text; None for a cancelled line.

        All have the same `between_steps`.
        """
        return self._search.translate(lines)

    def score_pairs(
        self, pairs: Sequence[tuple[str, str]], *, between: Callable[[], object] = lambda: None
    ) -> list[PairScore]:
        """Log-probabilities of given translations.

        Args:
            pairs: source and target lines. An empty line is scored too: it has its `</s>`.
            between: called between two steps; an exception from it ends the scoring.

        Returns:
            A score for each pair, in order. A line longer than `max_source_tokens`, or than the longest translation of
            such a source, is cut, and its score is marked.

        Raises:
            DataError: a line holds a lone surrogate.
        """
        sources, targets, cut = self._encode_pairs(pairs)
        batches = self._batches(
            [max(len(source), len(target)) for source, target in zip(sources, targets, strict=True)]
        )

        def work(batch: Sequence[int], check: Callable[[], None]) -> list[list[float]]:
            its = [sources[i] for i in batch], [targets[i] for i in batch]
            return score_batch(self.models, *its, between=lambda: [call() for call in (check, between)])

        scores: dict[int, PairScore] = {}
        for batch, found in zip(batches, on_threads(work, batches, self._threads), strict=True):
            for i, log_probs in zip(batch, found, strict=True):
                scores[i] = PairScore(
                    log_prob=sum(log_probs),
                    pieces=tuple(self._target_tokenizer.pieces(targets[i])),
                    token_log_probs=tuple(log_probs),
                    truncated=cut[i],
                )
        return [scores[i] for i in range(len(pairs))]

    def stream_scores(self, pairs: Iterable[tuple[str, str]]) -> Iterator[PairScore]:
        """Scores pairs as `score_pairs` does, `window_lines` of them at a time, in their order."""
        remaining = iter(pairs)
        while window := list(islice(remaining, self.config.window_lines)):
            yield from self.score_pairs(window)

    def align(
        self, pairs: Sequence[tuple[str, str | Sequence[int]]], *, between: Callable[[], object] = lambda: None
    ) -> list[Alignment]:
        """Aligns the words of given translations with their sources; see `alignment`.

        Args:
            pairs: source lines and their translations, as text or, exactly as found, as `Candidate.ids`.
            between: called between two steps of the computation; an exception from it ends the computation.

        Returns:
            An alignment for each pair, in order. Text that is too long is cut as in `score_pairs`.

        Raises:
            DataError: a line holds a lone surrogate, or an id is not of the vocabulary.
        """
        sources, targets, cut = self._encode_pairs(pairs)
        found: dict[int, Alignment] = {}
        for batch in self._batches([max(map(len, pair)) for pair in zip(sources, targets, strict=True)]):
            its_weights = attention_batch(
                self.models,
                [sources[i] for i in batch],
                [targets[i] for i in batch],
                layer=self.config.alignment_layer,
                head=self.config.alignment_head,
                step=self.config.alignment_step,
                between=between,
            )
            for i, weights in zip(batch, its_weights, strict=True):
                source = self._source_tokenizer.pieces(sources[i])
                target = self._target_tokenizer.pieces(targets[i])
                found[i] = alignment(source, target, weights, truncated=cut[i])
        return [found[i] for i in range(len(pairs))]

    def align_translations(
        self, translations: Sequence[Translation], *, between: Callable[[], object] = lambda: None
    ) -> list[tuple[Alignment, ...]]:
        """Aligns the words of each of the lines' n best translations with the lines.

        The weights are between the pieces that the model read and wrote; the words are those of the line and its
        translation, even where guards have changed either.

        Args:
            translations: translations from this translator.
            between: called between two steps of the computation; an exception from it ends the computation.

        Returns:
            For each translation, one alignment per candidate.
        """
        pairs = [(each.read, candidate.ids) for each in translations for candidate in each.n_best]
        found = iter(self.align(pairs, between=between))
        return [tuple(_in_words_of(each, candidate, next(found)) for candidate in each.n_best) for each in translations]

    def stream_alignments(self, pairs: Iterable[tuple[str, str | Sequence[int]]]) -> Iterator[Alignment]:
        """Aligns pairs as `align` does, `window_lines` of them at a time, in their order."""
        remaining = iter(pairs)
        while window := list(islice(remaining, self.config.window_lines)):
            yield from self.align(window)

    def _encode_pairs(
        self, pairs: Sequence[tuple[str, str | Sequence[int]]]
    ) -> tuple[list[list[int]], list[list[int]], list[bool]]:
        """Ids of both sides with their `</s>`, and which pairs were cut."""
        sources, cut_sources = _encode(
            self._source_tokenizer, [source for source, _ in pairs], max_tokens=self._max_source_tokens
        )
        texts = [target if isinstance(target, str) else "" for _, target in pairs]
        targets, cut_targets = _encode(self._target_tokenizer, texts, max_tokens=self._max_target_tokens)
        for place, (_, target) in enumerate(pairs):
            if not isinstance(target, str):
                self._check_ids(target, number=place + 1)
                targets[place], cut_targets[place] = _shortened([*target, EOS_ID], self._max_target_tokens)
        return sources, targets, [any(both) for both in zip(cut_sources, cut_targets, strict=True)]

    def _check_ids(self, ids: Sequence[int], *, number: int) -> None:
        """Refuses ids that no translation has."""
        size = self._target_tokenizer.vocab_size
        for token in ids:
            if not 0 <= token < size or token == EOS_ID:
                raise DataError(
                    f"the translation of pair {number} holds the id {token}; ids are 1 to {size - 1}, and {EOS_ID}, "
                    "</s>, is left out"
                )

    def _batches(self, lengths: Sequence[int]) -> list[list[int]]:
        return length_batches(
            lengths, max_tokens=self.config.max_batch_tokens, max_sentences=self.config.max_batch_sentences
        )

    def _within_positions(self, tokens: int) -> int:
        """Limits a number of tokens to that of learned positions."""
        return tokens if self._max_positions is None else min(tokens, self._max_positions)


def _ranking(config: SearchConfig, reverse: ReverseModel | None) -> Ranking | None:
    """Another order of candidates than the search's; None where it has one candidate, or its own order is asked for."""
    if config.sampling or config.beam_size == 1 or not (reverse or config.completeness):
        return None
    return Ranking(length_penalty=config.final_length_penalty, n_best=config.n_best, reverse=reverse)


def _encode(tokenizer: Subwords, lines: Sequence[str], *, max_tokens: int) -> tuple[list[list[int]], list[bool]]:
    """Ids of at most `max_tokens` tokens and a `</s>` for each line, and whether each line was cut."""
    lines = [line.rstrip("\r\n") for line in lines]
    max_characters = max_tokens * _CHARACTERS_PER_TOKEN
    all_ids = tokenizer.encode_batch([line[:max_characters] for line in lines])
    shortened = [_shortened(ids, max_tokens) for ids in all_ids]
    cut = [its_cut or len(line) > max_characters for line, (_, its_cut) in zip(lines, shortened, strict=True)]
    return [ids for ids, _ in shortened], cut


def _shortened(ids: list[int], max_tokens: int) -> tuple[list[int], bool]:
    """Ids of at most `max_tokens` tokens and `</s>`, and whether they were cut."""
    if len(ids) <= max_tokens + 1:
        return ids, False
    return [*ids[:max_tokens], EOS_ID], True


def _check_vocabularies(models: Sequence[DecodingModel], source: Subwords, target: Subwords) -> None:
    """Refuses models that the tokenizers do not fit."""
    if not models:
        raise ModelError("no model to translate with; give one or more")
    for number, model in enumerate(models, start=1):
        name = f"model {number} of the ensemble" if len(models) > 1 else "the model"
        for side, size, tokenizer in (
            ("source", model.src_vocab_size, source),
            ("target", model.tgt_vocab_size, target),
        ):
            if size != tokenizer.vocab_size:
                raise ModelError(
                    f"{name} has a {side} vocabulary of {size}, but the {side} tokenizer has "
                    f"{tokenizer.vocab_size} pieces; take the tokenizer it was trained with"
                )


def _in_words_of(translation: Translation, candidate: Candidate, found: Alignment) -> Alignment:
    """Transfers links between the model's input and output to the line and its translation."""
    if translation.words is None or candidate.words is None:
        return found
    links = {
        (source, target)
        for read, written in found.links
        # Slices, since a vocabulary that makes spaces of other white space has more words than the text.
        for source in chain(*translation.words[read : read + 1])
        for target in chain(*candidate.words[written : written + 1])
    }
    source = translation.source.rstrip("\r\n")
    if "spaces" in translation.guards:
        kept = verbatim(source) if "verbatim" in translation.guards else []
        source = squeezed_around(source, [(each.start, each.end) for each in kept])
    return replace(
        found,
        source_words=words(source),
        target_words=words(candidate.text),
        links=tuple(sorted(links, key=lambda link: link[::-1])),
    )
