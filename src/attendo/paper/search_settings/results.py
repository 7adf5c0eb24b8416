"""All that a search-settings study has decoded, asked by set and setting: means over seeds and paired differences."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean

from attendo.paper.run_results import RunResult
from attendo.paper.search_settings.decoding import Decoded
from attendo.paper.search_settings.rows import GREEDY, PAPER, Grid, SetName, Setting
from attendo.paper.statistics import Estimate, estimate


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
