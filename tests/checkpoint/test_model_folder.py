"""Model folders: round trips, shipped models, and what is said of broken ones."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file as load_arrays
from safetensors.torch import load_file, save_file
from torch import Tensor

from attendo.checkpoint.checksums import verify_folder
from attendo.checkpoint.finding import find_model, shipped_models
from attendo.checkpoint.model_folder import load_model, read_description, replace_card
from attendo.checkpoint.saving import save_model
from attendo.checkpoint.weights import named_weights
from attendo.errors import ModelError
from attendo.model.batch import collate
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.model.weights.quantization import quantized
from attendo.text.subwords.tokenization import Tokenizer

SHAPE = ModelConfig(d_model=16, d_ff=24, num_layers=1, num_heads=2)


def test_a_model_comes_back_as_it_was(folder: Path, model: Transformer, tokenizer: Tokenizer) -> None:
    loaded = load_model(folder)
    batch = collate([[5, 6, 0]], [[7, 0]])
    assert torch.equal(loaded.transformer(batch), model(batch))
    assert loaded.description.model == SHAPE
    assert loaded.description.search == {"beam_size": 3}
    assert loaded.source_tokenizer.serialized == tokenizer.serialized
    assert verify_folder(folder) == []
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md", "checksums.json", "config.json", "model.safetensors", "source.spm",
    ]  # fmt: skip
    assert not loaded.transformer.training


def test_reading_a_model_draws_no_random_numbers(folder: Path) -> None:
    before = torch.get_rng_state()
    load_model(folder)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_shared_matrix_is_stored_once(folder: Path, model: Transformer) -> None:
    stored = sum(parameter.numel() for parameter in model.parameters()) * 4
    assert (folder / "model.safetensors").stat().st_size < stored + 4096


def test_a_model_is_replaced_whole(folder: Path, model: Transformer, tokenizer: Tokenizer) -> None:
    description = load_model(folder).description
    (folder / "left over").touch()
    save_model(folder, description, named_weights(model), tokenizer, tokenizer, "# new\n")
    assert (folder / "README.md").read_text() == "# new\n"
    assert not (folder / "left over").exists()
    assert [path.name for path in folder.parent.iterdir()] == ["a model"]


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "source.spm"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(Exception, match=name) as caught:
        load_model(folder)
    assert caught.type.__module__ == "attendo.errors"


@pytest.mark.parametrize("keep", [0, 5, 100, 1000])
def test_truncated_weights_are_an_error(folder: Path, keep: int) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ModelError, match=r"model\.safetensors: cannot be read"):
        load_model(folder)
    assert any(f"has {keep} bytes, not" in problem for problem in verify_folder(folder))


def test_weights_of_another_shape_are_named(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["model"]["d_ff"] = 32
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=r"feed_forward\.inner\.weight is \(24, 16\), not \(32, 16\)"):
        load_model(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format_version": 2}, "format_version is 2, this attendo reads 1"),
        ({"src_vocab_size": "many"}, "src_vocab_size"),
        ({"surprise": 1}, "surprise"),
        ({"model": {"num_heads": 7}}, "num_heads = 7 does not divide"),
    ],
)
def test_a_config_that_is_not_ours(folder: Path, change: dict[str, object], message: str) -> None:
    config = json.loads((folder / "config.json").read_text()) | change
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=message):
        load_model(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"src_vocab_size": -5}, "src_vocab_size = -5 is no vocabulary"),
        (
            {"src_vocab_size": 10**12, "tgt_vocab_size": 10**12},
            r"source\.spm: has 290 pieces but config.json says 10{12}",
        ),
        (
            {"model": {"d_ff": 2**20, "num_layers": 1000}},
            r"safetensors: holds [\d,]+ bytes, but config",
        ),
        ({"model": {"start": 290}}, r"model\.start = 290 is not an id of the 290"),
        ({"training": {"valid": []}}, r"training\.valid: is not an object"),
        ({"a\n\x1b[2Jb": 1}, r"a\\n\\x1b\[2Jb: "),
        ({f"key {number}": 1 for number in range(9)}, "; and 4 more$"),
    ],
)
def test_a_config_that_claims_what_is_not_so(folder: Path, change: dict[str, object], message: str) -> None:
    config = json.loads((folder / "config.json").read_text())
    config |= change if "model" not in change else {"model": {**config["model"], **dict(change["model"])}}  # type: ignore[call-overload]
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=message):
        load_model(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "source.spm"])
def test_a_file_that_is_elsewhere_is_not_read(folder: Path, name: str) -> None:
    (folder / name).rename(folder.parent / name)
    (folder / name).symlink_to(folder.parent / name)
    with pytest.raises(ModelError, match=rf"{name}: cannot be read \(is a link to .*, outside its folder"):
        load_model(folder)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_no_numbers_are_refused(folder: Path, number: float) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path)
    tensors[NAME][3, 5] = number
    save_file(tensors, path)
    with pytest.raises(ModelError, match=rf"model\.safetensors: {NAME} has infinite or NaN values"):
        load_model(folder)


def test_find_model(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "checkpoints").mkdir(parents=True)
    with pytest.raises(ModelError, match="this run has no model yet"):
        find_model(str(run))
    folder.rename(run / "model")
    assert find_model(str(run)) == run / "model"
    assert find_model(str(run / "model")) == run / "model"
    with pytest.raises(ModelError, match="no such model"):
        find_model(str(tmp_path / "nowhere"))


@pytest.fixture
def int8_folder(folder: Path, model: Transformer, tokenizer: Tokenizer) -> Path:
    path = folder.with_name("int8")
    description = replace(read_description(folder), dtype="int8")
    save_model(path, description, named_weights(model), tokenizer, tokenizer, "# card\n")
    return path


def test_int8_is_codes_and_a_scale_a_row(int8_folder: Path, model: Transformer) -> None:
    stored = load_arrays(int8_folder / "model.safetensors")  # numpy's reader, which needs nothing of ours
    for name, parameter in model.named_parameters():
        weight = parameter.detach().numpy()
        if weight.ndim == 1:
            assert np.array_equal(stored[name], weight)
            continue
        codes, scales = stored[name], stored[f"{name}.scales"]
        assert (codes.dtype.name, scales.dtype.name, scales.shape) == ("int8", "float32", (len(weight),))
        assert np.allclose(scales, np.abs(weight).max(axis=1) / 127)
        assert (np.abs(codes * scales[:, None].astype(np.float64) - weight) <= scales[:, None] * 0.5001).all()
    matrices = sum(name.endswith(".scales") for name in stored)
    assert len(stored) == len(list(model.parameters())) + matrices
    assert json.loads((int8_folder / "config.json").read_text())["dtype"] == "int8"


def test_int8_comes_back_as_it_was(int8_folder: Path, folder: Path, model: Transformer) -> None:
    batch = collate([[5, 6, 0], [7, 0]], [[7, 0], [8, 9, 0]])
    loaded = load_model(int8_folder)
    assert torch.equal(quantized(loaded.transformer)(batch), quantized(model)(batch))
    assert {parameter.dtype for parameter in loaded.transformer.parameters()} == {torch.float32}
    assert torch.allclose(loaded.transformer(batch), model(batch), atol=0.1)
    assert (loaded.description.dtype, load_model(folder).description.dtype) == ("int8", "float32")
    sizes = [(each / "model.safetensors").stat().st_size for each in (int8_folder, folder)]
    assert sizes[0] < 0.5 * sizes[1]  # of 16 columns the scales are a fourth; the rest is names
    assert verify_folder(int8_folder) == []


def test_a_folder_from_before_there_was_int8_is_float32(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    del config["dtype"]
    (folder / "config.json").write_text(json.dumps(config))
    assert read_description(folder).dtype == "float32"
    load_model(folder)


NAME = "encoder_layers.0.feed_forward.inner.weight"


Change = Callable[[dict[str, Tensor]], object]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop(f"{NAME}.scales"), rf"{NAME}\.scales is missing"),
        (lambda t: t.pop(NAME), rf"{NAME} is missing"),
        (lambda t: t.update({NAME: t[NAME][:, 1:].contiguous()}), rf"{NAME} is \(24, 15\), not \(24, 16\)"),
        (lambda t: t.update({NAME: t[NAME].float()}), rf"{NAME} is in float32, not int8"),
        (lambda t: t.update({NAME: t[NAME].view(torch.uint8)}), rf"{NAME} is in uint8, not int8"),
        (lambda t: t.update({f"{NAME}.scales": t[f"{NAME}.scales"][:3]}), r"scales is \(3,\), not \(24,\)"),
        (lambda t: t.update({f"{NAME}.scales": t[f"{NAME}.scales"].half()}), r"scales is in float16, not float32"),
        (lambda t: t[f"{NAME}.scales"].__setitem__(2, float("nan")), rf"{NAME}\.scales has scales that are not finite"),
        (lambda t: t[f"{NAME}.scales"].neg_(), rf"{NAME}\.scales has scales that are not finite numbers above 0"),
        (lambda t: t[NAME].__setitem__((1, 1), -128), rf"{NAME} has codes below -127"),
        (lambda t: t.update({"more": torch.zeros(1)}), r"more is not part of this model"),
    ],
)
def test_torn_int8_is_named(int8_folder: Path, change: Change, message: str) -> None:
    path = int8_folder / "model.safetensors"
    tensors = {name: value.clone() for name, value in load_file(path).items()}
    change(tensors)
    save_file(tensors, path)
    with pytest.raises(ModelError, match=rf"int8/model\.safetensors: .*{message}"):
        load_model(int8_folder)


@pytest.mark.parametrize(
    ("stored", "described", "message"),
    [("int8", "float32", r"\.scales is not part of this model"), ("float32", "int8", r"\.scales is missing")],
)
def test_weights_of_the_other_dtype_are_named(
    folder: Path, int8_folder: Path, stored: str, described: str, message: str
) -> None:
    folders = {"float32": folder, "int8": int8_folder}
    shutil.copy(folders[stored] / "model.safetensors", folders[described] / "model.safetensors")
    with pytest.raises(ModelError, match=message):
        load_model(folders[described])


@pytest.mark.parametrize("keep", [0, 7, 90, 2000, 5000])
def test_truncated_int8_is_an_error(int8_folder: Path, keep: int) -> None:
    path = int8_folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ModelError, match=r"model\.safetensors: cannot be read"):
        load_model(int8_folder)


def test_a_damaged_model_is_not_written_in_int8(folder: Path, model: Transformer, tokenizer: Tokenizer) -> None:
    weights = {name: value.clone() for name, value in named_weights(model).items()}
    weights[NAME][0, 0] = float("nan")
    description = replace(read_description(folder), dtype="int8")
    with pytest.raises(ModelError, match=rf"new: {NAME} has numbers that are not finite"):
        save_model(folder.with_name("new"), description, weights, tokenizer, tokenizer, "")
    assert not folder.with_name("new").exists()


def test_everybody_may_read_what_one_may_read_of_it(folder: Path) -> None:
    modes = {path.stat().st_mode for path in folder.iterdir()}
    assert len(modes) == 1


def test_another_card_leaves_the_folder_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_card(folder, "# another, longer\n")
    assert (folder / "README.md").read_text() == "# another, longer\n"
    assert verify_folder(folder) == []

    def fail(path: Path, text: str) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("attendo.checkpoint.checksums.write_text", fail)
    with pytest.raises(OSError, match="no space left"):
        replace_card(folder, "# a third\n")
    assert (folder / "README.md").read_text() == "# another, longer\n"
    assert verify_folder(folder) == []
    (folder / "checksums.json").unlink()
    with pytest.raises(ModelError, match=r"checksums\.json: not found"):
        replace_card(folder, "")


@pytest.fixture
def shipped(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two models where the package has its own; in the current folder, none."""
    place = tmp_path / "package"
    for name in ("xx-yy", "yy-xx"):
        shutil.copytree(folder, place / name)
    (place / "no model").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr("attendo.checkpoint.finding.SHIPPED", place)
    return place


def test_a_shipped_model_is_found_last(shipped: Path, folder: Path) -> None:
    assert shipped_models() == {"xx-yy": shipped / "xx-yy", "yy-xx": shipped / "yy-xx"}
    assert find_model("xx-yy") == shipped / "xx-yy"
    Path("xx-yy").mkdir()  # such as a folder of corpora
    assert find_model("xx-yy") == shipped / "xx-yy"
    shutil.copytree(folder, Path("xx-yy/model"))
    assert find_model("xx-yy") == Path("xx-yy/model")
    shutil.copytree(folder, Path("yy-xx"))
    assert find_model("yy-xx") == Path("yy-xx")
    assert find_model(str(shipped / "yy-xx")) == shipped / "yy-xx"


def test_the_nearest_shipped_model_is_named(shipped: Path) -> None:
    known = r"Shipped models: xx-yy, yy-xx; train one with: attendo train RECIPE -o"
    with pytest.raises(ModelError, match=rf"^XX_YY: no such model or run folder; did you mean xx-yy\? {known} XX_YY$"):
        find_model("XX_YY")
    with pytest.raises(ModelError, match=rf"^runs/mine: no such model or run folder\. {known} runs/mine$"):
        find_model("runs/mine")
    with pytest.raises(ModelError, match=r"neither a model folder .* Shipped models: xx-yy, yy-xx$"):
        find_model(".")


def test_without_shipped_models_none_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attendo.checkpoint.finding.SHIPPED", tmp_path / "models")
    assert shipped_models() == {}
    with pytest.raises(
        ModelError, match=r"^x: no such model or run folder; train one with: attendo train RECIPE -o x$"
    ):
        find_model("x")
