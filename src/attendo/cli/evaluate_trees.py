"""`attendo evaluate --trees`: what a parser is worth on a treebank."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from attendo import __version__
from attendo.cli.progress import JobProgress, note, notes
from attendo.files import write_text
from attendo.reading import printable

if TYPE_CHECKING:
    from attendo.decoding.native_model import Dtype
    from attendo.parsing.treebank import Treebank
    from attendo.workflow.evaluate_parser import ParserInput

_OF_TREES = ("given", "parameters", "unconstrained")
_OF_TEXT = (
    "source",
    "reference",
    "no_guards",
    "tokenized",
    "tokenized_lowercased",
    "resamples",
    "kept",
    "robustness",
    "other_language",
    "seed",
)
_NAMED = {"given": "--input"}
_LISTED = 5


def check_options(context: typer.Context, *, of_trees: bool) -> None:
    """Refuses options of a translator's evaluation in a parser's, and the other way round.

    Args:
        context: of the command.
        of_trees: whether it is a parser's.

    Raises:
        BadParameter: there is one, or what to evaluate on is left out.
    """
    for name in _OF_TEXT if of_trees else _OF_TREES:
        where_from = context.get_parameter_source(name)
        if where_from is not None and where_from.name != "DEFAULT":
            option = _NAMED.get(name, f"--{name.replace('_', '-')}")
            way_out = "is for translations; leave --trees out" if of_trees else "needs --trees"
            raise typer.BadParameter(way_out, param_hint=option)
    if of_trees:
        return
    from attendo.formats.pairs.table import has_both_sides

    source, reference = context.params["source"], context.params["reference"]
    if source is None:
        raise typer.BadParameter("name the file, or give --trees for a parser", param_hint="--source")
    if reference is None and not has_both_sides(source):
        raise typer.BadParameter(
            "name the file, or give --trees for a parser; TMX, XLIFF, PO, CSV, TSV and JSON lines (.jsonl) need none",
            param_hint="--reference",
        )


def evaluate_trees(
    model: str,
    trees: str,
    *,
    given: "ParserInput | None",
    parameters: str | None,
    output: Path | None,
    search: Mapping[str, Any],
    overrides: Sequence[str],
    ensemble: Sequence[str],
    unconstrained: bool,
    dtype: "Dtype | None",
    device: Literal["auto", "cpu", "cuda"],
    threads: int | None,
    card: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Parses a treebank's sentences, prints the figures, and writes what is asked for; see the command's options."""
    from attendo.parsing.evalb_parameters import find_parameters
    from attendo.text.file_patterns import matching_files
    from attendo.workflow.input_files import check_inputs

    check_inputs(models=(model, *ensemble), files=matching_files(trees, Path()))
    found = find_parameters(parameters)
    for warning in found.warnings:
        note(printable(warning))
    from attendo.workflow.card_evaluations import check_section_name, write_to_card
    from attendo.workflow.card_parser import parser_section
    from attendo.workflow.evaluate_parser import evaluate_parser, read_gold
    from attendo.workflow.parse_scores import tree_line
    from attendo.workflow.translate import load

    if card is not None:
        if ensemble:
            raise typer.BadParameter("is of one model; leave --ensemble out", param_hint="--card")
        check_section_name(card)
    gold = read_gold(trees)
    _tell_problems(gold)
    engine = load(
        model,
        ensemble=ensemble,
        search=search,
        overrides=overrides,
        parsing={"constrained": False} if unconstrained else None,
        dtype=dtype,
        device=device,
        threads=threads,
    )
    with JobProgress("parsing", "sentences", len(gold.trees), quiet=quiet) as progress:
        evaluation = evaluate_parser(engine, gold.trees, found.parameters, given=given, progress=progress.update)
    if output:
        write_text(output, "".join(f"{tree_line(parse)}\n" for parse in evaluation.parses))
    if as_json:
        told = {**evaluation.to_json(), "parameters": parameters or "collins", "unread": len(gold.problems)}
        print(json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        print(printable(evaluation.to_text()))
    if card is not None:
        name = Path(parameters).name if parameters else "collins"
        section = parser_section(card, evaluation, search=engine.search, parameters=name, version=__version__)
        notes(quiet=quiet)(f"wrote the figures into {write_to_card(model, card, section)}")


def _tell_problems(gold: "Treebank") -> None:
    """Says what of a treebank is left out."""
    for problem in gold.problems[:_LISTED]:
        note(f"left out: {printable(str(problem))}")
    if len(gold.problems) > _LISTED:
        note(f"left out: {len(gold.problems) - _LISTED} more that cannot be read")
