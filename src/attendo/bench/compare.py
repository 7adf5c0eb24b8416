"""The comparison: systems take turns, so that a machine that slows down slows them all; ratios are of their medians."""

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from attendo.bench.systems import System
from attendo.bench.work import Sentence, Work, take

BAR = "ctranslate2"
"""The system that all are compared with, in its best layout of the same type."""
LATENCY_SENTENCES = 6
"""Number of sentences in a measurement with one random sentence at a time."""
NATURAL_LATENCY_SENTENCES = 50
"""Number of sentences in such a measurement on real text, where they differ and a small model takes 1 ms for one."""
PAUSE_S = 0.1
"""Pause between two systems, in seconds: the threads of the previous one may still be spinning, waiting for more
work."""
WARM_UP_SENTENCES = 32
"""Maximum number of sentences that a warm-up translates."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The conditions of a measurement, the same for every system."""

    beam: int
    batch: int
    """Number of sentences given at once; 1 means one call per sentence, which measures latency."""
    sentences: int
    """Number of sentences in one measurement."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One timed translation by one system."""

    system: str
    dtype: str
    layout: str
    kernel: str
    setting: Setting
    seconds: float
    tokens: int
    """Number of target tokens written, `</s>` not counted."""
    agreement: float
    """The share of sentences whose ids equal the reference's."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One system with one setting: medians over the repetitions."""

    system: str
    dtype: str
    layout: str
    """Workers x threads per worker."""
    kernel: str
    """The implementation of the matrix products, as the system names it."""
    beam: int
    batch: int
    sentences: int
    """Number of sentences in a repetition."""
    repetitions: int
    sentences_per_s: float
    slowest: float
    """Sentences per second in the slowest repetition."""
    fastest: float
    """Sentences per second in the fastest repetition."""
    tokens_per_s: float
    """Target tokens per second, `</s>` not counted."""
    agreement: float
    ratio: float | None
    """`sentences_per_s` divided by that of `ratio_to`; None if that was not measured."""
    ratio_to: str | None
    """CTranslate2's best layout in the same type, or in float32 if it does not have the type; None if not measured."""


def make_settings(
    beams: Iterable[int],
    batches: Iterable[int],
    *,
    threads: int,
    sentences: int | None = None,
    one_by_one: int = LATENCY_SENTENCES,
) -> list[Setting]:
    """Returns a setting for every combination of beam size and batch size.

    Args:
        beams: beam sizes.
        batches: batch sizes, in sentences.
        threads: number of threads; a measurement has one batch per thread, so that no worker is idle.
        sentences: number of sentences in every measurement; None for one that depends on the batch size.
        one_by_one: number of sentences in a measurement with one sentence at a time.
    """
    settings = []
    for beam in beams:
        for batch in batches:
            default = one_by_one if batch == 1 else threads * batch
            settings.append(Setting(beam=beam, batch=batch, sentences=sentences or default))
    return settings


def measure(
    systems: Sequence[System],
    work: Work,
    settings: Sequence[Setting],
    *,
    repetitions: int,
    reference: Callable[[int], Sequence[Sentence]],
    progress: Callable[[str], None] = lambda label: None,
    pause_s: float = PAUSE_S,
) -> Iterator[Measurement]:
    """Measures every system with every setting, several times.

    Args:
        systems: the systems in the order of the first repetition; each repetition starts with the next one.
        work: the model and sentences to translate.
        settings: the settings; all systems are measured with one before the next begins.
        repetitions: number of repetitions of each measurement.
        reference: returns the expected translations of the first sentences of the work for a beam size.
        progress: called before each translation with a label for it.
        pause_s: seconds between two systems.

    Yields:
        Each measurement as soon as it has been made.
    """
    references: dict[int, Sequence[Sentence]] = {}
    for setting in settings:
        label = f"beam {setting.beam}, batch {setting.batch}"
        if setting.beam not in references:
            progress(f"{label}, reference")
            references[setting.beam] = reference(setting.beam)
        sources = take(work, setting.sentences)
        for system in systems:
            progress(f"{label}, warm-up")
            warm = sources[: max(1, min(setting.batch, WARM_UP_SENTENCES))]
            system.translate(warm, beam=setting.beam, batch=setting.batch)
        for repetition in range(repetitions):
            first = repetition % len(systems)
            for system in (*systems[first:], *systems[:first]):
                progress(f"{label}, repetition {repetition + 1}")
                time.sleep(pause_s)
                yield _measure_once(system, sources, setting, references[setting.beam])


def _measure_once(
    system: System, sources: Sequence[Sentence], setting: Setting, reference: Sequence[Sentence]
) -> Measurement:
    timed = system.translate(sources, beam=setting.beam, batch=setting.batch)
    return Measurement(
        system=system.name,
        dtype=system.dtype,
        layout=system.layout(len(sources), setting.batch),
        kernel=system.kernel,
        setting=setting,
        seconds=timed.seconds,
        tokens=sum(map(len, timed.ids)),
        agreement=agreement(timed.ids, reference),
    )


def agreement(ids: Sequence[Sentence], reference: Sequence[Sentence]) -> float:
    """Returns the share of sentences whose ids equal the reference's, among the sentences that both have."""
    pairs = list(zip(ids, reference, strict=False))
    return sum(ours == theirs for ours, theirs in pairs) / len(pairs) if pairs else 0.0


def make_rows(measurements: Iterable[Measurement]) -> list[Row]:
    """Returns a row with ratios for each setting, system, type and layout, in the order of their first appearance."""
    groups: dict[tuple[object, ...], list[Measurement]] = {}
    for measurement in measurements:
        groups.setdefault((measurement.setting, measurement.system, measurement.dtype, measurement.layout), []).append(
            measurement
        )
    medians = {key: statistics.median(map(_rate, group)) for key, group in groups.items()}
    rows = []
    for key, group in groups.items():
        first, rates = group[0], [_rate(measurement) for measurement in group]
        bar = _bar(first, groups, medians)
        rows.append(
            Row(
                system=first.system,
                dtype=first.dtype,
                layout=first.layout,
                kernel=first.kernel,
                beam=first.setting.beam,
                batch=first.setting.batch,
                sentences=first.setting.sentences,
                repetitions=len(group),
                sentences_per_s=medians[key],
                slowest=min(rates),
                fastest=max(rates),
                tokens_per_s=statistics.median(measurement.tokens / measurement.seconds for measurement in group),
                agreement=first.agreement,
                ratio=None if bar is None else medians[key] / medians[bar],
                ratio_to=None if bar is None else " ".join(map(str, bar[1:])),
            )
        )
    return rows


def _rate(measurement: Measurement) -> float:
    """Sentences per second."""
    return measurement.setting.sentences / measurement.seconds


def _bar(
    measurement: Measurement,
    groups: dict[tuple[object, ...], list[Measurement]],
    medians: dict[tuple[object, ...], float],
) -> tuple[object, ...] | None:
    """Returns the key of the group to compare with: the best layout of `BAR` in the same type, or else in float32."""
    for dtype in (measurement.dtype, "float32"):
        keys = [key for key in groups if key[:3] == (measurement.setting, BAR, dtype)]
        if keys:
            return max(keys, key=lambda key: medians[key])
    return None
