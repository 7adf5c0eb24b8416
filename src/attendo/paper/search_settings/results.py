"""All that a search-settings study has decoded: means over seeds, paired differences, the choice and its tests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from statistics import fmean

from pydantic import TypeAdapter

from attendo.evaluation.significance import compare_outputs
from attendo.paper.run_results import RunResult
from attendo.paper.search_settings.decoding import Decoded
from attendo.paper.search_settings.rows import GREEDY, PAPER, Grid, Sentences, SetName, Setting
from attendo.paper.statistics import Estimate, estimate
from attendo.paper.study_folder import measured_once


@dataclass(frozen=True, kw_only=True)
class SeedResults:
    """What was decoded with the averages of one run."""

    run: RunResult
    sets: Mapping[SetName, Mapping[Setting, Decoded]]
    """What is done of each set."""
    reference_log_probs: tuple[float, ...]
    """Of the development set's references, by the weights of the paper's average; empty before that is done."""


@dataclass(frozen=True, kw_only=True)
class Results:
    """Those of all seeds that have any."""

    seeds: tuple[SeedResults, ...]

    def of(self, which: SetName, setting: Setting) -> tuple[Decoded, ...]:
        """What was decoded with a setting, a seed behind the other."""
        return tuple(seed.sets[which][setting] for seed in self.seeds if setting in seed.sets[which])

    def mean(self, which: SetName, setting: Setting, of: Callable[[Decoded], float]) -> float | None:
        """A figure's mean over the seeds; None where no seed has it yet."""
        found = [of(each) for each in self.of(which, setting)]
        return fmean(found) if found else None

    def bleu(self, which: SetName, setting: Setting) -> Estimate | None:
        """BLEU over the seeds; None where no seed has it yet."""
        found = [each.bleu for each in self.of(which, setting)]
        return estimate(found) if found else None

    def figures(self, which: SetName, setting: Setting) -> Mapping[str, object]:
        """BLEU, and means over the seeds by the fields of `Decoded`; None where no seed has it yet."""
        names = ("length_ratio", "tokens", "log_prob", "processor_ms")
        means = {name: self.mean(which, setting, attrgetter(name)) for name in names}
        return {"bleu": self.bleu(which, setting), **means}

    def gain(self, which: SetName, before: Setting, after: Setting) -> Estimate | None:
        """How much BLEU a change of settings brings, paired by seed; None where no seed has both."""
        sets = [seed.sets[which] for seed in self.seeds]
        found = [each[after].bleu - each[before].bleu for each in sets if before in each and after in each]
        return estimate(found) if found else None

    def best(self, which: SetName, settings: tuple[Setting, ...]) -> Setting | None:
        """The setting of the highest mean BLEU, among those that as many seeds have as the most; the first of equals.

        Args:
            which: the set to choose by.
            settings: to choose among.
        """
        counts = {setting: len(self.of(which, setting)) for setting in settings}
        most = max(counts.values(), default=0)
        if not most:
            return None
        full = [setting for setting in settings if counts[setting] == most]
        return max(full, key=lambda setting: self.mean(which, setting, lambda each: each.bleu) or 0.0)


@dataclass(frozen=True, kw_only=True)
class Step:
    """A change of one thing."""

    name: str
    before: Setting
    after: Setting


def added(grid: Grid) -> tuple[Step, ...]:
    """From greedy search with the last checkpoint to the paper's setting, one thing after the other."""
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
    """What each thing brings to the paper's setting when it comes last."""
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
    """Two settings of a seed's model on the test set."""

    seed: int
    before: Setting
    after: Setting
    difference: float
    """BLEU of the second less that of the first."""
    p_bootstrap: float
    """By paired bootstrap resampling: how often chance alone gives a difference this large."""
    p_randomized: float
    """By paired approximate randomisation."""
    signature: str
    """Of the bootstrap."""


_KEPT = TypeAdapter(Significance)


def candidates(grid: Grid) -> tuple[Setting, ...]:
    """What may be chosen: everything but other length limits, those first that are cheaper."""
    found = [setting for average in grid.averages for setting in (replace(GREEDY, average=average),)]
    found += [replace(PAPER, average=average) for average in grid.averages]
    found += [setting for average in grid.map_averages for setting in grid.map(average)]
    return tuple(sorted(dict.fromkeys(found), key=lambda each: (each.beam, each.alpha, each.average)))


def at_the_edge(choice: Setting, grid: Grid) -> tuple[str, ...]:
    """Of what a choice has the most that is tried: more might be better still."""
    tried = (
        ("beam", choice.beam, grid.beams),
        ("alpha", choice.alpha, grid.alphas if choice.beam > 1 else ()),
        ("average", choice.average, grid.averages),
    )
    return tuple(name for name, value, values in tried if value == max(values, default=None))


def pairs_to_test(choice: Setting | None) -> tuple[tuple[Setting, Setting], ...]:
    """Which settings are held against each other on the test set.

    Args:
        choice: that of the development set; None before there is one.
    """
    pairs = [(GREEDY, PAPER), (replace(PAPER, average=1), PAPER)]
    if choice is not None:
        pairs += [(GREEDY, choice), (PAPER, choice)]
    return tuple(pair for pair in dict.fromkeys(pairs) if pair[0] != pair[1])


def significances(
    results: Results, choice: Setting | None, sentences: Sentences, language: str, folder: Path
) -> tuple[Significance, ...]:
    """Tests what there is of the pairs, seed by seed; each is done once and kept.

    Args:
        results: of the study.
        choice: that of the development set.
        sentences: the test set.
        language: of the target, as ISO 639-1 code.
        folder: where the tests are kept.
    """
    found = []
    for before, after in pairs_to_test(choice):
        for each in results.seeds:
            decoded = each.sets["test"]
            if before in decoded and after in decoded:
                path = folder / f"seed-{each.run.seed}" / f"{before.name}-to-{after.name}.json"
                outputs = decoded[before].outputs, decoded[after].outputs
                pair = (before, after)
                found.append(_tested_once(path, each.run.seed, pair, outputs, sentences.references, language))
    return tuple(found)


def _tested_once(
    path: Path,
    seed: int,
    pair: tuple[Setting, Setting],
    outputs: tuple[Sequence[str], Sequence[str]],
    references: Sequence[str],
    language: str,
) -> Significance:
    """Tests a pair of settings, unless that is done."""

    def test() -> Significance:
        compared = compare_outputs(
            *outputs, references, name_a=pair[0].name, name_b=pair[1].name, target_language=language
        )  # fmt: skip
        bleu = next(each for each in compared.metrics if each.metric == "bleu")
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
