"""`attendo compare`: tests whether one output is significantly better than another."""

import json
from pathlib import Path
from typing import Annotated

import typer

from attendo.cli.options import JsonOption


def compare(
    output_a: Annotated[Path, typer.Argument(metavar="OUTPUT_A", help="Translations of one system, one per line.")],
    output_b: Annotated[
        Path, typer.Argument(metavar="OUTPUT_B", help="Translations of the other system, one per line.")
    ],
    reference: Annotated[
        Path,
        typer.Option(
            "--reference",
            metavar="FILE",
            help="Reference translations, one per line; or XLIFF, PO, or CSV with columns source and target.",
        ),
    ],
    target_language: Annotated[
        str,
        typer.Option(
            "--target-language",
            help="Language code of the target, which selects BLEU's tokeniser (zh, ja and ko have their own).",
        ),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Tests whether two systems differ significantly: paired bootstrap and approximate randomisation."""
    from attendo.formats.pairs.table import has_both_sides
    from attendo.workflow.input_files import check_inputs

    lines, units = ((), (reference,)) if has_both_sides(reference) else ((reference,), ())
    check_inputs(files=(output_a, output_b, *lines), of_units=units)
    from attendo.evaluation.significance import compare_outputs
    from attendo.workflow.lines import lines_from
    from attendo.workflow.parallel_text import read_references

    outputs_a, outputs_b = (list(lines_from(path)) for path in (output_a, output_b))
    references = read_references(reference, target_language)
    comparison = compare_outputs(
        outputs_a,
        outputs_b,
        references,
        name_a=str(output_a),
        name_b=str(output_b),
        target_language=target_language,
    )
    print(json.dumps(comparison.to_json(), indent=2, ensure_ascii=False) if as_json else comparison.to_text())
