"""Evaluating a parser on a treebank: parse its sentences, compare the trees as EVALB does, and describe the errors."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from attendo.errors import DataError, ModelError
from attendo.parsing.conventions import GOLD_CONVENTIONS
from attendo.parsing.error_analysis import ErrorAnalysis
from attendo.parsing.evalb.brackets import OK, SentenceScore
from attendo.parsing.evalb.files import Evaluation
from attendo.parsing.evalb.parameters import EvalbParameters
from attendo.parsing.tree import Tree
from attendo.parsing.treebank import Treebank, read_treebank
from attendo.text.files.file_patterns import matching_files
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.parse import Parse, ParseCounts
from attendo.workflow.engines.parse_input import sentence_of
from attendo.workflow.evaluation.parse_scores import score_parses

ParserInput = Literal["words", "gold-tags"]
"""The input of a parser: words alone, or words with the treebank's tags."""

_SHOWN = 10


@dataclass(frozen=True, kw_only=True)
class Failures:
    """Why sentences are not compared."""

    not_parsed: int
    """Number of sentences without a tree."""
    tags: int
    """Number of sentences where EVALB's deletion of words by tag affects only one tree."""
    others: int
    """Number of other failures, such as a gold tree that cannot be read."""
    tagged: tuple[tuple[str, str, str, int], ...]
    """The words concerned in the sentences counted by `tags`: word, tag in the gold tree, tag in the parser's, how
    often; the most frequent first."""

    @property
    def num(self) -> int:
        """Returns the number of all failures."""
        return self.not_parsed + self.tags + self.others

    def to_text(self) -> str:
        """A summary line, and one line for each word tagged this way."""
        if not self.num:
            return "every sentence is compared"
        lines = [
            f"{self.num} sentences are not compared: {self.tags} since a word is punctuation by its tag in one tree "
            f"alone, {self.not_parsed} not parsed, {self.others} for other reasons"
        ]
        lines += [f"{count:6d}  {word} {gold} > {test}" for word, gold, test, count in self.tagged[:_SHOWN]]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Returns all fields."""
        return {
            "not_parsed": self.not_parsed,
            "tags": self.tags,
            "others": self.others,
            "tagged": [
                {"word": word, "gold": gold, "test": test, "count": count} for word, gold, test, count in self.tagged
            ],
        }


@dataclass(frozen=True, kw_only=True)
class ParserEvaluation:
    """The scores of a parser on a treebank."""

    given: ParserInput
    scores: Evaluation
    """EVALB's, and those in which every sentence counts."""
    failures: Failures
    errors: ErrorAnalysis
    """Errors in the sentences that are compared."""
    counts: ParseCounts
    """Outcomes of the sentences; repaired ones are malformed outputs."""
    constrained: bool
    """Whether the search could only write trees."""
    parses: tuple[Parse, ...]
    seconds: float
    """Wall time of parsing."""
    kernel: str
    """The implementation and its number type."""

    @property
    def f1(self) -> float:
        """F1 in per cent over all sentences."""
        return self.scores.every_sentence.f1

    @property
    def malformed(self) -> float:
        """The share of outputs that were no tree over the words, of those parsed."""
        return self.counts.mended / max(self.counts.parsed, 1)

    @property
    def sentences_per_s(self) -> float:
        """Parsed in a second."""
        return len(self.parses) / max(self.seconds, 1e-9)

    def to_json(self) -> dict[str, Any]:
        """A dictionary for `json.dumps`."""
        summary = self.scores.summary
        return {
            "f1": self.f1,
            "input": self.given,
            "constrained": self.constrained,
            "all": summary.all.to_json(),
            "short": {"cutoff_length": summary.cutoff_length, **summary.short.to_json()},
            "every_sentence": self.scores.every_sentence.to_json(),
            "failures": self.failures.to_json(),
            "malformed": {
                "count": self.counts.mended,
                "share": self.malformed,
                "faults": dict(self.counts.faults.most_common()),
            },
            "errors": self.errors.to_json(),
            "kernel": self.kernel,
            "parsing_s": round(self.seconds, 3),
            "sentences_per_s": round(self.sentences_per_s, 2),
        }

    def to_text(self) -> str:
        """Formats it for reading."""
        summary = self.scores.summary
        speed = f"{len(self.parses):,} sentences parsed in {self.seconds:.1f} s, {self.sentences_per_s:,.1f} a second"
        parts = [
            f"-- All --\n{summary.all.to_text()}",
            f"-- len<={summary.cutoff_length} --\n{summary.short.to_text()}",
            self.scores.every_sentence.to_text(),
            f"{self.failures.to_text()}\n{self._malformed_text()}",
            self.errors.to_text(),
            f"F1 {self.f1:.2f} with every sentence counted, from {_GIVEN[self.given]}; {speed} ({self.kernel})",
        ]
        return "\n\n".join(part.rstrip("\n") for part in parts)

    def _malformed_text(self) -> str:
        if self.constrained:
            return "no output can be malformed: the search writes nothing but trees over the words"
        kinds = ", ".join(f"{kind} {number:,}" for kind, number in self.counts.faults.most_common())
        return (
            f"malformed outputs, mended before they are compared: {self.counts.mended:,} of {self.counts.parsed:,} "
            f"({self.malformed:.2%})" + (f"; sentences by fault: {kinds}" if kinds else "")
        )


_GIVEN: dict[ParserInput, str] = {"words": "words alone", "gold-tags": "words with the treebank's tags"}


def read_gold(pattern: str) -> Treebank:
    """Reads the treebank that a parser is evaluated on.

    Args:
        pattern: a file, a folder or a pattern, as a corpus' `trees`.

    Raises:
        DataError: there is no such file, or no tree in it.
    """
    found = read_treebank(matching_files(pattern, Path()), GOLD_CONVENTIONS)
    if not found.trees:
        raise DataError(f"{pattern}: there is no tree that can be read")
    return found


def evaluate_parser(
    engine: Engine,
    gold: Sequence[Tree],
    parameters: EvalbParameters,
    *,
    given: ParserInput | None = None,
    progress: Callable[[int], None] | None = None,
) -> ParserEvaluation:
    """Parses the sentences of trees and compares.

    Args:
        engine: the parser.
        gold: the treebank's trees, by `conventions.GOLD_CONVENTIONS`.
        parameters: the rules of counting.
        given: the parser's input besides the words; None for what it needs. Gold tags do not help a parser that writes
            no tags: they are copied into its trees.
        progress: called with the number of sentences parsed so far.

    Raises:
        ModelError: the model is not a parser, or needs tags and none are given.
    """
    parsing = engine.description.parsing
    if parsing is None:
        raise ModelError("this model translates and does not parse; evaluate it with --source and --reference")
    given = given or ("gold-tags" if parsing.needs_tags else "words")
    if parsing.needs_tags and given == "words":
        does = (
            "reads words with their tags" if parsing.read_tags else "writes no tags, and EVALB counts words by theirs"
        )
        raise ModelError(f"this parser {does}; evaluate it with --input gold-tags")
    started = time.monotonic()
    counts, parses = ParseCounts(), []
    for parse in engine.stream_parses(sentence_of(tree, tags=given == "gold-tags") for tree in gold):
        parses.append(parse)
        counts.add(parse)
        if progress:
            progress(len(parses))
    seconds = time.monotonic() - started
    scored: list[SentenceScore] = []
    scores = score_parses(gold, parses, parameters, scored.append)
    errors = ErrorAnalysis(parameters)
    for tree, parse, score in zip(gold, parses, scored, strict=True):
        if score.status == OK:
            errors.add(tree, parse.tree)
    return ParserEvaluation(
        given=given,
        scores=scores,
        failures=_failures(gold, parses, scored, parameters),
        errors=errors,
        counts=counts,
        constrained=parsing.constrained,
        parses=tuple(parses),
        seconds=seconds,
        kernel=engine.kernel,
    )


def _failures(
    gold: Sequence[Tree], parses: Sequence[Parse], scored: Sequence[SentenceScore], parameters: EvalbParameters
) -> Failures:
    not_parsed = by_tags = others = 0
    tagged: Counter[tuple[str, str, str]] = Counter()
    for tree, parse, score in zip(gold, parses, scored, strict=True):
        if score.status == OK:
            continue
        if not parse.n_best:
            not_parsed += 1
            continue
        found = [
            (word, one, other)
            for word, one, other in zip(tree.words, tree.tags, parse.tree.tags, strict=True)
            if (one in parameters.delete_labels) != (other in parameters.delete_labels)
        ]
        tagged.update(found)
        by_tags += bool(found)
        others += not found
    ordered = sorted(tagged.items(), key=lambda item: (-item[1], item[0]))
    return Failures(
        not_parsed=not_parsed,
        tags=by_tags,
        others=others,
        tagged=tuple((*words, count) for words, count in ordered),
    )
