"""The options of `attendo translate`, in groups."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from attendo.checkpoint.finding import find_model
from attendo.cli.option_groups import option_names
from attendo.cli.options import JsonLinesOption, NoGuardsOption, ReverseOption
from attendo.cli.progress import note

if TYPE_CHECKING:
    from attendo.terms.glossary import Glossary
    from attendo.workflow.documents.settings import DocumentSettings
    from attendo.workflow.engines.aids import Aids

FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="Read FILE in this format, whatever its name: po, xliff, android, json and more; text for plain lines.",
    ),
]
ToOption = Annotated[
    str | None,
    typer.Option("--to", metavar="LANGUAGE", help="Target language, with a region if needed, such as de-AT."),
]
TemplateOption = Annotated[
    Path | None,
    typer.Option(
        "--template",
        metavar="FILE",
        help="The file in the source language, if FILE is its translation in a format with one language per file.",
    ),
]


@dataclass(frozen=True)
class AidOptions:
    """Guards, terms, memories and a reverse model: influences on translations besides the model and its search."""

    no_guards: NoGuardsOption = False
    glossary: Annotated[
        list[Path] | None,
        typer.Option(
            "--glossary",
            metavar="FILE",
            help="Use the terms of this glossary (CSV, TSV, TBX, OmegaT or DeepL), inflected as the sentence needs "
            "them; may be repeated. See docs/terms.md.",
        ),
    ] = None

    memory: Annotated[
        list[Path] | None,
        typer.Option(
            "--memory",
            metavar="FILE",
            help="Take translations of known texts from this translation memory (TMX, XLIFF, PO, TSV, or an index of "
            "`attendo memory build`), and follow it for similar texts; may be repeated. See docs/memory.md.",
        ),
    ] = None
    memory_threshold: Annotated[
        int,
        typer.Option(
            "--memory-threshold",
            min=50,
            max=100,
            help="Minimum similarity of a similar text, in per cent of its words.",
        ),
    ] = 75
    reverse: ReverseOption = None

    def aids(self, model: str) -> "Aids":
        """Returns the glossaries and translation memories, and notes oddities in the glossaries.

        Args:
            model: the model, which determines the languages.

        Raises:
            DataError: a glossary cannot be read.
            ModelError: there is no such model.
        """
        from attendo.workflow.engines.aids import Aids

        return Aids(
            glossary=self._read_glossary(model),
            memory=tuple(self.memory or ()),
            memory_threshold=self.memory_threshold,
        )

    def _read_glossary(self, model: str) -> "Glossary | None":
        if not self.glossary:
            return None
        from attendo.terms.files import joined_glossaries, read_glossary
        from attendo.workflow.documents.opening import model_languages

        source, target = model_languages(find_model(model))
        read = [read_glossary(path, source=source, target=target) for path in self.glossary]
        for path, its in zip(self.glossary, read, strict=True):
            for message in its.notes:
                note(f"{path}: {message}")
        return joined_glossaries(read)


@dataclass(frozen=True)
class LineOptions:
    """Further input beside lines of text, and the output format of each."""

    n_best: Annotated[
        int | None,
        typer.Option(
            "--n-best", min=1, help="Number of translations per line, each written as LINE-NUMBER TAB TRANSLATION."
        ),
    ] = None
    scores: Annotated[
        bool,
        typer.Option(
            "--scores",
            help="Write SCORE TAB LOG-PROBABILITY before each translation; with --n-best, after the line number.",
        ),
    ] = False
    alignment: Annotated[
        bool,
        typer.Option(
            "--alignment",
            help="Write word alignments (source-target, such as 0-0 1-2) and a TAB before each translation, after any "
            "scores.",
        ),
    ] = False
    target_prefix: Annotated[
        Path | None,
        typer.Option(
            "--target-prefix", metavar="FILE", help="File with the beginning of each translation, one per line."
        ),
    ] = None
    forced_words: Annotated[
        Path | None,
        typer.Option(
            "--forced-words",
            metavar="FILE",
            help="File with the words that each translation must contain: one line per sentence, separated by TABs.",
        ),
    ] = None
    as_json: JsonLinesOption = False
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="ADDRESS",
            help="Translate FILE on a Ray cluster (auto, HOST:PORT, or local for this machine); see docs/clusters.md.",
        ),
    ] = None

    def given(self) -> list[str]:
        """The options given on the command line, as they are spelled there."""
        return _given(self)


@dataclass(frozen=True)
class DocumentOptions:
    """The options for translating files of known formats."""

    to: ToOption = None
    only: Annotated[
        Literal["new", "fuzzy", "all"] | None,
        typer.Option(
            "--only",
            help="Messages to translate: untranslated ones (new, the default), ones marked for review (fuzzy), or all "
            "that are not approved.",
        ),
    ] = None
    mark: Annotated[
        Literal["review", "problems", "none"] | None,
        typer.Option(
            "--mark", help="Mark for review every new translation (the default), only those with problems, or none."
        ),
    ] = None
    check: Annotated[
        Literal["off", "warn", "error"] | None,
        typer.Option(
            "--check",
            help="Check placeholders, codes, punctuation and more; with error, exit with status 1 if a check fails.",
        ),
    ] = None
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write a JSON report with the outcome of each message."),
    ] = None
    template: TemplateOption = None
    format: FormatOption = None

    def given(self) -> list[str]:
        """The options given on the command line except the format, as they are spelled there."""
        return [name for name in _given(self) if name != "--format"]

    def document_settings(self) -> "DocumentSettings":
        """Converts the options to `DocumentSettings`."""
        from attendo.workflow.documents.settings import DocumentSettings

        return DocumentSettings(
            target=self.to,
            only=self.only or "new",
            mark=self.mark or "review",
            check=self.check or "warn",
            template=self.template,
            format=self.format,
        )


def _given(group: LineOptions | DocumentOptions) -> list[str]:
    names = option_names(type(group))
    return [names[field.name] for field in fields(group) if getattr(group, field.name) != field.default]
