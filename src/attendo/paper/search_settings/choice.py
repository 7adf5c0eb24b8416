"""Settings chosen on the development set, and what the choice is worth on the test set, with paired tests."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from attendo.evaluation.significance import compare_outputs
from attendo.files import write_json
from attendo.paper.search_settings.results import Results
from attendo.paper.search_settings.rows import GREEDY, PAPER, Grid, Sentences, Setting


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
    try:
        return _KEPT.validate_json(path.read_bytes())
    except (OSError, ValidationError):  # not done, or of another version
        pass
    compared = compare_outputs(
        *outputs, references, name_a=pair[0].name, name_b=pair[1].name, target_language=language
    )  # fmt: skip
    bleu = next(each for each in compared.metrics if each.metric == "bleu")
    found = Significance(
        seed=seed,
        before=pair[0],
        after=pair[1],
        difference=bleu.b.score - bleu.a.score,
        p_bootstrap=bleu.bootstrap.p_value,
        p_randomized=bleu.randomization.p_value,
        signature=bleu.bootstrap.signature,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, asdict(found))
    return found
