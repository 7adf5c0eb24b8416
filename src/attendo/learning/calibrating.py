"""Recalibrates the new model's confidence, as a calibration is valid only for the weights it was learned with."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from attendo.errors import DataError
from attendo.learning.parallel_lines import ParallelLines
from attendo.workflow.confidence import JudgedSet, TestSet, calibrate_judged, judged_set, read_calibration
from attendo.workflow.engines.translate import load

CORRECTIONS_SET, MAX_GENERAL = "corrections kept aside", 1000
"""The name of the set of corrections, and the largest number of general pairs that the calibration reads."""


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Corrections that a model has not been trained on."""

    model: Path
    lines: ParallelLines


def is_calibrated(model: Path) -> bool:
    """Returns whether a model has a calibration for its weights."""
    return read_calibration(model) is not None


def calibrate_anew(ancestor: Path, model: Path, held_out: Sequence[HeldOut], general: tuple[str, ParallelLines]) -> str:
    """Calibrates a new model with its ancestor's threshold for a close translation.

    The calibration learns from the held-out corrections, translated by the models that were not trained on them, and
    from general text, translated by the new model; both have the same weight.

    Args:
        ancestor: the folder of the model before learning, which is calibrated.
        model: the folder of the new model, into which the calibration is written.
        held_out: the held-out corrections, by model.
        general: name and pairs of the general set.

    Returns:
        The outcome as one or two sentences, for the report and the card.

    Raises:
        ModelError: a folder cannot be read.
        OSError: the folder cannot be written to.
    """
    before = read_calibration(ancestor)
    assert before is not None, "the caller asks is_calibrated"
    name, lines = general
    try:
        corrections = tuple(sentence for part in held_out for sentence in _judged(part, before.close).judged)
        with load(model) as engine:
            other = judged_set(engine, _test_set(name, lines.spread(MAX_GENERAL)), before.close)
            sets = (JudgedSet(name=CORRECTIONS_SET, judged=corrections, signature=other.signature), other)
            words = before.learned.familiar_words
            calibration = calibrate_judged(engine, model, sets, close=before.close, familiar_words=words)
    except DataError as error:
        return f"Confidence: not calibrated ({error}). The ancestor's calibration holds for its own weights alone."
    errors = " and ".join(f"{test_set.confidence.error:.3f} ({test_set.name})" for test_set in calibration.measured)
    return f"Confidence: calibrated anew for these weights; calibration error {errors}."


def _judged(part: HeldOut, close: float) -> JudgedSet:
    with load(part.model) as engine:
        return judged_set(engine, _test_set(CORRECTIONS_SET, part.lines), close)


def _test_set(name: str, lines: ParallelLines) -> TestSet:
    return TestSet(name, lines.sources, lines.targets)
