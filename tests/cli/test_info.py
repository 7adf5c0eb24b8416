import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from attendo.checkpoint import load_model
from attendo.native.library import find_kernels

Command = Callable[..., Any]


def test_info_of_a_model(attendo: Command, model_folder: Path) -> None:
    found = json.loads(attendo("info", model_folder, "--json").out)
    assert found["parameters"] == sum(value.numel() for value in load_model(model_folder).transformer.parameters())
    assert (found["source_language"], found["target_language"]) == ("en", "de")
    assert (found["model"]["d_model"], found["model"]["num_heads"]) == (16, 2)
    text = attendo("info", model_folder).out
    assert "2 + 2 layers, d_model 16" in text
    assert "300 source, 300 target" in text
    assert "validation   perplexity 12.50, bleu 3.25 (nrefs:1|case:mixed)\n" in text


def test_info_verifies(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "model"
    shutil.copytree(model_folder, copy)
    finished = attendo("info", copy, "--verify")
    assert (finished.status, finished.err) == (0, f"whole: {copy}\n")
    with (copy / "source.spm").open("ab") as file:
        file.write(b"x")
    (copy / "README.md").unlink()
    finished = attendo("info", copy, "--verify")
    assert finished.status == 1
    assert f"{copy / 'source.spm'}: differs from its checksum" in finished.err
    assert f"{copy / 'README.md'}: missing" in finished.err


def test_info_of_this_machine(attendo: Command) -> None:
    found = json.loads(attendo("info", "--json").out)
    assert found["packages"]["torch"] == torch.__version__
    assert "base" in found["recipes"]
    assert "cores" in attendo("info").out


def test_info_names_the_kernels(attendo: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    find_kernels.cache_clear()
    try:
        monkeypatch.setenv("ATTENDO_KERNELS", "plain")
        assert "decoding     plain torch (ATTENDO_KERNELS=plain)\n" in attendo("info").out
        assert json.loads(attendo("info", "--json").out)["kernels"].startswith("plain torch")
        find_kernels.cache_clear()
        monkeypatch.setenv("ATTENDO_KERNELS", "magic")
        finished = attendo("info")
        assert finished.status == 1
        assert "ATTENDO_KERNELS=magic" in finished.err
    finally:
        find_kernels.cache_clear()


def test_info_of_what_is_nothing(attendo: Command, tmp_path: Path) -> None:
    finished = attendo("info", tmp_path)
    assert finished.status == 1
    assert "neither a model folder" in finished.err
