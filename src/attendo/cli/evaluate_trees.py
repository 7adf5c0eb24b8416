"""`attendo evaluate --trees`: a parser's scores on a treebank."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from attendo import __version__
from attendo.cli.evaluate_options import ResultOptions, TextOptions, TreeOptions
from attendo.cli.option_groups import option_names
from attendo.cli.options import EngineOptions
from attendo.cli.progress import JobProgress, note, notes
from attendo.files import write_text
from attendo.reading import printable

if TYPE_CHECKING:
    from attendo.parsing.treebank import Treebank

_LISTED = 5


def check_options(context: typer.Context, *, of_trees: bool) -> None:
    """Rejects translation options when a parser is evaluated, and parser options when a translator is.

    Args:
        context: the command's context.
        of_trees: whether a parser is evaluated.

    Raises:
        BadParameter: an option does not apply, or the test data is missing.
    """
    of_text = {"source": "--source", "reference": "--reference", **option_names(TextOptions)}
    for name, option in (of_text if of_trees else option_names(TreeOptions)).items():
        where_from = context.get_parameter_source(name)
        if where_from is not None and where_from.name != "DEFAULT":
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


def check_card(card: str | None, ensemble: Sequence[str] | None, *, reverse: str | None = None) -> None:
    """Rejects writing several models' figures into one model's card, and a section name that cannot be a heading.

    Raises:
        BadParameter: the model is part of an ensemble, or there is a reverse model.
        DataError: the name cannot be a heading.
    """
    if card is None:
        return
    if ensemble:
        raise typer.BadParameter("is of one model; leave --ensemble out", param_hint="--card")
    if reverse:
        raise typer.BadParameter("is of one model; leave --reverse out", param_hint="--card")
    from attendo.workflow.cards.card_evaluations import check_section_name

    check_section_name(card)


def evaluate_trees(
    model: str, treebank: str, options: EngineOptions, trees: TreeOptions, results: ResultOptions
) -> None:
    """Parses a treebank's sentences, prints the figures, and writes the requested files; see the command's options."""
    from attendo.parsing.evalb.parameters import find_parameters
    from attendo.text.files.file_patterns import matching_files
    from attendo.workflow.input_files import check_inputs

    check_inputs(models=options.models(model), files=matching_files(treebank, Path()))
    found = find_parameters(trees.parameters)
    for warning in found.warnings:
        note(printable(warning))
    check_card(results.card, options.ensemble)
    from attendo.workflow.evaluation.evaluate_parser import evaluate_parser, read_gold
    from attendo.workflow.evaluation.parse_scores import tree_line

    gold = read_gold(treebank)
    _report_skipped(gold)
    engine = options.load(model, unconstrained=trees.unconstrained)
    with JobProgress("parsing", "sentences", len(gold.trees), quiet=results.quiet) as progress:
        evaluation = evaluate_parser(engine, gold.trees, found.parameters, given=trees.given, progress=progress.update)
    if results.output:
        write_text(results.output, "".join(f"{tree_line(parse)}\n" for parse in evaluation.parses))
    if results.as_json:
        figures = {**evaluation.to_json(), "parameters": trees.parameters or "collins", "unread": len(gold.problems)}
        print(json.dumps(figures, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        print(printable(evaluation.to_text()))
    if results.card is not None:
        from attendo.workflow.cards.card_evaluations import write_to_card
        from attendo.workflow.cards.card_parser import parser_section

        name = Path(trees.parameters).name if trees.parameters else "collins"
        section = parser_section(results.card, evaluation, search=engine.search, parameters=name, version=__version__)
        notes(quiet=results.quiet)(f"wrote the figures into {write_to_card(model, results.card, section)}")


def _report_skipped(gold: "Treebank") -> None:
    """Reports the trees of a treebank that are skipped."""
    for problem in gold.problems[:_LISTED]:
        note(f"left out: {printable(str(problem))}")
    if len(gold.problems) > _LISTED:
        note(f"left out: {len(gold.problems) - _LISTED} more that cannot be read")
