"""Table 3's recipes: full size against the paper's own counts, and the smaller rows against mappings made by hand."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from attendo.paper.table3.study import BASE, ROWS, Row, described, full_size, full_size_millions, scaled_down
from attendo.recipe import load_recipe

BY_NAME = {row.name: row for row in ROWS}


def test_the_rows_are_the_papers() -> None:
    # Table 3: five groups under the base row, and big.
    assert "".join(row.group for row in ROWS) == "AAAABBCCCCCCCDDDDEbig"
    assert [row.name for row in ROWS if row.bleu == max(other.bleu for other in ROWS)] == ["big"]
    assert [row.name for row in ROWS if row.bleu == min(other.bleu for other in ROWS)] == ["c-n2"]
    assert (BASE.perplexity, BASE.bleu, BASE.millions) == (4.92, 25.8, 65)
    # The sums of the printed columns, from the paper itself.
    assert sum(row.perplexity for row in ROWS) == pytest.approx(101.87)
    assert sum(row.bleu for row in ROWS) == pytest.approx(507.7)
    assert sum(row.millions or 0 for row in ROWS) == 901


@pytest.mark.parametrize("row", [row for row in ROWS if row.millions], ids=lambda row: row.name)
def test_parameters_at_full_size_are_the_papers(row: Row) -> None:
    # The tolerances of the digest: a vocabulary of 37,000 gives up to 2.6 million less, with d_model 1024 up to 4.2.
    below = 4.2 if row.changes.get("d_model") == 1024 else 2.6
    assert row.millions is not None
    assert -1.5 < row.millions - full_size_millions(row) <= below + 0.05


def test_parameters_by_hand() -> None:
    # Base: 37,000 x 512 embeddings; a layer's attention 4 x 512^2, its network 2 x 512 x 2048 + 2048 + 512, a
    # normalisation 2 x 512; 6 encoder layers of 1 + 1 and 2 norms, 6 decoder layers of 2 + 1 and 3 norms.
    attention, network, norm = 4 * 512**2, 2 * 512 * 2048 + 2048 + 512, 2 * 512
    expected = 37_000 * 512 + 6 * (attention + network + 2 * norm) + 6 * (2 * attention + network + 3 * norm)
    assert full_size_millions(BASE) * 1e6 == pytest.approx(expected)
    # d_k 16 of 64 takes three quarters of W_Q and W_K of 18 attentions, as W_V and W_O keep theirs.
    less = 18 * 2 * 512 * 512 * 3 // 4
    assert full_size_millions(BY_NAME["b-dk16"]) * 1e6 == pytest.approx(expected - less)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_recipe_is_base_with_its_rows_changes(row: Row) -> None:
    base, recipe = load_recipe("base"), full_size(row)
    changes = dict(row.changes)
    smoothing = changes.pop("label_smoothing", 0.1)
    steps = 300_000 if row.name == "big" else 100_000
    training = replace(base.training, average_last=1, label_smoothing=float(smoothing), max_steps=steps)
    expected = replace(base, model=replace(base.model, **changes), training=training)  # type: ignore[arg-type]
    assert recipe == replace(expected, name=f"table3-{row.name}")


def test_the_recipes_are_in_step_with_the_rows() -> None:
    script = Path(__file__).parents[3] / "scripts" / "table3_recipes.py"
    finished = subprocess.run([sys.executable, script, "--check"], check=False, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr


# Multi30k's base row: d_model 128, d_ff 512, 3 layers, 8 heads, so that d_k = d_v = 16.
SMALL = {
    "base": (128, 512, 3, 8, 16, 16),
    "a-h1": (128, 512, 3, 1, 128, 128),
    "a-h4": (128, 512, 3, 4, 32, 32),
    "a-h16": (128, 512, 3, 16, 8, 8),
    "a-h32": (128, 512, 3, 32, 4, 4),
    "b-dk16": (128, 512, 3, 8, 4, 16),
    "b-dk32": (128, 512, 3, 8, 8, 16),
    "c-n2": (128, 512, 1, 8, 16, 16),
    "c-n4": (128, 512, 2, 8, 16, 16),
    "c-n8": (128, 512, 4, 8, 16, 16),
    "c-d256": (64, 512, 3, 8, 8, 8),
    "c-d1024": (256, 512, 3, 8, 32, 32),
    "c-ff1024": (128, 256, 3, 8, 16, 16),
    "c-ff4096": (128, 1024, 3, 8, 16, 16),
    "big": (256, 1024, 3, 16, 16, 16),
}
"""d_model, d_ff, layers, heads, d_k, d_v."""


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_small_rows_change_by_the_papers_factors(row: Row) -> None:
    recipe, base = scaled_down(row, "small"), load_recipe("table3/small")
    shape = recipe.model
    sizes = (shape.d_model, shape.d_ff, shape.num_layers, shape.num_heads, shape.key_size, shape.value_size)
    assert sizes == SMALL.get(row.name, SMALL["base"])
    assert shape.dropout == {"d-p0.0": 0.0, "d-p0.2": 0.2, "big": 0.3}.get(row.name, 0.1)
    assert recipe.training.label_smoothing == {"d-ls0.0": 0.0, "d-ls0.2": 0.2}.get(row.name, 0.1)
    assert shape.positions == ("learned" if row.name == "e-learned" else "interleaved")
    # One budget and one vocabulary for all.
    assert replace(recipe.training, label_smoothing=0.1) == base.training
    assert (recipe.tokenizer, recipe.search, recipe.data) == (base.tokenizer, base.search, base.data)
    assert recipe.training.average_last == 1
    assert recipe.training.eval_steps == recipe.training.max_steps


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row_has_a_tiny_counterpart(row: Row) -> None:
    assert scaled_down(row, "tiny").name == f"table3-tiny-{row.name}"


def test_changes_in_words() -> None:
    small = load_recipe("table3/small")
    told = {name: (described(row), described(row, small)) for name, row in BY_NAME.items()}
    assert told["base"] == ("", "")
    assert told["a-h32"] == ("h 32, d_k = d_v 16", "h 32, d_k = d_v 4")
    assert told["b-dk16"] == ("d_k 16", "d_k 4")
    assert told["c-n8"] == ("N 8", "N 4")
    assert told["c-d1024"] == ("d_model 1024, d_k = d_v 128", "d_model 256, d_k = d_v 32")
    assert told["d-ls0.2"] == ("eps_ls 0.2", "eps_ls 0.2")
    assert told["e-learned"] == ("learned positions", "learned positions")
    assert told["big"][1] == "d_model 256, d_ff 1024, h 16, P_drop 0.3"
