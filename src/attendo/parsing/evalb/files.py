"""EVALB over two files of trees, one per line."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from attendo.errors import DataError
from attendo.parsing.evalb.brackets import Scorer, SentenceScore
from attendo.parsing.evalb.parameters import EvalbParameters
from attendo.parsing.evalb.report import EverySentence
from attendo.parsing.evalb.summary import EvalbSummary
from attendo.text.files.formats import MAX_LINE_BYTES, LineReader


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The result of a comparison."""

    summary: EvalbSummary
    every_sentence: EverySentence
    problem: str | None = None
    """Why it does not cover all lines, if one file has more lines than the other."""


def evaluate(
    pairs: Iterable[tuple[str, str]],
    parameters: EvalbParameters,
    on_score: Callable[[SentenceScore], None] | None = None,
) -> Evaluation:
    """Compares trees.

    Args:
        pairs: pairs of lines, the gold tree and the test tree; only white space for a missing test tree.
        parameters: EVALB's parameters.
        on_score: called with the score of each sentence.

    Raises:
        DataError: there are two errors more than `parameters.max_error`, where EVALB stops; `on_score` is not called
            with the score of the last sentence.
    """
    scorer = Scorer(parameters)
    summary, every_sentence = EvalbSummary(parameters.cutoff_length), EverySentence()
    num_errors = 0
    for number, (gold, test) in enumerate(pairs, start=1):
        score = scorer.score(gold, test, number)
        num_errors += len(score.messages)
        if num_errors > parameters.max_error + 1:
            raise DataError(
                f"line {number}: {score.messages[-1]}; these are {num_errors} errors, and EVALB stops at more than "
                f"MAX_ERROR = {parameters.max_error}: are these trees of the same sentences? --max-error allows more"
            )
        summary.add(score)
        every_sentence.add(score)
        if on_score is not None:
            on_score(score)
    return Evaluation(summary=summary, every_sentence=every_sentence)


def evaluate_files(
    gold: Path, test: Path, parameters: EvalbParameters, on_score: Callable[[SentenceScore], None]
) -> Evaluation:
    """Compares line n of one file with line n of the other; plain, gz, bz2, xz or zst.

    Args:
        gold: the treebank's trees.
        test: the parser's trees, with an empty line for a missing one.
        parameters: EVALB's parameters.
        on_score: called with the score of each sentence.

    Returns:
        The scores; if one file has more lines, those of the lines that both have, as in EVALB, with the problem.

    Raises:
        DataError: as for `evaluate`; a file is missing or broken, a line is not UTF-8 or longer than 4 MB, or there is
            no line at all.
    """
    with LineReader(gold) as gold_lines, LineReader(test) as test_lines:
        evaluation = evaluate(_pairs(gold_lines, test_lines), parameters, on_score)
        for lines in (gold_lines, test_lines):
            for _ in lines:
                pass
        num_gold, num_test = gold_lines.num_lines, test_lines.num_lines
    if num_gold == num_test == 0:
        raise DataError(f"{gold} and {test}: no line at all, so there is nothing to compare; check the paths")
    if num_gold == num_test:
        return evaluation
    problem = (
        f"{gold} has {num_gold} lines and {test} has {num_test}, so that the figures are of the first "
        f"{min(num_gold, num_test)} alone; line n of one must be of the sentence of line n of the other, "
        "and an empty line stand for a tree that is not there"
    )
    return Evaluation(summary=evaluation.summary, every_sentence=evaluation.every_sentence, problem=problem)


def _pairs(gold: LineReader, test: LineReader) -> Iterator[tuple[str, str]]:
    for gold_line in gold:
        test_line = next(test, None)
        if test_line is None:
            return
        yield _decoded(gold_line, gold), _decoded(test_line, test)


def _decoded(line: bytes, lines: LineReader) -> str:
    where = f"{lines.path}: line {lines.num_lines}"
    if len(line) > MAX_LINE_BYTES:
        raise DataError(f"{where} is longer than {MAX_LINE_BYTES >> 20} MB; is this a file of trees, one per line?")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{where} is not UTF-8 at its byte {error.start + 1}; convert it, for instance with "
            "iconv -f latin1 -t utf-8"
        ) from error
