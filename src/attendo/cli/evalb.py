"""`attendo evalb`: compares a parser's trees with a treebank's, with EVALB's scores."""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attendo.cli.options import JsonOption
from attendo.cli.progress import note
from attendo.errors import DataError
from attendo.reading import printable

if TYPE_CHECKING:
    from attendo.parsing.evalb.brackets import SentenceScore
    from attendo.parsing.evalb.files import Evaluation
    from attendo.parsing.evalb.parameters import EvalbParameters


def evalb(
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="Trees of the treebank, one per line.")],
    test: Annotated[
        Path, typer.Argument(metavar="TEST", help="Trees of the parser, one per line; an empty line if there is none.")
    ],
    parameters: Annotated[
        str | None,
        typer.Option(
            "--parameters",
            "-p",
            metavar="FILE.prm",
            help="An EVALB parameter file, or collins, new or nk, which are built in. Default: collins.",
        ),
    ] = None,
    cutoff_length: Annotated[
        int | None,
        typer.Option(
            "--cutoff-length",
            "-c",
            help="Maximum sentence length in words for the second summary. Default: that of the parameter file.",
        ),
    ] = None,
    max_error: Annotated[
        int | None,
        typer.Option(
            "--max-error", "-e", min=0, help="Stop after this number of errors. Default: that of the parameter file."
        ),
    ] = None,
    report: Annotated[
        bool,
        typer.Option(
            "--report", help="Also print a summary in which every sentence counts, and recall and precision per label."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compares trees by EVALB's rules and prints EVALB's output: a row per sentence, all, and length <= 40."""
    from attendo.workflow.input_files import check_inputs

    check_inputs(files=(gold, test))  # before the table's head is printed
    from attendo.parsing.evalb.files import evaluate_files
    from attendo.parsing.evalb.parameters import find_parameters
    from attendo.parsing.evalb.summary import HEAD

    found = find_parameters(parameters)
    for warning in found.warnings:
        note(printable(warning))
    chosen = found.parameters
    if cutoff_length is not None:
        chosen = replace(chosen, cutoff_length=cutoff_length)
    if max_error is not None:
        chosen = replace(chosen, max_error=max_error)
    rows: list[dict[str, Any]] = []

    def on_score(score: "SentenceScore") -> None:
        for message in score.messages:
            print(f"{score.number} : {printable(message)}", file=sys.stderr)
        if as_json:
            rows.append(_sentence(score))
        else:
            _print_row(score)

    if not as_json:
        print(HEAD, end="")
    evaluation = evaluate_files(gold, test, chosen, on_score)
    if as_json:
        print(json.dumps(_json(evaluation, chosen, rows), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        print(evaluation.summary.to_text(), end="")
        if report:
            print(f"\n{printable(evaluation.every_sentence.to_text())}", end="")
    _remark(evaluation)
    if evaluation.problem:
        raise DataError(evaluation.problem)


def _print_row(score: "SentenceScore") -> None:
    from attendo.parsing.evalb.summary import row

    print(f"{row(score)}{printable(score.details)}", end="")


def _remark(evaluation: "Evaluation") -> None:
    """Notes on standard error what EVALB's figures do not show."""
    every = evaluation.every_sentence
    if every.num_failed:
        note(
            f"{every.num_failed} of {every.num_sentences} sentences could not be compared and count for nothing in the "
            f"figures of EVALB; as parses in which nothing is found: recall {every.recall:.2f}, precision "
            f"{every.precision:.2f}, F1 {every.f1:.2f}"
        )
    if every.num_bad_gold:
        note(f"trees of the gold file that cannot be read: {every.num_bad_gold}")
    unlabelled = every.gold[""] + every.test[""]
    if unlabelled:
        note(
            f"brackets without a label, as the outer one of ( (S ...) ): {unlabelled}; EVALB counts each as a "
            "constituent, so write the trees without them (docs/parsing.md)"
        )


def _sentence(score: "SentenceScore") -> dict[str, Any]:
    return {
        "number": score.number,
        "length": score.length,
        "status": score.status,
        "matched": score.matched,
        "gold_brackets": score.gold_brackets,
        "test_brackets": score.test_brackets,
        "crossing": score.crossing,
        "words": score.words,
        "correct_tags": score.correct_tags,
        "messages": list(score.messages),
    }


def _json(evaluation: "Evaluation", parameters: "EvalbParameters", rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "parameters": asdict(parameters),
        "all": evaluation.summary.all.to_json(),
        "short": {"cutoff_length": parameters.cutoff_length, **evaluation.summary.short.to_json()},
        "every_sentence": evaluation.every_sentence.to_json(),
        "sentences": rows,
    }
