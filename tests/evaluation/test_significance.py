"""The paired tests against full enumeration of their samples and against sacreBLEU's own command line."""

import itertools
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from attendo.errors import DataError
from attendo.evaluation.significance import Comparison, compare_outputs

REFERENCES = [
    "The small bear is sleeping in a green house.",
    "Two women slowly read a letter aloud.",
    "A boat without sails crosses the lake today.",
    "Nobody has seen the old teacher since Monday.",
    "Her brother sells bread on the market square.",
]
GOOD = [
    "The small bear sleeps in a green house.",
    "Two women slowly read a letter aloud.",
    "A boat without sail crosses the lake now.",
    "Nobody has seen the old teacher since Monday.",
    "Her brother sells bread at the market.",
]
POOR = [
    "The bear small sleeping is in green house.",
    "Two women slowly read a letter aloud.",
    "The boat without sails crosses a lake today.",
    "No one saw the teacher old since Monday.",
    "Her brother buys bread on the market square.",
]


def bleu(outputs: list[str], references: list[str]) -> float:
    return float(BLEU().corpus_score(outputs, [references]).score)


def test_randomization_approximates_all_swaps() -> None:
    observed = abs(bleu(GOOD, REFERENCES) - bleu(POOR, REFERENCES))
    larger = 0
    for swaps in itertools.product((False, True), repeat=len(GOOD)):
        one = [b if swap else a for a, b, swap in zip(GOOD, POOR, swaps, strict=True)]
        other = [a if swap else b for a, b, swap in zip(GOOD, POOR, swaps, strict=True)]
        larger += abs(bleu(one, REFERENCES) - bleu(other, REFERENCES)) > observed
    found = compare_outputs(GOOD, POOR, REFERENCES, num_trials=20000, num_resamples=10).metrics[0]
    # 20,000 draws of a share have a standard error below 0.0036.
    assert found.randomization.p_value == pytest.approx(larger / 2 ** len(GOOD), abs=0.015)


def test_bootstrap_approximates_all_resamples() -> None:
    good, poor, references = GOOD[:4], POOR[:4], REFERENCES[:4]
    differences = []
    for picks in itertools.product(range(4), repeat=4):
        sample = [references[pick] for pick in picks]
        differences.append(bleu([good[p] for p in picks], sample) - bleu([poor[p] for p in picks], sample))
    sizes = np.abs(differences)
    observed = abs(bleu(good, references) - bleu(poor, references))
    expected = np.mean(sizes - sizes.mean() > observed)
    found = compare_outputs(good, poor, references, num_resamples=10000, num_trials=10).metrics[0]
    assert found.bootstrap.p_value == pytest.approx(expected, abs=0.02)


# sacreBLEU 2.6 cannot write the bootstrap's chrF and TER as JSON: float32 is no number to the json module.
@pytest.mark.parametrize(
    ("option", "told_metrics"),
    [
        ("--paired-bs", {"bleu": "BLEU"}),
        ("--paired-ar", {"bleu": "BLEU", "chrf": "chrF2", "ter": "TER"}),
    ],
)
def test_scores_and_p_values_are_those_of_sacrebleu_itself(
    tmp_path: Path, option: str, told_metrics: dict[str, str]
) -> None:
    for name, lines in (("a", GOOD), ("b", POOR), ("reference", REFERENCES)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    samples = {"--paired-bs": "--paired-bs-n", "--paired-ar": "--paired-ar-n"}[option]
    command = [sys.executable, "-m", "sacrebleu", "reference", "-i", "a", "b", "-m", *told_metrics]
    done = subprocess.run(
        [*command, option, samples, "300", "-f", "json", "-w", "6"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
        text=True,
    )
    _, told_b = json.loads(done.stdout)
    found = compare_outputs(GOOD, POOR, REFERENCES, num_resamples=300, num_trials=300)
    for row in found.metrics:
        if row.metric not in told_metrics:
            continue
        key = told_metrics[row.metric]
        ours = row.bootstrap if option == "--paired-bs" else row.randomization
        assert row.b.score == pytest.approx(told_b[key]["score"], abs=1e-5)
        assert ours.p_value == pytest.approx(told_b[key]["p_value"], abs=1e-5)
        assert {"--paired-bs": "bs:300", "--paired-ar": "ar:300"}[option] in ours.signature


def compare_quickly(outputs_a: list[str], outputs_b: list[str]) -> Comparison:
    return compare_outputs(
        outputs_a, outputs_b, REFERENCES, name_a="good.txt", name_b="poor.txt", num_resamples=50, num_trials=50
    )


def test_one_metric_alone_is_what_it_is_beside_others() -> None:
    alone = compare_outputs(GOOD, POOR, REFERENCES, num_resamples=50, num_trials=50, metric_names=("chrf",))
    beside = compare_outputs(GOOD, POOR, REFERENCES, num_resamples=50, num_trials=50)
    assert alone.metrics == beside.metrics[1:2]
    assert alone.metrics[0].metric == "chrf"


def test_identical_outputs_do_not_differ() -> None:
    comparison = compare_quickly(GOOD, GOOD)
    for row in comparison.metrics:
        assert row.better == "neither"
        assert row.bootstrap.p_value == row.randomization.p_value == 1.0
    assert "1.0000*" not in comparison.to_text()


def test_lower_ter_is_better() -> None:
    assert [row.better for row in compare_quickly(GOOD, POOR).metrics] == ["a", "a", "a"]
    assert [row.better for row in compare_quickly(POOR, GOOD).metrics] == ["b", "b", "b"]


def test_table_names_systems_metrics_and_signatures() -> None:
    comparison = compare_quickly(GOOD, POOR)
    text = comparison.to_text()
    for part in ("A: good.txt", "B: poor.txt", "5 sentences", "BLEU", "chrF2", "TER", "bs:50", "ar:50", "p < 0.05"):
        assert part in text
    table = [line for line in text.splitlines() if line.startswith(("BLEU ", "chrF2 ", "TER "))]
    assert len(table) == 3
    assert all(line == line.rstrip() for line in text.splitlines())


def test_json_holds_both_systems_and_both_tests() -> None:
    found = json.loads(json.dumps(compare_quickly(GOOD, POOR).to_json()))
    assert found["systems"] == {"a": "good.txt", "b": "poor.txt"}
    assert set(found) == {"systems", "num_sentences", "bleu", "chrf", "ter"}
    row = found["bleu"]
    assert row["difference"] == pytest.approx(bleu(POOR, REFERENCES) - bleu(GOOD, REFERENCES))
    assert set(row["paired_bootstrap"]) == set(row["paired_randomization"]) == {"p_value", "signature"}
    assert row["a"]["low"] <= row["a"]["score"] <= row["a"]["high"]


def test_every_output_that_does_not_fit_is_named() -> None:
    with pytest.raises(DataError, match=r"good\.txt has 4 lines, the reference has 5; poor\.txt has 3 lines"):
        compare_quickly(GOOD[:4], POOR[:3])
    with pytest.raises(DataError, match=r"poor\.txt: no line at all"):
        compare_quickly(GOOD, [])


def test_one_name_for_two_outputs_is_refused() -> None:
    with pytest.raises(DataError, match="both outputs are called 'same'"):
        compare_outputs(GOOD, POOR, REFERENCES, name_a="same", name_b="same")


def test_no_samples_are_refused() -> None:
    with pytest.raises(DataError, match="num_trials = 0"):
        compare_outputs(GOOD, POOR, REFERENCES, num_trials=0)
