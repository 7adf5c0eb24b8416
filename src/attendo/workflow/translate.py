"""From a model folder to an engine that translates or parses, scores and shows its attention: `attendo.load`."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import repeat
from pathlib import Path
from typing import Any, Literal

import torch

from attendo.attention_maps.weights import AttentionMap
from attendo.checkpoint.finding import find_model
from attendo.checkpoint.model_folder import LoadedModel, ModelDescription, load_model
from attendo.decoding.alignment import Alignment
from attendo.decoding.config import SearchConfig
from attendo.decoding.engine import Translator
from attendo.decoding.models import decoding_model
from attendo.decoding.native_model import Dtype
from attendo.decoding.scoring import PairScore
from attendo.decoding.translation import Counts, Translation
from attendo.decoding.windows import PAUSE_S
from attendo.decoding.wishes import Wishes
from attendo.errors import DataError, ModelError, RecipeError
from attendo.model.batch import collate
from attendo.parsing.tree import Tree
from attendo.recipe import override_section
from attendo.text.tokenization import EOS_ID
from attendo.workflow.device import choose_device
from attendo.workflow.model_search import own_parsing, own_search, with_parsing
from attendo.workflow.parse import Parse, Parser
from attendo.workflow.parse_input import GivenSentence, SentenceReader, attempted

MAX_DRAWN_TOKENS = 256
"""Of a side of a pair whose attention is drawn; the weights grow with its square, and no eye follows more."""


class Engine:
    """A model, or an ensemble of several, ready to work.

    Args:
        models: read from their folders; they share their task and vocabularies.
        search: how to translate or parse.
        dtype: of the products; on a CPU without matrix units bfloat16 only saves memory.
        device: where to work.

    Raises:
        ModelError: the models do not go together, or the dtype is not there.
    """

    def __init__(
        self, models: Sequence[LoadedModel], search: SearchConfig, *, dtype: Dtype, device: torch.device
    ) -> None:
        _check_ensemble(models)
        ready = [decoding_model(model.transformer, dtype=dtype, device=device) for model in models]
        first = models[0]
        self.description: ModelDescription = first.description
        """What the (first) model's `config.json` says: languages, shapes, scores."""
        self._first, self._ready = first, ready
        self._source_tokenizer, self._target_tokenizer = first.source_tokenizer, first.target_tokenizer
        self._read = SentenceReader().read
        self._set_up(search)

    def _set_up(self, search: SearchConfig) -> None:
        first, threads = self._first, torch.get_num_threads()
        sides = first.source_tokenizer, first.target_tokenizer
        languages = first.description.source_language, first.description.target_language
        self._translator = Translator(self._ready, *sides, search, threads=threads, languages=languages)
        self._parser = None
        if first.description.task == "parse":
            self._parser = Parser(
                self._ready,
                *sides,
                search,
                own_parsing(first),
                word_tags=first.description.word_tags,
                threads=threads,
            )

    def with_search(self, **changes: Any) -> "Engine":
        """The same models, which are in memory once, with some search settings changed and counts of their own.

        Where `concurrent`, it can be used at the same time as this one, by another thread; an engine is one thread's.

        Args:
            changes: by their names in `SearchConfig`; none gives a second engine with the same settings.

        Raises:
            RecipeError: a setting that cannot be meant.
        """
        other = copy(self)
        other._set_up(override_section(self.search, "search", changes=changes) if changes else self.search)
        return other

    @property
    def concurrent(self) -> bool:
        """Whether several threads may translate at the same time, each with an engine `with_search` gave it."""
        return all(model.concurrent for model in self._ready)

    @property
    def search(self) -> SearchConfig:
        """How it translates or parses."""
        return self._translator.config

    @property
    def kernel(self) -> str:
        """What it calculates on and in, for people; of an ensemble each kind once."""
        return ", ".join(dict.fromkeys(model.kernel for model in self._translator.models))

    @property
    def counts(self) -> Counts:
        """What has been translated so far, and how much of it was cut."""
        return self._translator.counts

    def translate(self, lines: Sequence[str], wishes: Sequence[Wishes] | None = None) -> list[Translation]:
        """Translates sentences, one a line.

        Args:
            lines: the sentences; white space gives an empty translation, whatever is wished.
            wishes: what is wanted of each line's translation; left out, nothing but what the settings say.

        Returns:
            A translation a line, in the lines' order: its text, score, log-probability and n best.

        Raises:
            DataError: a line holds a lone surrogate, which is no character; wishes contradict each other, the settings
                or the vocabulary; there is not one of them for each line.
            ModelError: the model is a parser.
        """
        self._refuse_parser()
        return self._translator.translate(lines, wishes)

    def stream(
        self, lines: Iterable[str], wishes: Iterable[Wishes] | None = None, *, pause_s: float = PAUSE_S
    ) -> Iterator[Translation]:
        """Translates lines as they come: `search.window_lines` at a time, or fewer when the input pauses.

        Args:
            lines: a sentence each.
            wishes: what is wanted of each line's translation, read along with the lines.
            pause_s: seconds without a new line after which those at hand are translated.

        Yields:
            A translation a line, in the lines' order, equal to what `translate` gives for all of them.

        Raises:
            DataError: as for `translate`.
            ModelError: the model is a parser; at once.
        """
        self._refuse_parser()
        return self._translator.stream(lines, wishes, pause_s=pause_s)

    def stream_aligned(
        self, lines: Iterable[str], wishes: Iterable[Wishes] | None = None, *, pause_s: float = PAUSE_S
    ) -> Iterator[tuple[Translation, tuple[Alignment, ...]]]:
        """Translates as `stream` does, and aligns each of a line's n best with the line."""
        self._refuse_parser()
        for window in self._translator.stream_windows(lines, wishes, pause_s=pause_s):
            yield from zip(window, self._translator.align_translations(window), strict=True)

    def stream_part(
        self, lines: Iterable[str], wishes: Iterable[Wishes] | None, *, first: int, alignment: bool
    ) -> Iterator[tuple[Translation, tuple[Alignment, ...]]]:
        """Translates lines that are part of a longer text, as `stream`, or `stream_aligned`, translates them in it.

        Args:
            lines: a sentence each.
            wishes: what is wanted of each line's translation.
            first: the number of the first line in the whole text; samples and messages hang on it.
            alignment: whether each of a line's n best is aligned with the line.
        """
        self._refuse_parser()
        # None arrives later than another: all are there.
        for window in self._translator.stream_windows(lines, wishes, pause_s=math.inf, first=first):
            aligned = self._translator.align_translations(window) if alignment else repeat(())
            yield from zip(window, aligned, strict=False)

    def parse(self, sentences: Sequence[GivenSentence]) -> list[Tree]:
        """Parses sentences: the best tree of each.

        Args:
            sentences: each as plain text, as words in the manner of treebanks, or as a `Sentence` of words with tags.

        Returns:
            A tree a sentence, in their order, over exactly its words.

        Raises:
            DataError: a sentence has no words, is too long, or holds what is no text; it says which one.
            ModelError: the model is no parser, or reads tags and there are none.
            AttendoError: text is to be split into words, and NLTK is not installed.
        """
        parses = self.parse_n_best(sentences)
        for number, parse in enumerate(parses, start=1):
            if not parse.n_best:
                raise DataError(f"sentence {number}: {parse.problem or 'it has no words; leave it out'}")
        return [parse.tree for parse in parses]

    def parse_n_best(self, sentences: Sequence[GivenSentence]) -> list[Parse]:
        """Parses sentences: the `search.n_best` trees of each, with their scores and what had to be mended.

        Args:
            sentences: as for `parse`.

        Returns:
            A parse a sentence, in their order. What cannot be parsed says so in its `problem`.

        Raises:
            ModelError: the model is no parser, or reads tags and there are none.
            AttendoError: text is to be split into words, and NLTK is not installed.
        """
        if isinstance(sentences, str):
            raise DataError(f"sentences = {sentences[:80]!r} is one string; write [{sentences[:80]!r}]")
        return self._require_parser().parse_sentences([attempted(self._read, given) for given in sentences])

    def stream_parses(
        self, sentences: Iterable[GivenSentence | DataError], *, pause_s: float = PAUSE_S
    ) -> Iterator[Parse]:
        """Parses sentences as they come: `search.window_lines` at a time, or fewer when the input pauses.

        Args:
            sentences: as for `parse`, or why one could not be read, which becomes its parse's `problem`.
            pause_s: seconds without a new one after which those at hand are parsed.

        Yields:
            A parse a sentence, in their order, the same as `parse_n_best` gives for all of them.

        Raises:
            ModelError: the model is no parser; at once. It reads tags and there are none.
            AttendoError: text is to be split into words, and NLTK is not installed.
        """
        read = (given if isinstance(given, DataError) else attempted(self._read, given) for given in sentences)
        return self._require_parser().stream(read, pause_s=pause_s)

    def align(self, pairs: Iterable[tuple[str, str | Sequence[int]]]) -> Iterator[Alignment]:
        """Which source words the words of given translations come from, by encoder-decoder attention.

        Args:
            pairs: source sentences and their translations, read as they are needed; a translation is a text or, to
                the very pieces that were found, `Candidate.ids`.

        Yields:
            An alignment a pair, in their order: weights between pieces and links between words.

        Raises:
            DataError: a line holds a lone surrogate, or an id is not of the vocabulary.
        """
        yield from self._translator.stream_alignments(pairs)

    def align_translations(self, translations: Sequence[Translation]) -> list[tuple[Alignment, ...]]:
        """Which words of lines the words of their translations come from.

        Args:
            translations: as this engine, or one of the same models, has given them.

        Returns:
            Of each an alignment a candidate of its n best, in the words of the line and the candidate's text.
        """
        self._refuse_parser()
        return self._translator.align_translations(translations)

    def score(self, pairs: Iterable[tuple[str, str]]) -> Iterator[PairScore]:
        """Log-probabilities of given translations.

        Args:
            pairs: source and target sentences, read as they are needed.

        Yields:
            A score a pair, in their order.

        Raises:
            DataError: a line holds a lone surrogate.
        """
        yield from self._translator.stream_scores(pairs)

    def attention(self, source: str, target: str | None = None) -> AttentionMap:
        """Where every head of every layer looks while it reads a pair; of an ensemble, the first model's.

        Args:
            source: the source sentence.
            target: its translation, or the symbols of its tree; left out, the engine's own, with what it has read.

        Raises:
            DataError: a side is empty, or longer than can be drawn.
        """
        if target is None:
            src_ids, tgt_ids = self._own_pair(source)
        else:
            src_ids, tgt_ids = self._source_tokenizer.encode(source), self._target_tokenizer.encode(target)
        model = self._translator.models[0].transformer
        learned = model.config.positions == "learned"
        limit = min(MAX_DRAWN_TOKENS, model.config.max_positions) if learned else MAX_DRAWN_TOKENS
        for side, ids in (("source", src_ids), ("target", tgt_ids)):
            if not 1 < len(ids) <= limit:
                raise DataError(f"the {side} has {len(ids) - 1} tokens; 1 to {limit - 1} can be drawn")
        with torch.no_grad():
            weights = model.attention(collate([src_ids], [tgt_ids], start=model.config.start_id).to(model.device))
        return AttentionMap(
            source=tuple(self._source_tokenizer.pieces(src_ids)),
            target=tuple(self._target_tokenizer.pieces(tgt_ids)),
            encoder=weights.encoder[:, 0].float().cpu().numpy() if len(weights.encoder) else None,
            decoder=weights.decoder[:, 0].float().cpu().numpy(),
            cross=weights.encoder_decoder[:, 0].float().cpu().numpy(),
        )

    def _own_pair(self, source: str) -> tuple[list[int], list[int]]:
        """What the model reads of a sentence and what it writes, as ids with their `</s>`."""
        if self._parser is None:
            [translation] = self.translate([source])  # read differs from the source where a guard has acted
            return self._source_tokenizer.encode(translation.read), [*translation.n_best[0].ids, EOS_ID]
        sentence = self._read(source)
        [parse] = self._parser.parse_sentences([sentence])
        symbols = " ".join(parse.n_best[0].symbols) if parse.n_best else ""
        return self._source_tokenizer.encode(self._parser.read(sentence)), self._target_tokenizer.encode(symbols)

    def _refuse_parser(self) -> None:
        if self._parser is not None:
            raise ModelError(
                "this model parses sentences and does not translate; use `attendo parse`, or `parse` in Python"
            )

    def _require_parser(self) -> Parser:
        if self._parser is None:
            raise ModelError(
                "this model translates and does not parse; use `attendo translate`, or `translate` in Python"
            )
        return self._parser


def load(
    model: str | Path,
    *,
    ensemble: Sequence[str | Path] = (),
    search: Mapping[str, Any] | None = None,
    overrides: Sequence[str] = (),
    parsing: Mapping[str, Any] | None = None,
    dtype: Dtype | None = None,
    device: Literal["auto", "cpu", "cuda"] = "auto",
    threads: int | None = None,
) -> Engine:
    """Loads a model to translate or parse with.

    Args:
        model: a model folder, a run folder, whose best averaged model is taken, or the name of a shipped model.
        ensemble: further models; the mean of all models' probabilities is searched.
        search: settings to change, such as `{"beam_size": 8}`; the rest is as the model's recipe has it.
        overrides: the same in a recipe's words, `search.beam_size=8`.
        parsing: of a parser, what it may write: `{"constrained": False}` or `{"max_unary": 6}`.
        dtype: of the products; None for the models' own.
        device: where to work; `auto` takes a GPU where there is one.
        threads: processor threads, for this whole process; None leaves torch's choice.

    Raises:
        ModelError: a folder is missing or torn, or the models do not go together.
        RecipeError: a setting that cannot be meant.
    """
    loaded = [load_model(find_model(str(name))) for name in (model, *ensemble)]
    if threads is not None:
        if threads < 1:
            raise RecipeError(f"threads = {threads} is too small; take 1 or more")
        torch.set_num_threads(threads)
    settings = search_settings(loaded[0], search or {}, overrides)
    if parsing:
        loaded[0] = with_parsing(loaded[0], parsing)
    where = choose_device(device)
    return Engine(loaded, settings, dtype=dtype or own_dtype(loaded, where), device=where)


def own_dtype(models: Sequence[LoadedModel], device: torch.device) -> Dtype:
    """What models calculate with where nothing is asked for: int8 if all are stored in it and on a CPU, else float32.

    Args:
        models: one, or those of an ensemble.
        device: where they are to work.
    """
    return "int8" if device.type == "cpu" and all(each.description.dtype == "int8" for each in models) else "float32"


def search_settings(model: LoadedModel, search: Mapping[str, Any], overrides: Sequence[str]) -> SearchConfig:
    """The model's own search settings with some changed.

    Raises:
        ModelError: the model's own cannot be meant.
        RecipeError: the changes cannot.
    """
    own = own_search(model.folder, model.description)
    return override_section(own, "search", overrides, changes=search)


def _check_ensemble(models: Sequence[LoadedModel]) -> None:
    first, *others = models
    for other in others:
        ours, theirs = (
            each.description.parsing and each.description.parsing.linearization() for each in (first, other)
        )
        if ours != theirs:
            raise ModelError(f"{other.folder}: does not write what {first.folder} writes; an ensemble is of one task")
        for side in ("source", "target"):
            ours, theirs = (getattr(model, f"{side}_tokenizer").serialized for model in (first, other))
            if ours != theirs:
                raise ModelError(
                    f"{other.folder}: its {side} vocabulary is not that of {first.folder}; an ensemble needs models "
                    "trained on the same prepared data"
                )
