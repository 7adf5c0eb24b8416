"""Parts of the page of a search-settings study: averages and time, search errors, longest outputs."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from attendo.paper.report import Paragraph, Picture, Section, Table
from attendo.paper.search_settings.decoding import Decoded, differing
from attendo.paper.search_settings.picture import lines_png, setting_at
from attendo.paper.search_settings.results import Results
from attendo.paper.search_settings.rows import GREEDY, PAPER, SETS, Grid, SetName, Setting
from attendo.paper.statistics import Estimate
from attendo.training.config import TrainingConfig


def averages(grid: Grid, training: TrainingConfig, results: Results) -> Section:
    """BLEU by the number of checkpoints that are averaged, and what a beam costs."""
    settings = [
        (average, replace(GREEDY, average=average), replace(PAPER, average=average)) for average in grid.averages
    ]
    table = Table(
        caption=f"BLEU, mean over seeds and half of the 95% interval; beam {PAPER.beam} has alpha {PAPER.alpha}",
        columns=("checkpoints", "dev greedy", f"dev beam {PAPER.beam}", "test greedy", f"test beam {PAPER.beam}"),
        rows=tuple(
            (str(average), *(bleu_text(results.bleu(which, each)) for which in SETS for each in (greedy, beam)))
            for average, greedy, beam in settings
        ),
        words=1,
    )
    every = (
        f"{training.checkpoint_steps:,} of {training.max_steps:,} updates"
        if training.checkpoint_steps
        else f"{training.checkpoint_minutes:g} minutes"
    )
    picture = Picture(
        name="lines.png",
        png=lines_png(results, grid),
        alt="Three plots: BLEU by the number of averaged checkpoints, BLEU by beam, and processor time by beam",
        caption="Means over seeds. Time is that of all processor threads together, for translating alone.",
    )
    text = (
        f"A checkpoint is written every {every}. An average takes out what the last updates have moved to and fro; it "
        "brings the more, the higher the learning rate still is, and costs nothing when translating."
    )
    return Section(title="Averaging, and what time buys", blocks=(table, Paragraph(text=text), picture))


def search_errors(grid: Grid, results: Results) -> Section:
    """Whether a wider beam finds more probable translations, and whether these are better."""
    alpha = grid.alphas[0]
    rows = []
    for beam in grid.beams:
        setting = setting_at(PAPER.average, beam, alpha)
        rows.append(
            (
                "1, greedy" if beam == 1 else str(beam),
                mean_text(results, "dev", setting, lambda each: each.log_prob, 3),
                _missed(results, setting),
                mean_text(results, "dev", setting, lambda each: each.tokens, 2),
                mean_text(results, "dev", setting, lambda each: each.length_ratio, 3),
                bleu_text(results.bleu("dev", setting)),
            )
        )
    table = Table(
        caption=f"Dev, mean of {PAPER.average} checkpoints, alpha {alpha}: the most probable translation is looked for",
        columns=("beam", "log-prob", "reference better %", "tokens", "length", "BLEU"),
        rows=tuple(rows),
        words=1,
    )
    text = (
        "Log-prob is the model's own score of its translation, in nats a sentence. Where the reference is more "
        "probable than what was found, the search has surely missed the most probable translation; where it is not, "
        "nothing is proven. A wider beam finds more probable translations; whether they are better is up to the model."
    )
    return Section(title="Search errors and model errors", blocks=(table, Paragraph(text=text)))


def _missed(results: Results, setting: Setting) -> str:
    """The share of sentences whose reference the model gives more than its translation, in percent."""
    shares = [
        np.mean(np.array(seed.reference_log_probs) > np.array(seed.sets["dev"][setting].log_probs))
        for seed in results.seeds
        if seed.reference_log_probs and setting in seed.sets["dev"]
    ]
    return f"{100 * np.mean(shares):.1f}" if shares else ""


def longest_outputs(grid: Grid, results: Results) -> Section:
    """Whether a longer or shorter limit of the output, or a later stop, changes a translation."""
    settings = [(f"input + {each.offset}", each) for each in grid.lengths()]
    settings.append((f"input + {PAPER.offset}, to the best {PAPER.beam}", replace(PAPER, all_of_the_beam=True)))
    table = Table(
        caption=f"Dev, {PAPER.to_text()}; of all seeds, time in processor milliseconds a sentence",
        columns=("longest output", "other translations", "ended by the limit", "BLEU", "ms"),
        rows=tuple(
            (
                name,
                _others(results, setting),
                _sum(results, setting),
                mean_text(results, "dev", setting, lambda each: each.bleu, 2),
                mean_text(results, "dev", setting, lambda each: each.processor_ms, 2),
            )
            for name, setting in settings
        ),
        words=1,
    )
    text = (
        "Other translations: how many differ from those with the paper's input + 50. The search stops at a sentence as "
        "soon as no open hypothesis can still beat the best finished one, even with the mildest length penalty that it "
        "could get at the longest output; so stopping early changes nothing, and a higher limit only makes it a little "
        "later to be sure. The last row goes on until the best of the whole beam are certain: a later stop."
    )
    return Section(title="Longest output and early stop", blocks=(table, Paragraph(text=text)))


def _others(results: Results, setting: Setting) -> str:
    sets = [seed.sets["dev"] for seed in results.seeds]
    both = [each for each in sets if setting in each and PAPER in each]
    if not both:
        return ""
    total = sum(len(each[PAPER].outputs) for each in both)
    return f"{sum(differing(each[setting].outputs, each[PAPER].outputs) for each in both):,} of {total:,}"


def _sum(results: Results, setting: Setting) -> str:
    found = results.of("dev", setting)
    return f"{sum(each.unfinished for each in found):,}" if found else ""


def bleu_text(found: Estimate | None, *, signed: bool = False) -> str:
    """An estimate with half of its interval; empty where there is none."""
    return "" if found is None else found.to_text("+.2f" if signed else ".2f")


def mean_text(results: Results, which: SetName, setting: Setting, of: Callable[[Decoded], float], digits: int) -> str:
    """A figure's mean over the seeds; empty where there is none."""
    found = results.mean(which, setting, of)
    return "" if found is None else f"{found:.{digits}f}"
