"""Calibrated confidence: learned from test sets, kept in the model folder, loaded with the model."""

import json
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from attendo.checkpoint.checksums import CHECKSUMS, CONFIDENCE, WEIGHTS, file_problem, read_json, replace_file
from attendo.errors import DataError, ModelError
from attendo.evaluation.calibration import (
    NO_WORDS,
    JudgedTranslation,
    chrf,
    confidence_of,
    fit,
    held_out,
    is_close,
    people_agree,
    token_probability,
    weighted,
)
from attendo.evaluation.confidence import CLOSE, Confidence
from attendo.evaluation.reliability import Reliability, reliability
from attendo.workflow.engines.engine import Engine

FORMAT_VERSION = 1
MAX_MEASURED = 20
"""Test sets that a folder keeps the figures of."""
_LEAST_PEOPLE = 20
"""Minimum number of sentences with two human translations for reporting their agreement."""


@dataclass(frozen=True)
class TestSet:
    """A test set: sentences with their references."""

    __test__ = False  # keeps pytest from collecting it as a test class

    name: str
    """Name for the page, the card and the curve."""
    sources: Sequence[str]
    """Sentences that the model was not trained on; equal ones are one sentence with several references."""
    references: Sequence[str]
    """Human translations of the sources."""
    weight: float = 1.0
    """Weight of the set in learning, whatever its size; above 0."""


@dataclass(frozen=True, kw_only=True)
class JudgedSet:
    """A test set that a model has translated."""

    name: str
    """Name of the test set."""
    judged: tuple[JudgedTranslation, ...]
    """Each sentence with its translation, and whether it is close to a reference."""
    signature: str
    """The sacreBLEU signature of the metric that judged closeness."""
    weight: float = 1.0
    """Weight of the set in learning, whatever its size."""
    people: tuple[int, float] = (0, 0.0)
    """Number of sentences with two human translations, and the share of them whose two translations are close."""


@dataclass(frozen=True, kw_only=True)
class ConfidenceQuality:
    """The quality of confidences on a test set."""

    name: str
    """Name of the test set."""
    learned_from: bool
    """Whether the calibration learned from this set; its sentences were then judged by cross-validation."""
    kernel: str
    """The kernels and numbers that translated the set."""
    people: float | None
    """Share of sentences whose second reference is close to the first; None if fewer than 20 have several."""
    people_sentences: int
    """Number of sentences on which that share is based."""
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
    """The minimum chrF2 of a translation that counts as close to a person's."""
    signature: str
    """The sacreBLEU signature of that chrF2."""
    search: dict[str, float]
    """Search settings of the translations that change them most."""
    learned: Confidence
    """The learned parameters."""
    measured: tuple[ConfidenceQuality, ...]
    """Results on test sets, first on those that it was learned from."""


def load_confidence(folder: Path) -> Confidence | None:
    """Loads a model's confidence function.

    Args:
        folder: the folder of a model.

    Returns:
        None if the folder has none, or if it was learned for other weights.

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
    familiar_words: Mapping[str, float] = NO_WORDS,
    progress: Callable[[int], None] | None = None,
) -> Calibration:
    """Learns the calibration of a model's confidence, and writes it into the model's folder.

    Args:
        engine: the model.
        folder: its folder.
        sets: sentences of the model's intended use, such as one set per domain; a sentence of two sets belongs to the
            first.
        close: minimum chrF2 of a close translation.
        familiar_words: the words of the text that the model knows best; see `evaluation.familiarity`.
        progress: called with the number of sentences translated so far.

    Raises:
        DataError: the sentences are too few, or nearly all or none of the translations are close; a name is invalid or
            occurs twice.
        ModelError: the folder's checksums are missing or damaged.
        OSError: the folder cannot be written to.
    """
    _check_names(sets)
    if not 0 < close <= 100:
        raise DataError(f"--close {close}: chrF2 goes from 0 to 100; take one such as {CLOSE:g}")
    _sealed_weights(folder)  # checked before any sentence is translated
    judged = _judged_sets(engine, sets, close, progress)
    return calibrate_judged(engine, folder, judged, close=close, familiar_words=familiar_words)


def calibrate_judged(
    engine: Engine,
    folder: Path,
    sets: Sequence[JudgedSet],
    *,
    close: float,
    familiar_words: Mapping[str, float] = NO_WORDS,
) -> Calibration:
    """Learns the calibration of a model's confidence from judged translations, and writes it into the model's folder.

    Args:
        engine: the model.
        folder: its folder.
        sets: at least one, all non-empty and without common sources.
        close: chrF2 from which a translation counted as close.
        familiar_words: as for `calibrate`.

    Raises:
        DataError: as for `calibrate`.
        ModelError: the folder's checksums are missing or torn.
        OSError: the folder cannot be written to.
    """
    weights = _sealed_weights(folder)
    judged = weighted([each.judged for each in sets], [each.weight for each in sets])
    confidences = iter(held_out(judged, familiar_words))
    measured = [_measured(each, engine, [next(confidences) for _ in each.judged], learned_from=True) for each in sets]
    calibration = Calibration(
        weights_sha256=weights,
        close=close,
        signature=sets[0].signature,
        search={key: getattr(engine.search, key) for key in ("beam_size", "length_penalty", "completeness")},
        learned=replace(fit(judged, familiar_words), source_language=engine.source_language),
        measured=tuple(measured),
    )
    write_calibration(folder, calibration)
    return calibration


def judged_set(
    engine: Engine,
    test_set: TestSet,
    close: float,
    *,
    without: Container[str] = (),
    progress: Callable[[int], None] | None = None,
) -> JudgedSet:
    """Translates the distinct sentences of a test set, and compares the translations with the references.

    Args:
        engine: the model.
        test_set: the sentences.
        close: minimum chrF2 of a close translation.
        without: sentences to skip.
        progress: called with the number of sentences translated so far.

    Raises:
        DataError: no sentence is left that the model translates.
    """
    metric = chrf()
    of_people: dict[str, list[str]] = {}
    for source, reference in zip(test_set.sources, test_set.references, strict=True):
        if source not in without:
            of_people.setdefault(source, []).append(reference)
    judged = []
    for number, translation in enumerate(engine.stream(of_people), start=1):
        best = translation.n_best[0]
        if best.token_log_probs:
            near = is_close(metric, best.text, of_people[translation.source], close)
            log_probs = best.token_log_probs
            one = JudgedTranslation(source=translation.source, text=best.text, token_log_probs=log_probs, close=near)
            judged.append(one)
        if progress:
            progress(number)
    if not judged:
        raise DataError(f"{test_set.name}: no sentence that is not in another set and has a translation; leave it out")
    people = people_agree(metric, list(of_people.values()), close)
    return JudgedSet(
        name=test_set.name,
        judged=tuple(judged),
        signature=str(metric.get_signature()),
        weight=test_set.weight,
        people=people,
    )


def check(
    engine: Engine,
    folder: Path,
    sets: Sequence[TestSet],
    *,
    progress: Callable[[int], None] | None = None,
) -> Calibration:
    """Measures the calibration on other test sets, and adds the figures to the model's folder.

    Args:
        engine: the model.
        folder: its folder, calibrated.
        sets: the test sets; figures of their names are replaced.
        progress: called with the number of sentences translated so far.

    Raises:
        DataError: a name is invalid, occurs twice, or is that of a training set of the calibration.
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
    judged = _judged_sets(engine, sets, calibration.close, progress)
    mine = [
        _measured(each, engine, [confidence_of(calibration.learned, one) for one in each.judged], learned_from=False)
        for each in judged
    ]
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
        DataError: a name is invalid, or occurs twice.
    """
    from attendo.workflow.cards.card_evaluations import check_section_name  # with sacreBLEU, which serving does without

    for place, each in enumerate(sets):
        check_section_name(each.name)
        if any(each.name == other.name for other in sets[:place]):
            raise DataError(f"--name {each.name!r} is given twice; give each test set a name of its own")


def _judged_sets(
    engine: Engine, sets: Sequence[TestSet], close: float, progress: Callable[[int], None] | None
) -> list[JudgedSet]:
    """Returns for each test set the sentences that no earlier set has, with their translations.

    Raises:
        DataError: a set has no sentence of its own that the model translates.
    """
    known: set[str] = set()
    judged, before = list[JudgedSet](), 0
    for each in sets:

        def count(number: int, before: int = before) -> None:
            if progress:
                progress(before + number)

        judged.append(judged_set(engine, each, close, without=known, progress=count))
        before += len(set(each.sources).difference(known))
        known.update(each.sources)
    return judged


def _measured(test: JudgedSet, engine: Engine, predicted: Sequence[float], *, learned_from: bool) -> ConfidenceQuality:
    close = [one.close for one in test.judged]
    sentences, share = test.people
    return ConfidenceQuality(
        name=test.name,
        learned_from=learned_from,
        kernel=engine.kernel,
        people=share if sentences >= _LEAST_PEOPLE else None,
        people_sentences=sentences,
        confidence=reliability(predicted, close),
        token_probability=reliability([token_probability(one) for one in test.judged], close),
    )


def _sealed_weights(folder: Path) -> str:
    """The weights' SHA-256, as a folder's checksums have it.

    Raises:
        ModelError: the checksums are missing or torn.
    """
    checksums = read_json(folder / CHECKSUMS, ModelError(f"{folder / CHECKSUMS}: not found; copy the folder again"))
    if not (weights := _weights_seal(checksums)):
        raise ModelError(f"{folder / CHECKSUMS}: does not know {WEIGHTS}; copy the folder again")
    return weights


def _weights_seal(checksums: Any) -> str:
    """The weights' SHA-256, as the checksums have it; empty if they do not."""
    seal = checksums.get(WEIGHTS) if isinstance(checksums, dict) else None
    return str(seal.get("sha256", "") if isinstance(seal, dict) else seal or "")
