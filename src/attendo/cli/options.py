"""Arguments and options that several commands share, so that they have the same names everywhere."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from attendo.workflow.engines.engine import Engine

ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", help="A model folder, a run folder, or the name of a shipped model (see `attendo info`)."
    ),
]

RecipeArgument = Annotated[
    str, typer.Argument(metavar="RECIPE", help="A TOML file, or the name of a shipped recipe (see `attendo recipe`).")
]

SourceOption = Annotated[Path, typer.Option("--source", metavar="FILE", help="Source sentences, one per line.")]

ReferenceOption = Annotated[
    Path, typer.Option("--reference", metavar="FILE", help="Reference translations, one per line.")
]

DtypeOption = Annotated[
    Literal["float32", "bfloat16", "int8"] | None,
    typer.Option(
        "--dtype",
        help="Numeric type of the computation. Default: int8 for an int8 model on a CPU, otherwise float32.",
    ),
]

BeamSizeOption = Annotated[
    int | None,
    typer.Option(
        "--beam-size", help="Hypotheses kept at each step; 1 is greedy search. Default: the model's setting, or 4."
    ),
]

LengthPenaltyOption = Annotated[
    float | None,
    typer.Option(
        "--length-penalty",
        help="Exponent alpha of the length penalty ((5 + length) / 6)^alpha. Default: the model's setting, or 0.6.",
    ),
]

EnsembleOption = Annotated[
    list[str] | None,
    typer.Option("--ensemble", metavar="MODEL", help="Another model to decode with, as an ensemble; may be repeated."),
]

ReverseOption = Annotated[
    str | None,
    typer.Option(
        "--reverse",
        metavar="MODEL",
        help="A model of the opposite direction, which helps to choose among the hypotheses of beam search: better "
        "translations that leave less out, in about twice the time. See docs/translating.md.",
    ),
]

DeviceOption = Annotated[
    Literal["auto", "cpu", "cuda"],
    typer.Option("--device", help="Run on the CPU, on a GPU, or (auto) on a GPU if there is one."),
]

QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Hide progress and summary on standard error; keep warnings and errors.")
]

ThreadsOption = Annotated[int | None, typer.Option("--threads", min=1, help="Number of CPU threads.")]

SetSearchOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="search.KEY=VALUE", help="Change another search setting (docs/recipes.md); may be repeated."
    ),
]

SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Change a value of the recipe; may be repeated."),
]

NoGuardsOption = Annotated[
    bool,
    typer.Option(
        "--no-guards", help="Turn off the guards, which handle capitals, URLs, repetition loops and the like."
    ),
]

JsonLinesOption = Annotated[
    bool, typer.Option("--json", help="Print a JSON object per line, with the log-probability of each token.")
]

SentencesOption = Annotated[
    Path | None,
    typer.Option(
        "--sentences",
        metavar="FILE",
        help="Source sentences to compare on, one per line; 500 of them are used. Default: a phrasebook, or made-up "
        "sentences.",
    ),
]

ReferencesOption = Annotated[
    Path | None,
    typer.Option(
        "--reference",
        metavar="FILE",
        help="Reference translations of these sentences, to print BLEU for both programs.",
    ),
]

ForceOption = Annotated[
    bool, typer.Option("--force", help="Replace the output folder even if it holds something else.")
]

ForceIntoOption = Annotated[
    bool, typer.Option("--force", help="Write into the output folder even if it holds something else.")
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@dataclass(frozen=True)
class EngineOptions:
    """The models that translate or parse, the search settings, and the device."""

    beam_size: BeamSizeOption = None
    length_penalty: LengthPenaltyOption = None
    dtype: DtypeOption = None
    ensemble: EnsembleOption = None
    settings: SetSearchOption = None
    threads: ThreadsOption = None
    device: DeviceOption = "auto"

    def models(self, model: str) -> tuple[str, ...]:
        """Returns the model and the other members of the ensemble."""
        return (model, *(self.ensemble or ()))

    def search(self, **more: int | None) -> dict[str, int | float]:
        """Returns the search settings given on the command line.

        Args:
            more: further ones; None where one was not given.
        """
        given = {"beam_size": self.beam_size, "length_penalty": self.length_penalty, **more}
        return {key: value for key, value in given.items() if value is not None}

    def load(
        self,
        model: str,
        search: Mapping[str, Any] | None = None,
        *,
        unconstrained: bool = False,
        reverse: str | None = None,
    ) -> "Engine":
        """Loads the models.

        Args:
            model: the first of them.
            search: search settings to change, in place of those that were given.
            unconstrained: whether a parser may write invalid trees.
            reverse: a model of the opposite direction that helps to choose among translations.
        """
        from attendo.workflow.engines.translate import load

        return load(
            model,
            ensemble=self.ensemble or (),
            search=self.search() if search is None else search,
            overrides=self.settings or (),
            parsing={"constrained": False} if unconstrained else None,
            dtype=self.dtype,
            device=self.device,
            threads=self.threads,
            reverse=reverse,
        )


def guard_changes(no_guards: bool) -> dict[str, dict[str, bool]]:
    """Returns the search settings of `--no-guards`; `--set search.guards.KEY=true` can turn single guards on again."""
    from attendo.decoding.config import GuardConfig

    return {"guards": asdict(GuardConfig.off())} if no_guards else {}


def json_number(value: float) -> float | None:
    """Rounds a number to 6 decimals; None for infinities and NaN, which JSON lacks."""
    return round(value, 6) if math.isfinite(value) else None
