"""The options of `attendo evaluate`, in groups."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from attendo.cli.options import JsonOption, NoGuardsOption, QuietOption, ReverseOption


@dataclass(frozen=True)
class TestSetOptions:
    """The test set."""

    source: Annotated[
        Path | None,
        typer.Option(
            "--source",
            metavar="FILE",
            help="Source sentences, one per line; or a TMX, XLIFF, PO, CSV, TSV or JSON lines file that also has the "
            "references.",
        ),
    ] = None
    reference: Annotated[
        Path | None, typer.Option("--reference", metavar="FILE", help="Reference translations, one per line.")
    ] = None
    trees: Annotated[
        str | None,
        typer.Option(
            "--trees",
            metavar="GOLD",
            help="For a parser, instead of --source and --reference: a treebank, as a file, a folder or a pattern "
            "such as wsj/{22,23}.",
        ),
    ] = None


@dataclass(frozen=True)
class TextOptions:
    """How translations are produced and scored."""

    no_guards: NoGuardsOption = False
    reverse: ReverseOption = None
    tokenized: Annotated[
        bool,
        typer.Option(
            "--tokenized",
            help="Also print the tokenised BLEU of the paper's Table 2, with German compounds split at hyphens.",
        ),
    ] = False
    tokenized_lowercased: Annotated[
        bool,
        typer.Option(
            "--tokenized-lowercased", help="Also print the tokenised, lower-cased BLEU of the Multi30k literature."
        ),
    ] = False
    resamples: Annotated[
        int,
        typer.Option(
            "--resamples",
            min=0,
            help="Number of bootstrap resamples for the confidence intervals; 0 prints no intervals.",
        ),
    ] = 1000
    robustness: Annotated[
        bool,
        typer.Option(
            "--robustness",
            help="Also measure the scores on perturbed input: capitals, typos, emoji, URLs, joined sentences and "
            "more. Translates the test set about twenty times.",
        ),
    ] = False
    kept: Annotated[
        bool,
        typer.Option(
            "--kept",
            help="Also report how many of the numbers, versions, identifiers, paths and the like that source and "
            "reference share the output keeps, and which ones it invents.",
        ),
    ] = False
    contrastive: Annotated[
        bool,
        typer.Option(
            "--contrastive",
            help="Also report how often the model prefers a reference to the same with one error: a negation flipped, "
            "a number or a name changed, a word left out.",
        ),
    ] = False
    other_language: Annotated[
        Path | None,
        typer.Option(
            "--other-language",
            metavar="FILE",
            help="For --robustness: text in another language than the source, one sentence per line. Default: the "
            "references.",
        ),
    ] = None
    seed: Annotated[int, typer.Option("--seed", help="For --robustness: random seed of the typos and numbers.")] = 1


@dataclass(frozen=True)
class TreeOptions:
    """How a parser reads a treebank, and how its trees are compared."""

    given: Annotated[
        Literal["words", "gold-tags"] | None,
        typer.Option(
            "--input",
            help="With --trees: parse words alone, or words with the treebank's tags. Default: what the model was "
            "trained on.",
        ),
    ] = None
    parameters: Annotated[
        str | None,
        typer.Option(
            "--parameters",
            "-p",
            metavar="FILE.prm",
            help="With --trees: an EVALB parameter file, or collins, new or nk, which are built in. Default: collins.",
        ),
    ] = None
    unconstrained: Annotated[
        bool,
        typer.Option(
            "--unconstrained", help="With --trees: do not restrict the output to valid trees; repair invalid ones."
        ),
    ] = False


@dataclass(frozen=True)
class ResultOptions:
    """Output options for the results."""

    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the translations or trees here.")
    ] = None
    quiet: QuietOption = False
    card: Annotated[
        str | None,
        typer.Option(
            "--card", metavar="NAME", help="Write the results into the model card, under this name for the test set."
        ),
    ] = None
    as_json: JsonOption = False
