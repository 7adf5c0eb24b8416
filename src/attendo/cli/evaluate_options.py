"""The options of `attendo evaluate`, in groups."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from attendo.cli.options import JsonOption, NoGuardsOption, QuietOption


@dataclass(frozen=True)
class TestSetOptions:
    """What a model is evaluated on."""

    source: Annotated[
        Path | None,
        typer.Option(
            "--source",
            metavar="FILE",
            help="Source sentences, one a line; or TMX, XLIFF, PO, CSV, TSV or JSON lines with the references in it.",
        ),
    ] = None
    reference: Annotated[
        Path | None, typer.Option("--reference", metavar="FILE", help="Their reference translations.")
    ] = None
    trees: Annotated[
        str | None,
        typer.Option(
            "--trees",
            metavar="GOLD",
            help="For a parser, in place of these two: a treebank, as a file, a folder or a pattern like wsj/{22,23}.",
        ),
    ] = None


@dataclass(frozen=True)
class TextOptions:
    """How translations are made and measured."""

    no_guards: NoGuardsOption = False
    tokenized: Annotated[
        bool,
        typer.Option(
            "--tokenized", help="Also the tokenised BLEU of the paper's Table 2, German compounds split at hyphens."
        ),
    ] = False
    tokenized_lowercased: Annotated[
        bool,
        typer.Option("--tokenized-lowercased", help="Also the tokenised, lower-cased BLEU of the Multi30k literature."),
    ] = False
    resamples: Annotated[
        int, typer.Option("--resamples", min=0, help="Bootstrap resamples for the intervals; 0 for none.")
    ] = 1000
    robustness: Annotated[
        bool,
        typer.Option(
            "--robustness",
            help="Also what is left of the scores under capitals, typos, emoji, URLs, joined sentences and more; "
            "translates the test set some twenty times over.",
        ),
    ] = False
    kept: Annotated[
        bool,
        typer.Option(
            "--kept",
            help="Also how many of the numbers, versions, identifiers, paths and the like that source and reference "
            "share are in the output, and which ones are invented.",
        ),
    ] = False
    other_language: Annotated[
        Path | None,
        typer.Option(
            "--other-language",
            metavar="FILE",
            help="For --robustness: text of another language than the source, a line each. Default: the references.",
        ),
    ] = None
    seed: Annotated[int, typer.Option("--seed", help="For --robustness: equal seeds make equal typos and numbers.")] = 1


@dataclass(frozen=True)
class TreeOptions:
    """How a parser reads a treebank, and how its trees are compared."""

    given: Annotated[
        Literal["words", "gold-tags"] | None,
        typer.Option(
            "--input",
            help="With --trees: words alone, or words with the treebank's tags. Default: what the model reads.",
        ),
    ] = None
    parameters: Annotated[
        str | None,
        typer.Option(
            "--parameters",
            "-p",
            metavar="FILE.prm",
            help="With --trees: EVALB's parameter file, or collins, new or nk. Default: collins.",
        ),
    ] = None
    unconstrained: Annotated[
        bool, typer.Option("--unconstrained", help="With --trees: write anything, and mend what is no tree.")
    ] = False


@dataclass(frozen=True)
class ResultOptions:
    """Where the results go."""

    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the translations, or trees, here.")
    ] = None
    quiet: QuietOption = False
    card: Annotated[
        str | None,
        typer.Option(
            "--card", metavar="NAME", help="Write the figures into the model's card, under this test set's name."
        ),
    ] = None
    as_json: JsonOption = False
