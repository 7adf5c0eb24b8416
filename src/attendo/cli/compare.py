"""`attendo compare`: is one output really better than another?"""

import json
from pathlib import Path
from typing import Annotated

import typer

from attendo.cli.options import JsonOption, ReferenceOption


def compare(
    output_a: Annotated[Path, typer.Argument(metavar="OUTPUT_A", help="Translations of one system, one a line.")],
    output_b: Annotated[Path, typer.Argument(metavar="OUTPUT_B", help="Those of the other.")],
    reference: ReferenceOption,
    target_language: Annotated[
        str, typer.Option("--target-language", help="Code that chooses BLEU's tokeniser (zh, ja, ko have their own).")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Tests whether two outputs differ by more than chance: paired bootstrap and approximate randomisation."""
    from attendo.workflow.input_files import check_inputs

    check_inputs(files=(output_a, output_b, reference))
    from attendo.evaluation.significance import compare_outputs
    from attendo.workflow.lines import lines_from

    outputs_a, outputs_b, references = (list(lines_from(path)) for path in (output_a, output_b, reference))
    comparison = compare_outputs(
        outputs_a,
        outputs_b,
        references,
        name_a=str(output_a),
        name_b=str(output_b),
        target_language=target_language,
    )
    print(json.dumps(comparison.to_json(), indent=2, ensure_ascii=False) if as_json else comparison.to_text())
