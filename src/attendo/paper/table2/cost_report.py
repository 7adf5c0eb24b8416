"""The cost sections of Table 2's page: the formula against the print, GPUs then and now, what our runs took."""

from collections.abc import Sequence
from dataclasses import dataclass

from attendo.paper.cost import (
    PAPER_GPUS,
    PAPER_TFLOPS,
    SUSTAINED_SHARE,
    TODAYS_GPUS,
    Clocked,
    Gpu,
)
from attendo.paper.report import Paragraph, Section, Table
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


def cost_model(sizes: Sequence[FullSize]) -> Section:
    """How the paper counts, checked against what it prints, and what its GPUs and those of today do.

    Args:
        sizes: Table 2's own rows, base and big.
    """
    return Section(
        title="The cost model",
        blocks=(
            Paragraph(
                text="The paper's cost is an estimate: training time x number of GPUs x what a GPU sustains in "
                "single precision, which it takes to be 2.8 (K80), 3.7 (K40), 6.0 (M40) and 9.5 (P100) TFLOPS. It "
                "is the time of the cards in another unit, not the arithmetic that a model needs."
            ),
            _formula(),
            Paragraph(text=_said_of_formula()),
            _paper_gpus(),
            Paragraph(
                text="Cores and clocks are the vendor's; the peak is two operations a core and cycle. The paper's "
                "9.5 for the P100 is its peak at the highest clock, and 2.8 is that of one of the two processors "
                "of a K80 at the lowest, so 'sustained' means something else from card to card; 3.7 and 6.0 are no "
                "peak at all."
            ),
            _counted(sizes),
            Paragraph(
                text=f"The products of full batches, {FULL_SIZE_LENGTH} tokens a sentence on each side, by torch's "
                "counter, forward and back; additions and multiplications. The share is what the eight P100 did of "
                "what the estimate says that they did."
            ),
            _todays_gpus(sizes),
            Paragraph(
                text="TFLOPS are the vendor's own, dense: without tensor cores in float32, and of the tensor cores "
                f"in the 16-bit type that is named, summed up in float32. Hours assume that {SUSTAINED_SHARE:.0%} "
                "of the latter is sustained in training and that eight cards are eight times as fast: an "
                "assumption, the same for all, and no measurement. A model of base's size may well fill a large "
                "card less."
            ),
        ),
    )


def _formula() -> Table:
    return Table(
        caption="The estimate, worked out again, in FLOPs",
        columns=("row", "pair", "trained on", "as told by", "formula", "printed", "agree"),
        rows=tuple(
            (
                setup.row,
                setup.pair,
                _trained_on(setup),
                setup.source,
                f"{setup.cost:.3g}".replace("e+", "e"),
                two_digits(setup.printed),
                "yes" if agrees(setup) else "no",
            )
            for setup in SETUPS
        ),
        words=4,
    )


def _trained_on(setup: Setup) -> str:
    models = f"{setup.models} x " if setup.models > 1 else ""
    return f"{models}{setup.gpus} {setup.gpu}, {setup.days:.3g} day{'s' * (setup.days != 1)}"


def _said_of_formula() -> str:
    base, steps = (one for one in SETUPS if one.row == "Transformer (base)")
    big, _ = (one for one in SETUPS if one.row == "Transformer (big)")
    apart = [f"{one.row} {one.pair}, by {one.source}" for one in SETUPS if not agrees(one)]
    return (
        f"12 hours x 8 x 9.5e12 a second are {base.cost / 1e18:.3f}e18, which is printed as 3.3e18; 3.5 days are "
        f"{big.cost / 1e19:.3f}e19, printed as 2.3e19. The steps say less: 100,000 of 0.4 s are 11.1 hours and "
        f"{steps.cost / 1e18:.2f}e18, so the 12 hours have something else in them. Formula and print differ here: "
        f"{'; '.join(apart)}. The ensembles are printed as eight times their model's rounded figure, Deep-Att's "
        "too, whose GPUs and days are not told here to be checked."
    )


def _paper_gpus() -> Table:
    return Table(
        caption="The paper's GPUs, in TFLOPS of single precision",
        columns=("GPU", "", "cores", "lowest clock, MHz", "highest", "peak at lowest", "at highest", "the paper"),
        rows=tuple(_clocked_cells(gpu) for gpu in PAPER_GPUS),
        words=2,
    )


def _clocked_cells(gpu: Clocked) -> tuple[str, ...]:
    return (
        gpu.name,
        gpu.note,
        f"{gpu.cores:,}",
        f"{gpu.base_mhz:,}",
        f"{gpu.boost_mhz:,}",
        f"{gpu.peak_tflops(gpu.base_mhz):.2f}",
        f"{gpu.peak_tflops(gpu.boost_mhz):.2f}",
        f"{PAPER_TFLOPS[gpu.name]:.1f}",
    )


def full_sizes() -> tuple[FullSize, ...]:
    """Counts the products of Table 2's own rows, which takes a second or two."""
    printed = {row.name: row.cost_de or 0.0 for row in ROWS}
    return tuple(
        FullSize(row=row, counted=full_size_flops(load_recipe(recipe), FULL_SIZE_LENGTH), printed=printed[row])
        for row, recipe in _FULL_SIZE
    )


def _counted(sizes: Sequence[FullSize]) -> Table:
    return Table(
        caption="Table 2's own rows, counted",
        columns=("row", "FLOPs of the products", "the paper's estimate", "share"),
        rows=tuple(
            (one.row, f"{one.counted:.2e}", two_digits(one.printed), f"{one.counted / one.printed:.0%}")
            for one in sizes
        ),
        words=1,
    )


def _todays_gpus(sizes: Sequence[FullSize]) -> Table:
    return Table(
        caption="GPUs of today: figures of their vendors, and hours for the paper's two trainings, by arithmetic",
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


def our_costs(costs: Sequence[TrainingCost], given: Sequence[TrainingCost]) -> Section:
    """What each run took, by the paper's estimate and counted.

    Args:
        costs: of the study's runs.
        given: of further run folders.
    """
    both = (*costs, *given)
    blocks: list[Paragraph | Table] = [
        Paragraph(
            text="Time is a run's own, from its log: wall time with validation and saving, on a machine that may "
            "have had other work. On a processor a device is all threads that the run had, and what it sustains "
            "was measured in this study: the best of a few windows of products of 1024 x 1024 matrices, in the "
            "type of the run's products. FLOPs are those of the matrix products, forward and back, by torch's "
            "counter for a pair of average length. The last column is the share of the one in the other."
        )
    ]
    if both:
        blocks.append(
            Table(
                caption="Estimate and count",
                columns=("run", "a device sustains", "devices", "minutes", "estimate", "FLOPs counted", "share"),
                rows=tuple(_cost_cells(cost) for cost in both),
                words=2,
            )
        )
    if any(cost.sustained is None for cost in both):
        blocks.append(Paragraph(text="Runs without an estimate were trained on a machine that was not measured."))
    return Section(title="What our trainings cost", blocks=tuple(blocks))


def _cost_cells(cost: TrainingCost) -> tuple[str, ...]:
    return (
        cost.run,
        cost.sustained.what if cost.sustained else "not measured",
        str(cost.devices),
        f"{cost.seconds / 60:.1f}",
        "" if cost.estimated is None else f"{cost.estimated:.2e}",
        f"{cost.counted:.2e}",
        "" if cost.utilisation is None else f"{cost.utilisation:.0%}",
    )
