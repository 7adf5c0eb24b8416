"""What Table 2's page shows of cost: the formula against the print, GPUs then and now, what our runs took."""

from collections.abc import Sequence
from dataclasses import dataclass

from attendo.paper.cost import PAPER_TFLOPS, TODAYS_GPUS, Clocked, Gpu
from attendo.paper.report import Columns, Table
from attendo.paper.table2.comparison import ROWS, SETUPS, Setup, agrees, two_digits
from attendo.paper.table2.costs import TrainingCost, full_size_flops
from attendo.recipe import load_recipe

FULL_SIZE_LENGTH = 28
"""Tokens of an average sentence of WMT 2014 and its end: 4.5 million pairs are some 5,000 updates of 25,000."""

_FULL_SIZE = (("Transformer (base)", "base"), ("Transformer (big)", "big"))


@dataclass(frozen=True, kw_only=True)
class FullSize:
    """One of Table 2's own rows."""

    row: str
    counted: float
    """FLOPs of the products of its training."""
    printed: float
    """The paper's estimate."""


def hours_on(gpu: Gpu, flops: float, gpus: int = 1) -> float:
    """Hours that a training takes on some GPUs of today, if each sustains its assumed share."""
    return flops / (gpus * gpu.sustained * 1e12) / 3600


FORMULA: Columns[Setup] = (
    ("row", lambda setup: setup.row),
    ("pair", lambda setup: setup.pair),
    ("trained on", lambda setup: _trained_on(setup)),
    ("as told by", lambda setup: setup.source),
    ("formula", lambda setup: f"{setup.cost:.3g}".replace("e+", "e")),
    ("printed", lambda setup: two_digits(setup.printed)),
    ("agree", lambda setup: "yes" if agrees(setup) else "no"),
)
"""How the paper counts, checked against what it prints."""


def _trained_on(setup: Setup) -> str:
    models = f"{setup.models} x " if setup.models > 1 else ""
    return f"{models}{setup.gpus} {setup.gpu}, {setup.days:.3g} day{'s' * (setup.days != 1)}"


def formula_values() -> dict[str, str]:
    """What the page's text says of the formula."""
    base, steps = (one for one in SETUPS if one.row == "Transformer (base)")
    big, _ = (one for one in SETUPS if one.row == "Transformer (big)")
    return {
        "base_cost": f"{base.cost / 1e18:.3f}",
        "big_cost": f"{big.cost / 1e19:.3f}",
        "steps_cost": f"{steps.cost / 1e18:.2f}",
        "differing": "; ".join(f"{one.row} {one.pair}, by {one.source}" for one in SETUPS if not agrees(one)),
    }


PAPER_GPU_COLUMNS: Columns[Clocked] = (
    ("GPU", lambda gpu: gpu.name),
    ("", lambda gpu: gpu.note),
    ("cores", lambda gpu: f"{gpu.cores:,}"),
    ("lowest clock, MHz", lambda gpu: f"{gpu.base_mhz:,}"),
    ("highest", lambda gpu: f"{gpu.boost_mhz:,}"),
    ("peak at lowest", lambda gpu: f"{gpu.peak_tflops(gpu.base_mhz):.2f}"),
    ("at highest", lambda gpu: f"{gpu.peak_tflops(gpu.boost_mhz):.2f}"),
    ("the paper", lambda gpu: f"{PAPER_TFLOPS[gpu.name]:.1f}"),
)

FULL_SIZES: Columns[FullSize] = (
    ("row", lambda one: one.row),
    ("FLOPs of the products", lambda one: f"{one.counted:.2e}"),
    ("the paper's estimate", lambda one: two_digits(one.printed)),
    ("share", lambda one: f"{one.counted / one.printed:.0%}"),
)

COSTS: Columns[TrainingCost] = (
    ("run", lambda cost: cost.run),
    ("a device sustains", lambda cost: cost.sustained.what if cost.sustained else "not measured"),
    ("devices", lambda cost: str(cost.devices)),
    ("minutes", lambda cost: f"{cost.seconds / 60:.1f}"),
    ("estimate", lambda cost: "" if cost.estimated is None else f"{cost.estimated:.2e}"),
    ("FLOPs counted", lambda cost: f"{cost.counted:.2e}"),
    ("share", lambda cost: "" if cost.utilisation is None else f"{cost.utilisation:.0%}"),
)
"""What each run took, by the paper's estimate and counted."""


def full_sizes() -> tuple[FullSize, ...]:
    """Counts the products of Table 2's own rows, which takes a second or two."""
    printed = {row.name: row.cost_de or 0.0 for row in ROWS}
    return tuple(
        FullSize(row=row, counted=full_size_flops(load_recipe(recipe), FULL_SIZE_LENGTH), printed=printed[row])
        for row, recipe in _FULL_SIZE
    )


def todays_gpus(sizes: Sequence[FullSize]) -> Table:
    """GPUs of today, and the hours that the paper's trainings would take on them.

    Args:
        sizes: Table 2's own rows, base and big.
    """
    return Table(
        columns=(
            *("GPU", "where the figures stand", "16-bit type", "float32", "16-bit", "sustained, assumed"),
            *("base on 1, h", "base on 8, h", "big on 1, h", "big on 8, h"),
        ),
        rows=tuple(
            (
                gpu.name,
                gpu.source,
                gpu.half_dtype,
                f"{gpu.float32:g}",
                f"{gpu.half:g}",
                f"{gpu.sustained:.0f}",
                *(f"{hours_on(gpu, one.counted, gpus):.2f}" for one in sizes for gpus in (1, 8)),
            )
            for gpu in TODAYS_GPUS
        ),
        words=3,
    )
