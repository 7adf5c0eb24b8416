"""Calibrated confidence: learned from test sets, kept in the model folder, loaded with the model."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from attendo.checkpoint.checksums import CHECKSUMS, CONFIDENCE, WEIGHTS, file_problem, read_json, replace_file
from attendo.errors import DataError, ModelError
from attendo.evaluation.calibration import (
    Judged,
    chrf,
    confidence_of,
    equally_weighted,
    fit,
    held_out,
    is_close,
    people_agree,
    token_probability,
)
from attendo.evaluation.confidence import CLOSE, Confidence
from attendo.evaluation.reliability import Reliability, reliability
from attendo.workflow.engines.engine import Engine

if TYPE_CHECKING:
    from sacrebleu.metrics.chrf import CHRF

FORMAT_VERSION = 1
MAX_MEASURED = 20
"""Test sets that a folder keeps the figures of."""
_LEAST_PEOPLE = 20
"""Sentences with two people's translations, of which a share is told."""


@dataclass(frozen=True)
class TestSet:
    """A test set: sentences with their references."""

    __test__ = False  # of pytest, which would take it for a class of tests

    name: str
    """Name for the page, the card and the curve."""
    sources: Sequence[str]
    """Sentences that the model was not trained on; equal ones are one sentence with several references."""
    references: Sequence[str]
    """Human translations of the sources."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """How good confidences are on a test set."""

    name: str
    """Name of the test set."""
    learned_from: bool
    """Whether the calibration learned from this set; its sentences were then judged by cross-validation."""
    kernel: str
    """The kernels and numbers that translated the set."""
    people: float | None
    """Share of sentences whose second reference is close to the first; None if fewer than 20 have several."""
    people_sentences: int
    """Number of sentences behind that share."""
    confidence: Reliability
    """Reliability of the confidence."""
    token_probability: Reliability
    """Reliability of the geometric mean of the tokens' probabilities, for comparison."""


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The content of a model folder's `confidence.json`."""

    format_version: int = FORMAT_VERSION
    weights_sha256: str
    """SHA-256 of the weights that it was learned for; with others it has no meaning."""
    close: float
    """chrF2 from which a translation counts as close to a person's."""
    signature: str
    """sacreBLEU's, of that chrF2."""
    search: dict[str, float]
    """How the translations were looked for: beam size and length penalty."""
    learned: Confidence
    """What is computed with."""
    measured: tuple[Measured, ...]
    """On test sets, first on those that it was learned from."""


def load_confidence(folder: Path) -> Confidence | None:
    """What tells how sure a model's translations are.

    Args:
        folder: of a model.

    Returns:
        None where the folder has none, or it was learned of other weights.

    Raises:
        ModelError: it is torn.
    """
    calibration = read_calibration(folder)
    return calibration.learned if calibration else None


def read_calibration(folder: Path) -> Calibration | None:
    """Reads a folder's `confidence.json`; for arguments, results and errors see `load_confidence`."""
    if not (folder / CONFIDENCE).exists() or not (folder / CHECKSUMS).exists():
        return None
    checksums = read_json(folder / CHECKSUMS, ModelError(f"{folder / CHECKSUMS}: not found"))
    if not isinstance(checksums, dict) or CONFIDENCE not in checksums:
        return None  # half written: the next calibration writes it again
    if problem := file_problem(folder / CONFIDENCE, checksums[CONFIDENCE]):
        raise ModelError(problem)
    path = folder / CONFIDENCE
    content = read_json(path, ModelError(f"{path}: not found"))
    version = content.get("format_version") if isinstance(content, dict) else None
    if version != FORMAT_VERSION:
        raise ModelError(
            f"{path}: format_version is {repr(version)[:40]}, this attendo reads {FORMAT_VERSION}; calibrate again"
        )
    try:
        found = TypeAdapter(Calibration).validate_python(content)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, each['loc']))[:100]}: {each['msg'][:200]}" for each in error.errors()[:3]]
        raise ModelError(f"{path}: {'; '.join(faults)}; calibrate again") from error
    return found if found.weights_sha256 == _weights_seal(checksums) else None


def calibrate(
    engine: Engine,
    folder: Path,
    sets: Sequence[TestSet],
    *,
    close: float = CLOSE,
    progress: Callable[[int], None] | None = None,
) -> Calibration:
    """Learns how sure to be of a model's translations, and writes it into its folder.

    Args:
        engine: the model.
        folder: its folder.
        sets: sentences like those that the model is for, such as a set a domain; each set counts as much as another,
            and a sentence of two sets belongs to the first.
        close: chrF2 from which a translation counts as close.
        progress: called with the number of sentences translated so far.

    Raises:
        DataError: the sentences are too few, or nearly all come close, or none; a name cannot be one or comes twice.
        ModelError: the folder's checksums are missing or torn.
        OSError: the folder cannot be written to.
    """
    _check_names(sets)
    if not 0 < close <= 100:
        raise DataError(f"--close {close}: chrF2 goes from 0 to 100; take one such as {CLOSE:g}")
    checksums = read_json(folder / CHECKSUMS, ModelError(f"{folder / CHECKSUMS}: not found; copy the folder again"))
    if not (weights := _weights_seal(checksums)):
        raise ModelError(f"{folder / CHECKSUMS}: does not know {WEIGHTS}; copy the folder again")
    metric = chrf()
    by_set, people = _judged_sets(engine, sets, metric, close, progress)
    judged = equally_weighted(by_set)
    confidences = iter(held_out(judged))
    measured = [
        _measured(each.name, engine, its, [next(confidences) for _ in its], its_people, learned_from=True)
        for each, its, its_people in zip(sets, by_set, people, strict=True)
    ]
    calibration = Calibration(
        weights_sha256=weights,
        close=close,
        signature=str(metric.get_signature()),
        search=_search(engine),
        learned=replace(fit(judged), source_language=engine.source_language),
        measured=tuple(measured),
    )
    write_calibration(folder, calibration)
    return calibration


def check(
    engine: Engine,
    folder: Path,
    sets: Sequence[TestSet],
    *,
    progress: Callable[[int], None] | None = None,
) -> Calibration:
    """Measures what has been learned on other test sets, and adds the figures to the model's folder.

    Args:
        engine: the model.
        folder: its folder, calibrated.
        sets: the test sets; figures of their names are replaced.
        progress: called with the number of sentences translated so far.

    Raises:
        DataError: a name cannot be one, comes twice, or is that of a set that was learned from.
        ModelError: the folder is not calibrated, or cannot be read.
        OSError: the folder cannot be written to.
    """
    _check_names(sets)
    calibration = read_calibration(folder)
    if calibration is None:
        raise ModelError(f"{folder}: not calibrated yet, so there is nothing to check; run it without --check first")
    learned_from = {each.name for each in calibration.measured if each.learned_from}
    for each in sets:
        if each.name in learned_from:
            raise DataError(f"--name {each.name!r} is a test set that was learned from; take another set and its name")
    names = {each.name for each in sets}
    others = [each for each in calibration.measured if each.name not in names]
    if len(others) + len(sets) > MAX_MEASURED:
        raise DataError(
            f"{folder / CONFIDENCE}: has the figures of {len(others)} test sets already, of {MAX_MEASURED} at most; "
            "calibrate anew"
        )
    judged, people = _judged_sets(engine, sets, chrf(), calibration.close, progress)
    mine = [
        _measured(
            each.name, engine, its, [confidence_of(calibration.learned, one) for one in its], its_people,
            learned_from=False,
        )
        for each, its, its_people in zip(sets, judged, people, strict=True)
    ]  # fmt: skip
    calibration = replace(calibration, measured=(*others, *mine))
    write_calibration(folder, calibration)
    return calibration


def write_calibration(folder: Path, calibration: Calibration) -> None:
    """Writes a folder's `confidence.json` and its checksum.

    Raises:
        ModelError: the checksums are missing or torn.
        OSError: the folder cannot be written to.
    """
    text = json.dumps(asdict(calibration), indent=2, ensure_ascii=False, allow_nan=False)
    replace_file(folder, CONFIDENCE, f"{text}\n")


def _check_names(sets: Sequence[TestSet]) -> None:
    """Refuses names of test sets.

    Raises:
        DataError: one cannot be a name, or comes twice.
    """
    from attendo.workflow.cards.card_evaluations import check_section_name  # with sacreBLEU, which serving does without

    for place, each in enumerate(sets):
        check_section_name(each.name)
        if any(each.name == other.name for other in sets[:place]):
            raise DataError(f"--name {each.name!r} is given twice; give each test set a name of its own")


def _judged_sets(
    engine: Engine, sets: Sequence[TestSet], metric: "CHRF", close: float, progress: Callable[[int], None] | None
) -> tuple[list[list[Judged]], list[tuple[int, float]]]:
    """Of each test set the different sentences with their translations, and how often people agree on them.

    Raises:
        DataError: a set has no sentence of its own that the model translates.
    """
    known: set[str] = set()
    judged, people, before = list[list[Judged]](), list[tuple[int, float]](), 0
    for each in sets:
        of_people: dict[str, list[str]] = {}
        for source, reference in zip(each.sources, each.references, strict=True):
            if source not in known:
                of_people.setdefault(source, []).append(reference)
        known.update(of_people)
        judged.append(_judged(engine, of_people, metric, close, progress, before))
        if not judged[-1]:
            raise DataError(f"{each.name}: no sentence that is not in another set and has a translation; leave it out")
        people.append(people_agree(metric, list(of_people.values()), close))
        before += len(of_people)
    return judged, people


def _judged(
    engine: Engine,
    of_people: Mapping[str, Sequence[str]],
    metric: "CHRF",
    close: float,
    progress: Callable[[int], None] | None,
    before: int,
) -> list[Judged]:
    """Sentences with their translations, each with whether it comes close to one of its references."""
    judged = []
    for number, translation in enumerate(engine.stream(of_people), start=before + 1):
        best = translation.n_best[0]
        if best.token_log_probs:
            near = is_close(metric, best.text, of_people[translation.source], close)
            one = Judged(source=translation.source, text=best.text, token_log_probs=best.token_log_probs, close=near)
            judged.append(one)
        if progress:
            progress(number)
    return judged


def _measured(
    name: str,
    engine: Engine,
    judged: Sequence[Judged],
    confidences: Sequence[float],
    people: tuple[int, float],
    *,
    learned_from: bool,
) -> Measured:
    close = [one.close for one in judged]
    sentences, share = people
    return Measured(
        name=name,
        learned_from=learned_from,
        kernel=engine.kernel,
        people=share if sentences >= _LEAST_PEOPLE else None,
        people_sentences=sentences,
        confidence=reliability(confidences, close),
        token_probability=reliability([token_probability(one) for one in judged], close),
    )


def _search(engine: Engine) -> dict[str, float]:
    return {"beam_size": engine.search.beam_size, "length_penalty": engine.search.length_penalty}


def _weights_seal(checksums: Any) -> str:
    """The weights' SHA-256, as the checksums have it; empty where they do not."""
    seal = checksums.get(WEIGHTS) if isinstance(checksums, dict) else None
    return str(seal.get("sha256", "") if isinstance(seal, dict) else seal or "")


def report(measured: Measured, close: float) -> str:
    """What was measured on a test set, as lines to read.

    Args:
        measured: it.
        close: chrF2 from which a translation counts as close.
    """
    found, without = measured.confidence, measured.token_probability
    how = "learned from it, each sentence judged by the others" if measured.learned_from else "not learned from"
    lines = [
        f"{measured.name} ({how}; {measured.kernel})",
        f"{found.sentences:,} different sentences, {found.share:.1%} of whose translations come close to a person's "
        f"(chrF2 of {close:g} or more); mean confidence {found.confidence:.1%}",
        f"calibration error {found.error:.3f}; {without.error:.3f} without, by token probabilities; without fault it "
        f"would be up to {found.error_by_chance:.3f} by chance",
        f"ranking {_number(found.ranking)}; {_number(without.ranking)} without",
    ]
    if measured.people is not None:
        lines.append(
            f"{measured.people:.1%} of people's translations come as close to another person's, of "
            f"{measured.people_sentences:,} sentences that have both"
        )
    lines.append("confidence  came close  95%             sentences")
    lines += [
        f"{one.confidence:10.1%}  {one.share:10.1%}  {one.low:6.1%}-{one.high:6.1%}  {one.count:9,}"
        for one in found.bins
    ]
    return "\n".join(lines)


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"
