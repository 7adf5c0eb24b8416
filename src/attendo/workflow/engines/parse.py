"""Parsers from model folders: sentences as words in, constituency trees out."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from attendo.decoding.backends.models import DecodingModel
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules, length_bounds
from attendo.decoding.constraints.grammar import Grammar
from attendo.decoding.lines.windows import PAUSE_S, windows
from attendo.decoding.parallel import IdSearch
from attendo.decoding.searches.hypothesis import Hypothesis
from attendo.decoding.watch import BetweenSteps, Watch, nobody
from attendo.errors import DataError, ModelError
from attendo.parsing.config import ParsingConfig
from attendo.parsing.linearization import Fault, FaultKind, read_symbol, repaired
from attendo.parsing.sentences import GivenSentence, Sentence, source_text, source_words
from attendo.parsing.tokenizing import PLAIN
from attendo.parsing.tree import Tree
from attendo.parsing.word_tags import possible_tags
from attendo.parsing.words import unescaped
from attendo.text.subwords.pieces import SPACE_MARK
from attendo.text.subwords.tokenization import EOS_ID, Tokenizer
from attendo.workflow.engines.parse_input import SentenceReader, attempted

_CHARACTERS_PER_TOKEN = 32
"""Twice the length of SentencePiece's longest piece: a longer sentence certainly has too many tokens."""

Tags = Sequence[str | None]
"""Tags of a sentence's words; None for a word without a given tag."""


@dataclass(frozen=True, kw_only=True)
class ParsedTree:
    """A tree of a sentence, with its score."""

    tree: Tree
    """The tree, over exactly the words of the sentence."""
    score: float
    """The log-probability divided by the length penalty, by which trees are ranked."""
    log_prob: float
    """The natural logarithm of the probability of the symbols."""
    symbols: tuple[str, ...]
    """The symbols that the model wrote; see `attendo.parsing.linearization`."""
    faults: tuple[Fault, ...]
    """Repairs that were needed because the symbols were not a tree; none if the search is constrained."""


@dataclass(frozen=True, kw_only=True)
class Parse:
    """A sentence and its trees, or the reason why it has none."""

    words: tuple[str, ...]
    """The words of the sentence; empty if it is empty or could not be read."""
    n_best: tuple[ParsedTree, ...]
    """The trees, all different, the best first; none if the sentence is empty or could not be parsed."""
    problem: str | None = None
    """Why the sentence could not be parsed; None if it was parsed or is empty."""

    @property
    def is_empty(self) -> bool:
        """Whether the sentence has no words."""
        return not self.n_best and self.problem is None

    @property
    def tree(self) -> Tree:
        """The best tree.

        Raises:
            DataError: the sentence has no tree; the message says why.
        """
        if not self.n_best:
            raise DataError(self.problem or "a sentence has no words; leave it out")
        return self.n_best[0].tree


@dataclass(kw_only=True)
class ParseCounts:
    """Counts of parsed sentences."""

    sentences: int = 0
    """Number of sentences."""
    empty: int = 0
    """Number of sentences without words."""
    failed: int = 0
    """Number of sentences that could not be parsed."""
    mended: int = 0
    """Number of sentences whose best tree had to be repaired, because the model's symbols were not a tree."""
    faults: Counter[FaultKind] = field(default_factory=Counter)
    """Number of sentences whose best tree has each kind of fault."""

    @property
    def parsed(self) -> int:
        """Number of sentences that have a tree."""
        return self.sentences - self.empty - self.failed

    def add(self, parse: Parse) -> None:
        """Adds a sentence to the counts."""
        self.sentences += 1
        self.empty += parse.is_empty
        self.failed += parse.problem is not None
        for best in parse.n_best[:1]:
            self.mended += bool(best.faults)
            self.faults.update({fault.kind for fault in best.faults})


@dataclass(frozen=True, kw_only=True)
class _Prepared:
    """A sentence in the form required by the search."""

    sentence: Sentence
    ids: list[int]
    rules: Rules


class Parser:
    """Parses sentences with one model, or with several as an ensemble.

    Args:
        models: the models; the mean of their probabilities is searched.
        source: the vocabulary of sentences.
        target: the vocabulary of symbols.
        search: the search settings.
        parsing: the linearization of trees, and its limits.
        word_tags: the tags that words can have, see `attendo.parsing.word_tags`; None if unknown.
        threads: the number of threads.
        between_steps: called between two decoder steps if a call has no such function of its own; it cancels no
            sentence, but an exception from it ends the call.
    """

    def __init__(
        self,
        models: Sequence[DecodingModel],
        source: Tokenizer,
        target: Tokenizer,
        search: SearchConfig,
        parsing: ParsingConfig,
        *,
        word_tags: Mapping[str, Sequence[str]] | None = None,
        threads: int = 1,
        between_steps: BetweenSteps = nobody,
    ) -> None:
        self.search, self.parsing = search, parsing
        self._between_steps = between_steps
        self._word_tags = {} if word_tags is None or parsing.tags == "XX" else word_tags
        self._source = source
        self._reader = SentenceReader()
        self._search = IdSearch(models, search, threads=threads)
        self._symbols = {
            number: piece.removeprefix(SPACE_MARK)
            for number, piece in enumerate(target.pieces(range(target.vocab_size)))
            if piece.startswith(SPACE_MARK)
        }
        self._grammar = Grammar(self._symbols, parsing.order, EOS_ID, max_unary=parsing.max_unary)
        read = [read_symbol(symbol, parsing.order) for symbol in self._symbols.values()]
        self._tags = frozenset(symbol.label for symbol in read if symbol is not None and symbol.kind == "word")
        known = set().union(*source.pieces(range(source.vocab_size)))
        self._plain = str.maketrans({letter: plain for letter, plain in PLAIN.items() if letter not in known})
        configs = [model.config for model in models]
        learned = [config.max_positions for config in configs if config.positions == "learned"]
        # One position is reserved for the source's </s>, and one of the target for the start.
        self._max_positions = min(learned) - 1 if learned else None

    def sentence(self, given: GivenSentence) -> Sentence:
        """Reads a sentence given by a program, as text or as words.

        Raises:
            DataError: it has words or tags that no tree can have.
            AttendoError: it is plain text, and NLTK is not installed.
        """
        return self._reader.read(given)

    def sentences(self, given: Iterable[GivenSentence | DataError]) -> Iterator[Sentence | DataError]:
        """Reads sentences as `sentence` does; one that cannot be read is replaced by the reason."""
        return (each if isinstance(each, DataError) else attempted(self.sentence, each) for each in given)

    def parse(self, sentences: Sequence[Sequence[str]], tags: Sequence[Tags | None] | None = None) -> list[Parse]:
        """Finds the trees of sentences.

        Args:
            sentences: the sentences, each as words in treebank style; words contain no white space.
            tags: for each sentence the given tags of its words, or None.

        Returns:
            A parse for each sentence, in order; a sentence that cannot be parsed has a `problem`.

        Raises:
            ModelError: the parser reads tags, and a word has none; or its probabilities are not numbers.
        """
        given = tags or [None] * len(sentences)
        return self.parse_sentences(
            [_sentence(words, its_tags) for words, its_tags in zip(sentences, given, strict=True)]
        )

    def parse_sentences(self, sentences: Sequence[Sentence | DataError], *, first: int = 1) -> list[Parse]:
        """Parses as `parse` does.

        Args:
            sentences: or why one could not be read, which becomes its `problem`.
            first: the number of the first sentence, which determines its samples.
        """
        found = self.parse_watched(sentences, self._between_steps, first=first)
        return [parse for parse in found if parse is not None]

    def parse_watched(
        self, sentences: Sequence[Sentence | DataError], between_steps: BetweenSteps, *, first: int = 1
    ) -> list[Parse | None]:
        """Parses as `parse_sentences` does; sentences may be cancelled meanwhile.

        Args:
            sentences: the sentences, or the reasons why they could not be read.
            between_steps: called between two decoder steps.
            first: the number of the first sentence, which `between_steps` counts from.

        Returns:
            A parse for each sentence, in order; None for a sentence cancelled before it is done.
        """
        prepared = [self._prepared(sentence, number) for number, sentence in enumerate(sentences, start=first)]
        ready = [(number, each) for number, each in enumerate(prepared, start=first) if isinstance(each, _Prepared)]
        watch = Watch(between_steps=between_steps, lines=[number for number, _ in ready])
        ids, rules = [each.ids for _, each in ready], [each.rules for _, each in ready]
        found = iter(self._search.search(ids, rules, watch))
        return [each if isinstance(each, Parse) else self._parse(each.sentence, next(found)) for each in prepared]

    def stream(self, sentences: Iterable[Sentence | DataError], *, pause_s: float = PAUSE_S) -> Iterator[Parse]:
        """Parses sentences as they arrive: `search.window_lines` at a time, or fewer when the input pauses.

        Args:
            sentences: the sentences, or the reasons why they could not be read.
            pause_s: seconds without a new sentence after which those read so far are parsed.

        Yields:
            A parse for each sentence, in order, the same as `parse_sentences` gives for all at once.
        """
        first = 1
        arriving = windows(
            ((sentence,) for sentence in sentences),
            self.search.window_lines,
            pause_s=pause_s,
            characters=lambda item: _num_characters(item[0]),
        )
        for window in arriving:
            yield from self.parse_sentences([sentence for (sentence,) in window], first=first)
            first += len(window)

    def read(self, sentence: Sentence) -> str:
        """Returns the model's input for a sentence.

        Treebank names of brackets and quotation marks are converted to plain text, and typographic characters that the
        vocabulary has no pieces for are plain ones.

        Raises:
            ModelError: the parser reads tags, and a word has none.
        """
        words = self._words_read(sentence)
        if not self.parsing.read_tags:
            return source_text(words)
        tags = [tag for tag in sentence.tags or () if tag is not None]
        if len(tags) < len(words):
            raise ModelError("this parser reads words with their tags; give each word its tag")
        return source_text(words, tags)

    def _words_read(self, sentence: Sentence) -> list[str]:
        return [word.translate(self._plain) for word in source_words(map(unescaped, sentence.words))]

    def _prepared(self, sentence: Sentence | DataError, number: int) -> _Prepared | Parse:
        """Prepares a sentence, or returns the reason why it cannot be parsed."""
        if isinstance(sentence, DataError):
            return Parse(words=(), n_best=(), problem=str(sentence))
        if not sentence.words:
            return Parse(words=(), n_best=())
        try:
            ids = self._encoded(self.read(sentence))
            return _Prepared(sentence=sentence, ids=ids, rules=self._rules(sentence, len(ids) - 1, number))
        except DataError as error:
            return Parse(words=tuple(sentence.words), n_best=(), problem=str(error))

    def _encoded(self, text: str) -> list[int]:
        most = self.search.max_source_tokens
        if self._max_positions is not None:
            most = min(most, self._max_positions)
        if len(text) > most * _CHARACTERS_PER_TOKEN:
            raise DataError(f"too long: {len(text):,} characters, more than {most:,} tokens can be")
        ids = self._source.encode(text)
        if len(ids) - 1 > most:
            raise DataError(f"too long: {len(ids) - 1:,} tokens, more than {most:,}; raise search.max_source_tokens")
        return ids

    def _rules(self, sentence: Sentence, num_tokens: int, number: int) -> Rules:
        words = self._words_read(sentence)
        _, max_len = length_bounds(self.search, num_tokens)
        if self.search.max_len is None:
            # Trees of long sentences have more symbols than tokens and, as in the paper, a fixed number more.
            max_len = max(max_len, math.ceil(self.parsing.symbols_per_word * len(words)))
        if self._max_positions is not None:
            max_len = min(max_len, self._max_positions)
        if not self.parsing.constrained:
            return Rules(max_len=max_len, seed=number)
        given = sentence.tags or [None] * len(words)
        tags = [self._possible_tags(word, tag) for word, tag in zip(words, given, strict=True)]
        constraint = self._grammar.sentence(len(words), max_len, tags)
        return Rules(max_len=max_len, constraints=(constraint,), seed=number)

    def _possible_tags(self, word: str, given: str | None) -> frozenset[str] | None:
        """Returns the tags that the search may use for a word; None for any."""
        if given is not None:
            # A tag that is not in the vocabulary is put into the tree afterwards.
            return frozenset((given,)) if given in self._tags else None
        return (possible_tags(word, self._word_tags) or frozenset()) & self._tags or None

    def _parse(self, sentence: Sentence, hypotheses: Sequence[Hypothesis]) -> Parse | None:
        """Returns a parse; None without hypotheses. Repaired or retagged hypotheses may be the same tree."""
        if not hypotheses:
            return None
        found: dict[Tree, ParsedTree] = {}
        for hypothesis in hypotheses:
            parsed = self._tree(hypothesis, sentence)
            found.setdefault(parsed.tree, parsed)
        return Parse(words=tuple(sentence.words), n_best=tuple(found.values())[: self.search.n_best])

    def _tree(self, hypothesis: Hypothesis, sentence: Sentence) -> ParsedTree:
        symbols = tuple(self._symbols.get(number, "") for number in hypothesis.ids)
        read = repaired(symbols, sentence.words, self.parsing.order)
        return ParsedTree(
            tree=read.tree if sentence.tags is None else with_tags(read.tree, sentence.tags),
            score=hypothesis.score,
            log_prob=hypothesis.log_prob,
            symbols=symbols,
            faults=read.faults,
        )


def with_tags(tree: Tree, tags: Tags) -> Tree:
    """Returns a tree with other tags.

    Args:
        tree: the tree.
        tags: the tag of each of its words; None keeps the tag.
    """
    remaining = iter(tags)

    def change(node: Tree, children: tuple[Tree, ...]) -> tuple[Tree]:
        if not node.is_word:
            return (Tree(node.label, children),)
        tag = next(remaining)
        return (node if tag in (None, node.label) else Tree(tag or node.label, word=node.word),)

    [changed] = tree.transformed(change)
    return changed


def _sentence(words: Sequence[str], tags: Tags | None) -> Sentence | DataError:
    try:
        return Sentence(words=words, tags=tags)
    except DataError as error:
        return error


def _num_characters(sentence: Sentence | DataError) -> int:
    return 1 if isinstance(sentence, DataError) else sum(len(word) + 1 for word in sentence.words)
