"""The options of `attendo translate`, in groups."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from attendo.checkpoint.finding import find_model
from attendo.cli.option_groups import option_names
from attendo.cli.options import JsonLinesOption, NoGuardsOption
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
        help="Read FILE as this format, whatever its name: po, xliff, android, json and more; text for lines.",
    ),
]
ToOption = Annotated[
    str | None,
    typer.Option("--to", metavar="LANGUAGE", help="The target language with its region, such as de-AT."),
]
TemplateOption = Annotated[
    Path | None,
    typer.Option(
        "--template",
        metavar="FILE",
        help="The file with the sources, where FILE is its translation in a format of one language a file.",
    ),
]


@dataclass(frozen=True)
class AidOptions:
    """What acts on translations beside the model and its search: guards, terms and translation memories."""

    no_guards: NoGuardsOption = False
    glossary: Annotated[
        list[Path] | None,
        typer.Option(
            "--glossary",
            metavar="FILE",
            help="Use the terms of this glossary (CSV, TSV, TBX, or one of OmegaT's or DeepL's), inflected as the "
            "sentence needs them; may be repeated. See docs/terms.md.",
        ),
    ] = None

    memory: Annotated[
        list[Path] | None,
        typer.Option(
            "--memory",
            metavar="FILE",
            help="Take texts from this translation memory (TMX, XLIFF, PO, TSV, or what `attendo memory build` wrote), "
            "and translate similar ones after it; may be repeated. See docs/memory.md.",
        ),
    ] = None
    memory_threshold: Annotated[
        int,
        typer.Option(
            "--memory-threshold", min=50, max=100, help="Per cent of the words that a similar text has to share."
        ),
    ] = 75

    def aids(self, model: str) -> "Aids":
        """Gives the glossaries and translation memories, and says what is unusual in the glossaries.

        Args:
            model: translates, and says of which languages.

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
    """What is read beside lines of text, and what is written of each."""

    n_best: Annotated[
        int | None,
        typer.Option(
            "--n-best", min=1, help="So many translations a line, each written as number-of-the-line TAB translation."
        ),
    ] = None
    scores: Annotated[
        bool,
        typer.Option(
            "--scores", help="Write score TAB log-probability TAB translation; behind the number, with --n-best."
        ),
    ] = False
    alignment: Annotated[
        bool,
        typer.Option(
            "--alignment", help="Write word links, as 0-0 1-2 (source-target), TAB translation; behind the scores."
        ),
    ] = False
    target_prefix: Annotated[
        Path | None,
        typer.Option("--target-prefix", metavar="FILE", help="What each translation begins with, one a line."),
    ] = None
    forced_words: Annotated[
        Path | None,
        typer.Option("--forced-words", metavar="FILE", help="What each translation holds, one line each, TAB between."),
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
        """The options that were given, as they are written."""
        return _given(self)


@dataclass(frozen=True)
class DocumentOptions:
    """How files of known formats are translated."""

    to: ToOption = None
    only: Annotated[
        Literal["new", "fuzzy", "all"] | None,
        typer.Option(
            "--only",
            help="Translate messages without a translation (new, the default), those to be reviewed, or all that are "
            "not approved.",
        ),
    ] = None
    mark: Annotated[
        Literal["review", "problems", "none"] | None,
        typer.Option(
            "--mark", help="Mark for review all translations (the default), those with problems, or none of them."
        ),
    ] = None
    check: Annotated[
        Literal["off", "warn", "error"] | None,
        typer.Option(
            "--check", help="Check placeholders, codes, punctuation and more; error: exit with 1 where a check fails."
        ),
    ] = None
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write what became of each message as JSON."),
    ] = None
    template: TemplateOption = None
    format: FormatOption = None

    def given(self) -> list[str]:
        """The options that were given, but for the format, as they are written."""
        return [name for name in _given(self) if name != "--format"]

    def document_settings(self) -> "DocumentSettings":
        """The settings that the options stand for."""
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
