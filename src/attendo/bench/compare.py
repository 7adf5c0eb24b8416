"""The comparison: systems by turns, so that a machine that slows down slows them all, and ratios of their medians."""

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from attendo.bench.systems import System
from attendo.bench.work import Sentence, Work, take

BAR = "ctranslate2"
"""The system that the others are compared with: its best layout of the same type."""
LATENCY_SENTENCES = 6
"""Of a measurement with one random sentence at a time."""
NATURAL_LATENCY_SENTENCES = 50
"""Of one with real sentences: they differ, and a small model translates one in a millisecond."""
PAUSE_S = 0.1
"""Between two systems: the threads of the one before may still be spinning, waiting for more work."""
WARM_UP_SENTENCES = 32
"""The most that a warm-up translates."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What is asked of every system alike."""

    beam: int
    batch: int
    """Sentences given at once; 1 is one call a sentence, and so its latency."""
    sentences: int
    """Of one measurement."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One system, once."""

    system: str
    dtype: str
    layout: str
    kernel: str
    setting: Setting
    seconds: float
    tokens: int
    """Target tokens written, without `</s>`."""
    agreement: float
    """The share of sentences with the reference's ids."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One system with one setting: medians over the repetitions."""

    system: str
    dtype: str
    layout: str
    """Workers x threads of each."""
    kernel: str
    """What computed the products, in the system's own words."""
    beam: int
    batch: int
    sentences: int
    """Of a repetition."""
    repetitions: int
    sentences_per_s: float
    slowest: float
    """Sentences a second in the slowest repetition."""
    fastest: float
    """And in the fastest."""
    tokens_per_s: float
    """Target tokens, without `</s>`."""
    agreement: float
    ratio: float | None
    """Of `sentences_per_s` to `ratio_to`'s; None where that was not measured."""
    ratio_to: str | None
    """CTranslate2's best layout in the same type, or in float32 where it does not have the type."""


def make_settings(
    beams: Iterable[int],
    batches: Iterable[int],
    *,
    threads: int,
    sentences: int | None = None,
    one_by_one: int = LATENCY_SENTENCES,
) -> list[Setting]:
    """Every beam with every batch.

    Args:
        beams: hypotheses.
        batches: sentences given at once.
        threads: a measurement has a batch for each, so that none of so many workers waits.
        sentences: of a measurement, where that is not to be.
        one_by_one: of a measurement with one sentence at a time.
    """
    settings = []
    for beam in beams:
        for batch in batches:
            own = one_by_one if batch == 1 else threads * batch
            settings.append(Setting(beam=beam, batch=batch, sentences=sentences or own))
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
    """Has every system translate with every setting, a few times over.

    Args:
        systems: in the first repetition's order; each repetition starts with another one.
        work: what to translate.
        settings: with each of them all systems have their turns before the next.
        repetitions: of each.
        reference: what a beam of some size should give for the first sentences of the work.
        progress: told before each translation what comes now.
        pause_s: seconds between two systems.

    Yields:
        Each measurement when it has been made.
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
    """The share of sentences with the reference's ids, of as many as both have."""
    pairs = list(zip(ids, reference, strict=False))
    return sum(ours == theirs for ours, theirs in pairs) / len(pairs) if pairs else 0.0


def make_rows(measurements: Iterable[Measurement]) -> list[Row]:
    """Measurements of the same thing as one row each, in the order of their first appearance, with ratios."""
    groups: dict[tuple[object, ...], list[Measurement]] = {}
    for one in measurements:
        groups.setdefault((one.setting, one.system, one.dtype, one.layout), []).append(one)
    medians = {key: statistics.median(map(_rate, group)) for key, group in groups.items()}
    rows = []
    for key, group in groups.items():
        first, rates = group[0], [_rate(one) for one in group]
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
                tokens_per_s=statistics.median(one.tokens / one.seconds for one in group),
                agreement=first.agreement,
                ratio=None if bar is None else medians[key] / medians[bar],
                ratio_to=None if bar is None else " ".join(map(str, bar[1:])),
            )
        )
    return rows


def _rate(one: Measurement) -> float:
    """Sentences a second."""
    return one.setting.sentences / one.seconds


def _bar(
    one: Measurement, groups: dict[tuple[object, ...], list[Measurement]], medians: dict[tuple[object, ...], float]
) -> tuple[object, ...] | None:
    """The key of what a measurement is compared with: the best layout of the bar in the same type, or in float32."""
    for dtype in (one.dtype, "float32"):
        keys = [key for key in groups if key[:3] == (one.setting, BAR, dtype)]
        if keys:
            return max(keys, key=lambda key: medians[key])
    return None
