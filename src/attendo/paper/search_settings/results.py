"""The results of a search-settings study: means over seeds, paired differences, the choice and its tests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from statistics import fmean

from pydantic import TypeAdapter

from attendo.evaluation.estimates import Estimate, estimate
from attendo.evaluation.significance import compare_outputs
from attendo.paper.run_results import RunResult
from attendo.paper.search_settings.decoding import DecodedSet
from attendo.paper.search_settings.rows import GREEDY, PAPER, Grid, Sentences, SetName, Setting
from attendo.paper.study_folder import measured_once


@dataclass(frozen=True, kw_only=True)
class SeedResults:
    """The results of decoding with the averages of one run."""

    run: RunResult
    sets: Mapping[SetName, Mapping[Setting, DecodedSet]]
    """The results so far, by set and setting."""
    reference_log_probs: tuple[float, ...]
    """Log-probabilities of the dev references under the paper's average, in nats; empty until calculated."""


@dataclass(frozen=True, kw_only=True)
class Results:
    """The results of all seeds that have any."""

    seeds: tuple[SeedResults, ...]

    def of(self, which: SetName, setting: Setting) -> tuple[DecodedSet, ...]:
        """Returns the results of a setting, one for each seed that has it."""
        return tuple(seed.sets[which][setting] for seed in self.seeds if setting in seed.sets[which])

    def mean(self, which: SetName, setting: Setting, of: Callable[[DecodedSet], float]) -> float | None:
        """Returns the mean of a measurement over the seeds; None if no seed has it yet."""
        values = [of(decoded) for decoded in self.of(which, setting)]
        return fmean(values) if values else None

    def bleu(self, which: SetName, setting: Setting) -> Estimate | None:
        """Returns mean BLEU over the seeds with its interval; None if no seed has it yet."""
        values = [decoded.bleu for decoded in self.of(which, setting)]
        return estimate(values) if values else None

    def figures(self, which: SetName, setting: Setting) -> Mapping[str, object]:
        """Returns BLEU and other means over the seeds, by field of `DecodedSet`; each None if no seed has it yet."""
        names = ("length_ratio", "tokens", "log_prob", "processor_ms")
        means = {name: self.mean(which, setting, attrgetter(name)) for name in names}
        return {"bleu": self.bleu(which, setting), **means}

    def gain(self, which: SetName, before: Setting, after: Setting) -> Estimate | None:
        """Returns the gain in BLEU from a change of settings, paired by seed; None if no seed has both."""
        sets = [seed.sets[which] for seed in self.seeds]
        gains = [done[after].bleu - done[before].bleu for done in sets if before in done and after in done]
        return estimate(gains) if gains else None

    def best(self, which: SetName, settings: tuple[Setting, ...]) -> Setting | None:
        """Returns the setting with the highest mean BLEU among those that the most seeds have; the first of equals.

        Args:
            which: the set to choose by.
            settings: the settings to choose among; None is returned if no seed has any.
        """
        counts = {setting: len(self.of(which, setting)) for setting in settings}
        most = max(counts.values(), default=0)
        if not most:
            return None
        full = [setting for setting in settings if counts[setting] == most]
        return max(full, key=lambda setting: self.mean(which, setting, lambda decoded: decoded.bleu) or 0.0)


@dataclass(frozen=True, kw_only=True)
class Step:
    """A change of one component of a setting."""

    name: str
    before: Setting
    after: Setting


def added(grid: Grid) -> tuple[Step, ...]:
    """Returns the steps from greedy search with the last checkpoint to the paper's setting, one component at a time."""
    greedy, beam, penalty = (
        Setting(average=1, beam=1, alpha=PAPER.alpha),
        Setting(average=1, beam=PAPER.beam, alpha=grid.alphas[0]),
        Setting(average=1, beam=PAPER.beam, alpha=PAPER.alpha),
    )
    return (
        Step(name=f"a beam of {PAPER.beam} for greedy search, alpha {grid.alphas[0]}", before=greedy, after=beam),
        Step(name=f"and alpha {PAPER.alpha}", before=beam, after=penalty),
        Step(name=f"and the mean of {PAPER.average} checkpoints for the last", before=penalty, after=PAPER),
    )


def taken_away(grid: Grid) -> tuple[Step, ...]:
    """Returns, for each component of the paper's setting, the step that adds it last."""
    plain = Setting(average=PAPER.average, beam=PAPER.beam, alpha=grid.alphas[0])
    single = Setting(average=1, beam=PAPER.beam, alpha=PAPER.alpha)
    return (
        Step(name="the beam", before=GREEDY, after=PAPER),
        Step(name="the length penalty", before=plain, after=PAPER),
        Step(name="the average", before=single, after=PAPER),
    )


# --- the choice -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Significance:
    """A significance test between two settings of one seed's model on the test set."""

    seed: int
    before: Setting
    after: Setting
    difference: float
    """BLEU of `after` less BLEU of `before`."""
    p_bootstrap: float
    """P-value by paired bootstrap resampling: how often chance alone gives a difference this large."""
    p_randomized: float
    """P-value by paired approximate randomisation."""
    signature: str
    """SacreBLEU's signature of the bootstrap."""


_KEPT = TypeAdapter(Significance)


def candidates(grid: Grid) -> tuple[Setting, ...]:
    """Returns the settings to choose from, cheaper ones first: all but other length limits and a later stop."""
    settings = [setting for average in grid.averages for setting in (replace(GREEDY, average=average),)]
    settings += [replace(PAPER, average=average) for average in grid.averages]
    settings += [setting for average in grid.map_averages for setting in grid.map(average)]
    return tuple(sorted(dict.fromkeys(settings), key=lambda setting: (setting.beam, setting.alpha, setting.average)))


def at_the_edge(choice: Setting, grid: Grid) -> tuple[str, ...]:
    """Returns the parameters of a choice that have the largest value tried, so that more might be better still."""
    tried = (
        ("beam", choice.beam, grid.beams),
        ("alpha", choice.alpha, grid.alphas if choice.beam > 1 else ()),
        ("average", choice.average, grid.averages),
    )
    return tuple(name for name, value, values in tried if value == max(values, default=None))


def pairs_to_test(choice: Setting | None) -> tuple[tuple[Setting, Setting], ...]:
    """Returns the pairs of settings that are compared on the test set.

    Args:
        choice: the best setting on the development set; None before there is one.
    """
    pairs = [(GREEDY, PAPER), (replace(PAPER, average=1), PAPER)]
    if choice is not None:
        pairs += [(GREEDY, choice), (PAPER, choice)]
    return tuple(pair for pair in dict.fromkeys(pairs) if pair[0] != pair[1])


def significances(
    results: Results, choice: Setting | None, sentences: Sentences, language: str, folder: Path
) -> tuple[Significance, ...]:
    """Tests the pairs that have results, seed by seed; each test is done once and kept.

    Args:
        results: the results of the study.
        choice: the best setting on the development set; None before there is one.
        sentences: the test set.
        language: ISO 639-1 code of the target language.
        folder: the folder in which the tests are kept.
    """
    tests = []
    for before, after in pairs_to_test(choice):
        for seed in results.seeds:
            decoded = seed.sets["test"]
            if before in decoded and after in decoded:
                path = folder / f"seed-{seed.run.seed}" / f"{before.name}-to-{after.name}.json"
                outputs = decoded[before].outputs, decoded[after].outputs
                pair = (before, after)
                tests.append(_tested_once(path, seed.run.seed, pair, outputs, sentences.references, language))
    return tuple(tests)


def _tested_once(
    path: Path,
    seed: int,
    pair: tuple[Setting, Setting],
    outputs: tuple[Sequence[str], Sequence[str]],
    references: Sequence[str],
    language: str,
) -> Significance:
    """Tests a pair of settings, or reads the test if it is kept."""

    def test() -> Significance:
        comparison = compare_outputs(
            *outputs, references, name_a=pair[0].name, name_b=pair[1].name, target_language=language
        )  # fmt: skip
        bleu = next(row for row in comparison.metrics if row.metric == "bleu")
        return Significance(
            seed=seed,
            before=pair[0],
            after=pair[1],
            difference=bleu.b.score - bleu.a.score,
            p_bootstrap=bleu.bootstrap.p_value,
            p_randomized=bleu.randomization.p_value,
            signature=bleu.bootstrap.signature,
        )

    return measured_once(path, _KEPT, test)
