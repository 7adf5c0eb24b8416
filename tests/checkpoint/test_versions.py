"""Versions of a model: added, listed, put into use, found by their names; what is wrong is named."""

import json
from pathlib import Path

import pytest

from attendo.checkpoint.finding import find_model
from attendo.checkpoint.versions import add_version, model_versions, split_version, use_version
from attendo.cli.main import run
from attendo.errors import ModelError


def test_versions_by_the_commands(
    tmp_path: Path, model_folders: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    name = tmp_path / "en-de"
    for model in model_folders[:2]:
        assert run(["models", "add", str(name), str(model)]) == 0
    weights = [(model / "model.safetensors").read_bytes() for model in model_folders[:2]]
    assert (find_model(str(name)) / "model.safetensors").read_bytes() == weights[0]
    assert (find_model(f"{name}@2") / "model.safetensors").read_bytes() == weights[1]
    assert run(["models", "use", f"{name}@2"]) == 0
    assert (find_model(str(name)) / "model.safetensors").read_bytes() == weights[1]
    capsys.readouterr()
    assert run(["models", "list", str(name)]) == 0
    assert capsys.readouterr().out == f"  {name}@1\n* {name}@2\n"
    assert run(["models", "use", f"{name}@1"]) == 0  # and back
    capsys.readouterr()
    assert run(["models", "list", str(name), "--json"]) == 0
    assert [row["current"] for row in json.loads(capsys.readouterr().out)] == [True, False]


def test_what_is_no_version_is_named(tmp_path: Path, model_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = tmp_path / "en-de"
    with pytest.raises(ModelError, match="holds no versions of a model; begin with: attendo models add"):
        model_versions(name)
    add_version(name, model_folder)
    with pytest.raises(ModelError, match="has no version 7; there are 1"):
        use_version(name, 7)
    with pytest.raises(ModelError, match="has no version 7; there are 1"):
        find_model(f"{name}@7")
    assert run(["models", "use", str(name)]) == 1
    assert "names no version; write NAME@VERSION" in capsys.readouterr().err
    (name / "current").write_text("../../etc", encoding="utf-8")
    with pytest.raises(ModelError, match="current: holds no version's number"):
        find_model(str(name))
    (name / "current").write_text("1" * 100, encoding="utf-8")
    with pytest.raises(ModelError, match="current: cannot be read"):
        find_model(str(name))
    with pytest.raises(ModelError, match="does not hold versions"):
        add_version(model_folder, model_folder)


def test_a_torn_version_is_not_put_into_use(tmp_path: Path, model_folders: tuple[Path, Path, Path]) -> None:
    name = tmp_path / "en-de"
    for model in model_folders[:2]:
        add_version(name, model)
    (name / "versions" / "2" / "model.safetensors").write_bytes(b"torn")
    with pytest.raises(ModelError, match="changed or is torn"):
        use_version(name, 2)
    assert find_model(str(name)) == name / "versions" / "1"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a/b@3", ("a/b", 3)), ("a@b", ("a@b", None)), ("@3", ("@3", None)), ("a@0", ("a@0", None)), ("a", ("a", None))],
)
def test_names_with_versions(name: str, expected: tuple[str, int | None]) -> None:
    assert split_version(name) == expected
