"""Arguments and options that several commands share, so that one thing is called one thing."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from attendo.workflow.engines.engine import Engine

ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model folder, a run folder, or a shipped model (see `attendo info`).")
]

RecipeArgument = Annotated[
    str, typer.Argument(metavar="RECIPE", help="A TOML file, or the name of a shipped recipe (see `attendo recipe`).")
]

SourceOption = Annotated[Path, typer.Option("--source", metavar="FILE", help="Source sentences, one a line.")]

ReferenceOption = Annotated[Path, typer.Option("--reference", metavar="FILE", help="Their reference translations.")]

DtypeOption = Annotated[
    Literal["float32", "bfloat16", "int8"] | None,
    typer.Option(
        "--dtype",
        help="The numbers to calculate with. Default: int8 for a model in int8 on a processor, else float32.",
    ),
]

BeamSizeOption = Annotated[
    int | None,
    typer.Option("--beam-size", help="Hypotheses kept at each step; 1 is greedy. Default: the model's, else 4."),
]

LengthPenaltyOption = Annotated[
    float | None,
    typer.Option("--length-penalty", help="Alpha of ((5 + length) / 6)^alpha. Default: the model's, else 0.6."),
]

EnsembleOption = Annotated[
    list[str] | None,
    typer.Option("--ensemble", metavar="MODEL", help="A further model to search with; may be repeated."),
]

DeviceOption = Annotated[
    Literal["auto", "cpu", "cuda"],
    typer.Option("--device", help="Where to calculate: on the processor, on a GPU, or on a GPU where there is one."),
]

QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no summary on standard error; warnings and errors stay.")
]

ThreadsOption = Annotated[int | None, typer.Option("--threads", min=1, help="Processor threads.")]

SetSearchOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="search.KEY=VALUE", help="Another search setting (docs/recipes.md); may be repeated."
    ),
]

SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Changes a value of the recipe; may be repeated."),
]

NoGuardsOption = Annotated[
    bool,
    typer.Option(
        "--no-guards", help="Translate every line as it stands: no guards for capitals, URLs, loops and the like."
    ),
]

JsonLinesOption = Annotated[
    bool, typer.Option("--json", help="Print a JSON object a line, with the log-probability of each token.")
]

SentencesOption = Annotated[
    Path | None,
    typer.Option(
        "--sentences",
        metavar="FILE",
        help="Source sentences to compare on, one a line; of 500. Default: a phrasebook, or invented ones.",
    ),
]

ReferencesOption = Annotated[
    Path | None, typer.Option("--reference", metavar="FILE", help="Their translations, for BLEU on both sides.")
]

ForceOption = Annotated[bool, typer.Option("--force", help="Replace a folder that holds something else.")]

ForceIntoOption = Annotated[bool, typer.Option("--force", help="Write into a folder that holds something else.")]

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@dataclass(frozen=True)
class EngineOptions:
    """The models that translate or parse, the search, and what calculates."""

    beam_size: BeamSizeOption = None
    length_penalty: LengthPenaltyOption = None
    dtype: DtypeOption = None
    ensemble: EnsembleOption = None
    settings: SetSearchOption = None
    threads: ThreadsOption = None
    device: DeviceOption = "auto"

    def models(self, model: str) -> tuple[str, ...]:
        """The model and those it makes an ensemble with."""
        return (model, *(self.ensemble or ()))

    def search(self, **more: int | None) -> dict[str, int | float]:
        """The search settings that were given.

        Args:
            more: further ones; None where one was not given.
        """
        given = {"beam_size": self.beam_size, "length_penalty": self.length_penalty, **more}
        return {key: value for key, value in given.items() if value is not None}

    def load(self, model: str, search: Mapping[str, Any] | None = None, *, unconstrained: bool = False) -> "Engine":
        """Loads the models.

        Args:
            model: the first of them.
            search: search settings to change, in place of those that were given.
            unconstrained: whether a parser may write what is no tree.
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
        )


def guard_changes(no_guards: bool) -> dict[str, dict[str, bool]]:
    """The search settings of `--no-guards`; `--set search.guards.KEY=true` can put one back."""
    from attendo.decoding.config import GuardConfig

    return {"guards": asdict(GuardConfig.off())} if no_guards else {}


def json_number(value: float) -> float | None:
    """A number to 6 decimals, or None for what JSON has no number for."""
    return round(value, 6) if math.isfinite(value) else None
