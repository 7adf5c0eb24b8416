import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ctranslate2")
pytest.importorskip("transformers")

Command = Callable[..., Any]


def test_a_proof_is_printed_and_the_model_comes_back(
    attendo: Command, model_folder: Path, corpus: Any, tmp_path: Path
) -> None:
    (tmp_path / "s").write_text("".join(f"{pair[0]}\n" for pair in corpus.pairs[:20]))
    (tmp_path / "t").write_text("".join(f"{pair[1]}\n" for pair in corpus.pairs[:20]))
    files = ["--sentences", tmp_path / "s", "--reference", tmp_path / "t", "--threads", "1"]
    finished = attendo("export", model_folder, "--format", "huggingface", "-o", tmp_path / "out", *files)
    assert finished.status == 0, finished.err
    assert finished.out.startswith("parity ")
    assert "20 of 20 outputs identical" in finished.out
    assert "beam scores are defined differently" in finished.out
    assert finished.out.endswith("result     parity\n")
    assert finished.err == f"wrote {tmp_path / 'out'}\n"
    finished = attendo("import", tmp_path / "out", "-o", tmp_path / "back", *files)
    assert finished.status == 0, finished.err
    assert finished.out.endswith("result     parity\n")
    line = corpus.pairs[0][0].encode()
    limit = ["--set", "search.max_len_offset=5"]  # which Hugging Face does not have
    translated = [attendo("translate", folder, *limit, stdin=line).out for folder in (model_folder, tmp_path / "back")]
    assert translated[0].strip()
    assert translated[0] == translated[1]


def test_without_parity_the_status_is_1(
    attendo: Command, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attendo.interop.parity.FLOAT32_TOLERANCE", 0.0)
    (tmp_path / "s").write_text("one red dogs see us.\n")
    finished = attendo(
        "export", model_folder, "--format", "ctranslate2", "-o", tmp_path / "out", "--sentences", tmp_path / "s"
    )
    assert finished.status == 1
    assert "result     no parity" in finished.out
    assert finished.err.startswith(f"attendo: error: {tmp_path / 'out'} (ctranslate2, float32): no parity")
    assert finished.err.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["s"]


def test_wrong_usage(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    assert attendo("export", model_folder, "--format", "pickle", "-o", tmp_path / "out").status == 2
    reference = ["--reference", tmp_path / "t"]
    assert attendo("export", model_folder, "--format", "onnx", "-o", tmp_path / "out", *reference).status == 2
    finished = attendo("import", tmp_path / "nothing", "-o", tmp_path / "out")
    assert finished.status == 1
    assert "config.json: cannot be read" in finished.err


def test_a_model_in_int8_translates_in_int8_unless_asked_otherwise(
    attendo: Command, model_folder: Path, corpus: Any, tmp_path: Path
) -> None:
    (tmp_path / "s").write_text("".join(f"{pair[0]}\n" for pair in corpus.pairs[:9]))
    options = ["--format", "attendo", "--quantization", "int8", "--sentences", tmp_path / "s", "--threads", "1"]
    finished = attendo("export", model_folder, "-o", tmp_path / "out", *options)
    assert finished.status == 0, finished.err
    assert finished.out.startswith(f"parity     {tmp_path / 'out'} (attendo, int8)\n")
    assert finished.out.endswith("result     parity\n")

    def log_probs(folder: Path, *options: str) -> list[float]:
        printed = attendo("translate", folder, tmp_path / "s", "--json", *options).out
        return [json.loads(line)["log_prob"] for line in printed.splitlines()]

    own = log_probs(tmp_path / "out")
    assert own == log_probs(model_folder, "--dtype", "int8")
    assert own != log_probs(model_folder) == log_probs(model_folder, "--dtype", "float32")
    assert own != log_probs(tmp_path / "out", "--dtype", "float32")
    (tmp_path / "t").write_text("".join(f"{pair[1]}\n" for pair in corpus.pairs[:9]))
    files = ["--source", tmp_path / "s", "--target", tmp_path / "t"]
    scored = [
        attendo("score", folder, *files, *dtype).out
        for folder, dtype in ((tmp_path / "out", ()), (model_folder, ("--dtype", "int8")))
    ]
    assert len(scored[0].splitlines()) == 9
    assert scored[0] == scored[1]
