import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attendo.checkpoint.model_folder import load_model
from attendo.decoding.backends.native_model import Dtype
from attendo.workflow.engines.translate import load

Command = Callable[..., Any]


def test_a_log_probability_a_line(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    pairs = [("one red dogs see us.", "su ees"), ("some old kings.", "")]
    for name, side in (("s", 0), ("t", 1)):
        (tmp_path / name).write_text("".join(f"{pair[side]}\n" for pair in pairs))
    expected = list(load(model_folder).score(pairs))
    files = ["--source", tmp_path / "s", "--target", tmp_path / "t"]
    finished = attendo("score", model_folder, *files)
    assert [float(line) for line in finished.out.splitlines()] == pytest.approx(
        [score.log_prob for score in expected], abs=1e-4
    )
    tokens = [log_prob for score in expected for log_prob in score.token_log_probs]
    perplexity = math.exp(-sum(tokens) / len(tokens))
    assert float(finished.err.split("perplexity ")[1].split()[0]) == pytest.approx(perplexity, abs=1e-3)
    finished = attendo("score", model_folder, *files, "--per-token")
    assert float(finished.out.splitlines()[1]) == pytest.approx(expected[1].log_prob, abs=1e-4)  # </s> alone


def test_what_is_too_long_is_told(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "s").write_text("one " * 1100 + "\n")
    (tmp_path / "t").write_text("eno\n")
    finished = attendo("score", model_folder, "--source", tmp_path / "s", "--target", tmp_path / "t")
    assert finished.status == 0
    assert "1 pair was too long, and only its beginning was scored" in finished.err


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
def test_each_token_has_a_score(attendo: Command, model_folder: Path, tmp_path: Path, dtype: Dtype) -> None:
    pairs = [("one red dogs see us.", "su ees"), ("some old kings.", ""), ("two men", "nem owt eh")]
    for name, side in (("s", 0), ("t", 1)):
        (tmp_path / name).write_text("".join(f"{pair[side]}\n" for pair in pairs))
    files = ["--source", tmp_path / "s", "--target", tmp_path / "t", "--dtype", dtype]
    finished = attendo("score", model_folder, *files, "--json", "--threads", "2")
    rows = [json.loads(line) for line in finished.out.splitlines()]
    tokenizer = load_model(model_folder).target_tokenizer
    for row, (_, target) in zip(rows, pairs, strict=True):
        assert row["tokens"] == tokenizer.pieces(tokenizer.encode(target))
        assert sum(row["token_log_probs"]) == pytest.approx(row["log_prob"], abs=1e-4)
        assert row["log_prob_per_token"] == pytest.approx(row["log_prob"] / len(row["tokens"]), abs=1e-5)
        assert not row["truncated"]
    plain = attendo("score", model_folder, *files).out.splitlines()
    assert [float(line) for line in plain] == pytest.approx([row["log_prob"] for row in rows], abs=1e-5)
    exact = [score.log_prob for score in load(model_folder).score(pairs)]
    # int8 and bfloat16 keep 8 bits of a number.
    assert [row["log_prob"] for row in rows] == pytest.approx(exact, rel=1e-4 if dtype == "float32" else 0.05)


def test_a_file_of_units_holds_both_sides(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"de": "su ees", "en": "one red dogs see us."}\n{"en": "men", "de": ""}\n')
    expected = list(load(model_folder).score([("one red dogs see us.", "su ees")]))
    finished = attendo("score", model_folder, "--source", tmp_path / "a.jsonl")
    assert [float(line) for line in finished.out.splitlines()] == pytest.approx([expected[0].log_prob], abs=1e-4)
    assert "1 pairs; left out: 1 untranslated" in finished.err
    finished = attendo("score", model_folder, "--source", tmp_path / "a.txt")
    assert finished.status == 2
    assert "--target" in finished.err
