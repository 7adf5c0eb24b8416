"""`attendo check`: checks the translations in files."""

import json
from pathlib import Path
from typing import Annotated

import typer

from attendo.cli.options import JsonOption, QuietOption
from attendo.cli.progress import counted, notes
from attendo.cli.translate_options import FormatOption, TemplateOption, ToOption


def check(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Translated files: PO, XLIFF, Android strings and more.")
    ],
    to: ToOption = None,
    template: TemplateOption = None,
    format: FormatOption = None,  # the name of the option
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Checks translated files: placeholders, codes, accelerators, punctuation, lengths, plural forms.

    Prints a line per finding: FILE:LINE: error or warning: the check and the problem. The exit status is 1 if there are
    errors.
    """
    from attendo.workflow.documents.checking import check_document
    from attendo.workflow.documents.settings import DocumentSettings

    say = notes(quiet=quiet)
    settings = DocumentSettings(target=to, template=template, format=format, only="all")
    found = []
    for path in files:
        document = check_document(path, settings)
        found.append(document)
        if not as_json:
            for unit in document.failed:
                place = f"{path}:{unit.line}" if unit.line else f"{path}: {unit.unit.id[:60]!r}"
                for finding in unit.findings:
                    print(f"{place}: {'error' if finding.is_error else 'warning'}: {finding}")
        num_errors = sum(any(one.is_error for one in unit.findings) for unit in document.failed)
        clean = document.num_checked - len(document.failed)
        say(
            f"checked {path}: {clean:,} of {counted(document.num_checked, 'message')} without a finding, "
            f"{num_errors:,} with errors, {document.num_untranslated:,} untranslated"
        )
    if as_json:
        listed = [
            {
                "file": str(document.path),
                "format": document.format,
                "units": [unit.as_json() for unit in document.failed],
            }
            for document in found
        ]
        print(json.dumps(listed if len(listed) > 1 else listed[0], ensure_ascii=False))
    if any(document.has_errors for document in found):
        raise typer.Exit(1)
