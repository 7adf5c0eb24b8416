"""Model folders and checkpoints: round trips, averages by hand, and what is said of broken ones."""

import json
from pathlib import Path

import pytest
import torch

from attendo.checkpoint import (
    Checkpoints,
    ModelDescription,
    find_model,
    load_model,
    mean_weights,
    named_weights,
    save_model,
    verify_folder,
)
from attendo.errors import ModelError
from attendo.model.batch import collate
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.text.tokenization import Tokenizer, TokenizerConfig, learn_tokenizer

SHAPE = ModelConfig(d_model=16, d_ff=24, num_layers=1, num_heads=2)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    sentences = [f"the {a} {b} sees a {c}" for a in ("old", "young") for b in ("man", "cat") for c in ("dog", "bird")]
    path = tmp_path_factory.mktemp("tokenizer") / "source.spm"
    return learn_tokenizer(sentences, TokenizerConfig(vocab_size=290), path, seed=1)


@pytest.fixture
def model(tokenizer: Tokenizer) -> Transformer:
    torch.manual_seed(0)
    return Transformer(SHAPE, tokenizer.vocab_size, tokenizer.vocab_size).eval()


@pytest.fixture
def folder(tmp_path: Path, model: Transformer, tokenizer: Tokenizer) -> Path:
    path = tmp_path / "a model"
    size = tokenizer.vocab_size
    description = ModelDescription(
        source_language="en", target_language="de", src_vocab_size=size, tgt_vocab_size=size, model=SHAPE,
        search={"beam_size": 3}, training={"steps": 7},
    )  # fmt: skip
    save_model(path, description, named_weights(model), tokenizer, tokenizer, "# card\n")
    return path


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
    assert any("differs from its checksum" in problem for problem in verify_folder(folder))


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


def test_find_model(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "checkpoints").mkdir(parents=True)
    with pytest.raises(ModelError, match="a run without a model yet"):
        find_model(str(run))
    folder.rename(run / "model")
    assert find_model(str(run)) == run / "model"
    assert find_model(str(run / "model")) == run / "model"
    with pytest.raises(ModelError, match="no such model"):
        find_model(str(tmp_path / "nowhere"))


def test_the_mean_by_hand() -> None:
    parts = [{"w": torch.tensor([1.0, 2.0])}, {"w": torch.tensor([2.0, 4.0])}, {"w": torch.tensor([6.0, 0.0])}]
    assert mean_weights(parts)["w"].tolist() == [3.0, 2.0]


def save(checkpoints: Checkpoints, step: int, *, regular: bool = True) -> None:
    checkpoints.save(
        step,
        regular=regular,
        state={"position": {"step": step}},
        weights={"w": torch.full((3,), float(step))},
        training={"adam": torch.full((3,), -float(step))},
    )


def test_checkpoints_are_pruned_and_averaged(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    for step in (10, 20, 30, 40, 50):
        save(checkpoints, step)
    assert checkpoints.steps() == [30, 40, 50]
    assert [part["w"][0].item() for part in checkpoints.last_weights(2)] == [40, 50]
    assert [part["w"][0].item() for part in checkpoints.last_weights(2, before=50)] == [30, 40]
    latest = checkpoints.latest()
    assert latest is not None
    assert latest.state == {"position": {"step": 50}}
    assert latest.training["adam"][0].item() == -50


def test_an_interruptions_checkpoint_counts_in_no_average_and_goes_with_the_next(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    save(checkpoints, 10)
    save(checkpoints, 13, regular=False)
    latest = checkpoints.latest()
    assert latest is not None
    assert latest.state["position"]["step"] == 13
    assert checkpoints.steps(regular_only=True) == [10]
    save(checkpoints, 20)
    assert checkpoints.steps() == [10, 20]


def test_a_torn_checkpoint_is_passed_over(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    save(checkpoints, 10)
    save(checkpoints, 20)
    torn = tmp_path / "step-00000020" / "weights.safetensors"
    torn.write_bytes(torn.read_bytes()[:-1])
    latest = checkpoints.latest()
    assert latest is not None
    assert latest.state["position"]["step"] == 10
    for file in (tmp_path / "step-00000010").iterdir():
        file.write_bytes(b"")
    with pytest.raises(ModelError, match="no checkpoint is whole"):
        checkpoints.latest()


def test_no_checkpoint_yet(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path / "none", keep=3).latest() is None
