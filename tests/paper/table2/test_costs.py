"""What trainings cost: estimate and count by hand, a real run's folder, and measurements that are kept."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attendo.bench.flops import pair_flops
from attendo.bench.machine import this_machine
from attendo.checkpoint.run_checkpoints import Checkpoints
from attendo.cli.main import run as run_command
from attendo.errors import ModelError, RecipeError
from attendo.paper.table2 import costs
from attendo.paper.table2.costs import (
    Measurement,
    SustainedRate,
    TrainingCost,
    folder_cost,
    full_size_flops,
    measure,
    study_cost,
)
from attendo.recipe import Recipe, load_recipe
from attendo.text.prepared import open_prepared


def test_estimate_and_utilisation_by_hand() -> None:
    sustained = SustainedRate(flops=2e12, what="a card")
    cost = TrainingCost(run="a", seconds=100, devices=8, sustained=sustained, counted=4e14)
    assert cost.estimated == 1.6e15
    assert cost.utilisation == 0.25
    unknown = replace(cost, sustained=None)
    assert unknown.estimated is None
    assert unknown.utilisation is None
    assert unknown.to_json()["utilisation"] is None


def test_a_run_folder_from_its_own_log(recipe_path: Path, tmp_path: Path) -> None:
    run, data = tmp_path / "run", tmp_path / "data"
    assert run_command(["train", str(recipe_path), "-o", str(run), "--prepared", str(data)]) == 0
    asked: list[str] = []

    def measured(recipe: Recipe) -> Measurement:
        asked.append(recipe.training.dtype)
        return Measurement(machine="this", threads=1, dtype=recipe.training.dtype, flops=5e9)

    here = folder_cost(str(run), measured)
    there = folder_cost(f"{run}=8xP100", measured)
    assert asked == ["float32"], "where GPUs are named, nothing is measured"
    checkpoint = Checkpoints(run / "checkpoints", 1).latest(lambda line: None)
    assert checkpoint is not None
    position = checkpoint.state["position"]
    assert here.seconds == there.seconds == position["elapsed_s"] > 0
    assert here.estimated == pytest.approx(position["elapsed_s"] * 5e9)
    assert there.estimated == pytest.approx(position["elapsed_s"] * 8 * 9.5e12)
    assert there.sustained is not None
    assert "P100" in there.sustained.what
    # Every pair is counted as one of average length, its target's tokens over which its products are spread.
    prepared = open_prepared(data)
    [pairs] = prepared.corpora.values()
    lengths = (round(float(pairs.source_lengths.mean())), round(float(pairs.target_lengths.mean())))
    size = prepared.source_tokenizer.vocab_size
    a_pair = pair_flops(load_recipe(str(recipe_path)).model, (size, size), lengths)
    assert here.counted == there.counted == pytest.approx(position["target_tokens"] / lengths[1] * a_pair)
    with pytest.raises(RecipeError, match="P9000: what this GPU sustains is not known"):
        folder_cost(f"{run}=8xP9000", measured)


def test_what_is_no_run(tmp_path: Path, recipe_path: Path) -> None:
    def measured(recipe: Recipe) -> Measurement:
        raise AssertionError

    with pytest.raises(ModelError, match=r"no run to resume"):
        folder_cost(str(tmp_path), measured)


def test_what_was_measured_is_kept(
    tmp_path: Path, recipe_path: Path, make_result: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    speeds = iter([3e9, 4e9])
    monkeypatch.setattr(costs, "measured_flops", lambda *arguments: next(speeds))
    recipe = load_recipe(str(recipe_path))
    assert measure(tmp_path, recipe, 1).flops == 3e9
    assert measure(tmp_path, recipe, 1).flops == 3e9
    assert measure(tmp_path, recipe, 2).flops == 4e9
    result = replace(make_result("base", 1, 7.0, 30.0), machine=this_machine().to_text())
    cost = study_cost(tmp_path, "base-seed-1", result, "float32")
    assert cost.estimated == pytest.approx(601 * 3e9)  # one thread, as the result says
    assert cost.sustained is not None
    assert "1 processor thread: 0.003 TFLOPS in float32, measured here" in cost.sustained.what
    # Of another machine, or another dtype, nothing is known.
    assert study_cost(tmp_path, "a", replace(result, machine="elsewhere"), "float32").estimated is None
    assert study_cost(tmp_path, "a", result, "bfloat16").estimated is None
    (tmp_path / "sustained.json").write_text("[", encoding="utf-8")
    assert study_cost(tmp_path, "a", result, "float32").estimated is None


@pytest.mark.parametrize(
    ("recipe", "met", "estimate", "low", "high"),
    [("base", 63.0e6, 3.3e18, 0.28, 0.33), ("big", 214.0e6, 2.3e19, 0.40, 0.46)],
)
def test_full_size_by_six_flops_a_weight_and_token(
    recipe: str, met: float, estimate: float, low: float, high: float
) -> None:
    # Two FLOPs forward and four back for every weight that a token meets; attention's own products are a few in a
    # hundred more.
    loaded = load_recipe(recipe)
    found = full_size_flops(loaded, 28)
    six = 6 * met * loaded.training.max_steps * loaded.training.max_tokens
    assert six < found < 1.06 * six
    assert low < found / estimate < high
