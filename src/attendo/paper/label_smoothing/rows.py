"""Section 5.4: the values of eps_ls that are trained, what the paper says of them, and what is compared."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from attendo.paper.calibration import Calibration
from attendo.paper.comparison import Comparison, Expected, Metric, compare
from attendo.paper.experiment import Scale
from attendo.paper.phrasebook_texts import taken_from
from attendo.paper.rows_study import MeasuredRun
from attendo.paper.table3.study import BASE, BLEU_UNIT, BY_NAME, PERPLEXITY_UNIT, Row
from attendo.recipe import Recipe, load_recipe

EPSILONS = (0.0, 0.1, 0.2, 0.3)
"""eps_ls of the rows; the first is the baseline."""
PAPER_EPSILON = 0.1
"""The paper's (Section 5.4); what it says of accuracy it says of this one."""
PRINTED: Mapping[float, Row] = {0.0: BY_NAME["d-ls0.0"], 0.1: BASE, 0.2: BY_NAME["d-ls0.2"]}
"""Table 3's base row and those under D, on newstest2013."""

Run = MeasuredRun[Calibration]
"""A run with the calibration of its model on the validation set."""
RowComparison = Comparison[float, Run]

METRICS = (
    Metric[Run](key="perplexity", name="perplexity", of=lambda run: run.result.perplexity, digits=3),
    Metric[Run](key="accuracy", name="accuracy %", of=lambda run: 100 * run.measured.accuracy, digits=2),
    Metric[Run](key="bleu", name="BLEU", of=lambda run: run.result.bleu, digits=2),
    Metric[Run](key="confidence", name="confidence %", of=lambda run: 100 * run.measured.confidence, digits=2),
    Metric[Run](
        key="calibration_error",
        name="calibration error %",
        of=lambda run: 100 * run.measured.calibration_error,
        digits=2,
    ),
    Metric[Run](key="entropy", name="entropy, nats", of=lambda run: run.measured.entropy, digits=3),
)
"""In the order of the tables. That the model learns to be more unsure (Section 5.4) is entropy."""


def row_name(epsilon: float) -> str:
    """What a row is called, as its runs' folders are."""
    return f"eps-{epsilon}"


def recipes(scale: Scale, data: Path | None) -> dict[float, Recipe]:
    """The rows' recipes: they differ in eps_ls alone.

    At full size they are those of Table 3, WMT 2014 and 100,000 updates.

    Args:
        scale: the shipped recipe `label-smoothing/SCALE`, or `table3/base` for `paper`.
        data: the folder of the corpora; None for the recipe's.

    Raises:
        RecipeError: a recipe cannot be meant.
    """
    name = "table3/base" if scale == "paper" else f"label-smoothing/{scale}"
    return {
        epsilon: load_recipe(
            name,
            [
                f"name=label-smoothing-{scale}-{row_name(epsilon)}",
                *taken_from(data),
                f"training.label_smoothing={epsilon}",
            ],
        )
        for epsilon in EPSILONS
    }


def compare_rows(runs: Sequence[Run]) -> tuple[RowComparison, ...]:
    """Compares what is done of a study with the row without smoothing and with the paper, eps_ls rising."""
    by_row = {
        epsilon: {run.result.seed: run for run in runs if run.result.row == row_name(epsilon)} for epsilon in EPSILONS
    }
    return compare(by_row, EPSILONS[0], METRICS, _expected)


def _expected(epsilon: float, key: str) -> Expected:
    row, plain = PRINTED.get(epsilon), PRINTED[EPSILONS[0]]
    if row is not None and key == "perplexity":
        return Expected.of_printed(row.perplexity, plain.perplexity, PERPLEXITY_UNIT)
    if row is not None and key == "bleu":
        return Expected.of_printed(row.bleu, plain.bleu, BLEU_UNIT)
    # Section 5.4 says which way these go, for the paper's eps_ls alone.
    return Expected(direction=int(epsilon == PAPER_EPSILON and key in ("accuracy", "entropy")))


def best_probability(epsilon: float, vocab_size: int) -> float:
    """The probability of the right token that the smoothed loss is least at, 1 - eps + eps / vocabulary (Section 5.4).

    The smoothed target gives so much to the right token and eps / vocabulary to every other one; by Gibbs'
    inequality cross-entropy is least where the model says just that.

    Args:
        epsilon: eps_ls.
        vocab_size: of the target.
    """
    return 1 - epsilon + epsilon / vocab_size
