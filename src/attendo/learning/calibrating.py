"""The new model's confidence, learned anew: a calibration belongs to the weights whose scores it was learned from."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from attendo.errors import DataError
from attendo.learning.parallel_lines import ParallelLines
from attendo.workflow.confidence import JudgedSet, TestSet, calibrate_judged, judged_set, read_calibration
from attendo.workflow.engines.translate import load

CORRECTIONS_SET, MAX_GENERAL = "corrections kept aside", 1000
"""What the calibration's sets are called, and how many general pairs it reads at most."""


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Corrections that a model has not read."""

    model: Path
    lines: ParallelLines


def is_calibrated(model: Path) -> bool:
    """Whether a model has a calibration of its weights."""
    return read_calibration(model) is not None


def calibrate_anew(ancestor: Path, model: Path, held_out: Sequence[HeldOut], general: tuple[str, ParallelLines]) -> str:
    """Calibrates a new model, with its ancestor's idea of a close translation.

    It learns from the corrections kept aside, translated by the models that had not read them, and from general text,
    translated by the new model; each counts as much as the other.

    Args:
        ancestor: the folder of the model as it was, which is calibrated.
        model: the folder of the new model, into which the calibration is written.
        held_out: the corrections kept aside.
        general: name and pairs of the general set.

    Returns:
        What became of it, a sentence for the report and the card.

    Raises:
        ModelError: a folder cannot be read.
        OSError: the folder cannot be written to.
    """
    before = read_calibration(ancestor)
    assert before is not None, "the caller asks is_calibrated"
    name, lines = general
    try:
        corrections = tuple(one for part in held_out for one in _judged(part, before.close).judged)
        with load(model) as engine:
            other = judged_set(engine, _test_set(name, lines.spread(MAX_GENERAL)), before.close)
            sets = (JudgedSet(name=CORRECTIONS_SET, judged=corrections, signature=other.signature), other)
            found = calibrate_judged(engine, model, sets, close=before.close)
    except DataError as error:
        return f"Confidence: not calibrated ({error}). The ancestor's calibration holds for its own weights alone."
    errors = " and ".join(f"{each.confidence.error:.3f} ({each.name})" for each in found.measured)
    return f"Confidence: calibrated anew for these weights; calibration error {errors}."


def _judged(part: HeldOut, close: float) -> JudgedSet:
    with load(part.model) as engine:
        return judged_set(engine, _test_set(CORRECTIONS_SET, part.lines), close)


def _test_set(name: str, lines: ParallelLines) -> TestSet:
    return TestSet(name, lines.sources, lines.targets)
