"""Exports of a small model, proved by the other programs themselves, and what is left where the proof fails."""

import json
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

from attendo.checkpoint.checksums import verify_folder
from attendo.checkpoint.model_folder import LoadedModel, ModelDescription, load_model
from attendo.checkpoint.saving import save_model
from attendo.checkpoint.weights import named_weights
from attendo.errors import AttendoError, ModelError
from attendo.interop import ctranslate2
from attendo.interop.parity import ParityError
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.output_folders import RECORD
from attendo.text.subwords.learning import learn_tokenizer
from attendo.text.subwords.tokenization import TokenizerConfig
from attendo.workflow.engines.translate import load
from attendo.workflow.exchange.export import PACKAGES, export
from attendo.workflow.exchange.import_model import import_model
from attendo.workflow.exchange.parity_report import ParityReport, Sample

for packages in PACKAGES.values():
    for package in packages:
        pytest.importorskip(package)

FILES = {
    "attendo": {"README.md", "checksums.json", "config.json", "model.safetensors", "source.spm"},
    "ctranslate2": {"README.md", "config.json", "model.bin", "shared_vocabulary.json", "source.spm"},
    "huggingface": {
        "README.md",
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "source.spm",
        "special_tokens_map.json",
        "target.spm",
        "tokenizer_config.json",
        "vocab.json",
    },
    "argos": {"README.md", "translate-en_de-1_0.argosmodel"},
}
FILES["onnx"] = (FILES["huggingface"] - {"model.safetensors"}) | {
    "encoder_model.onnx",
    "decoder_model.onnx",
    "decoder_with_past_model.onnx",
}


@pytest.fixture
def sample(corpus: Any) -> Callable[[str, str], Sample]:
    pairs = corpus.pairs[::6]
    found = Sample(
        origin="the corpus", sources=tuple(pair[0] for pair in pairs), references=tuple(pair[1] for pair in pairs)
    )
    return lambda source_language, target_language: found


@pytest.fixture
def separate_folder(corpus: Any, tmp_path: Path) -> Path:
    """A model with a vocabulary for each language, of unequal size."""
    sides = [
        learn_tokenizer([pair[side] for pair in corpus.pairs], TokenizerConfig(vocab_size=size), tmp_path / name)
        for side, (name, size) in enumerate((("a.spm", 285), ("b.spm", 290)))
    ]
    sizes = [side.vocab_size for side in sides]
    config = ModelConfig(d_model=16, d_ff=32, num_layers=1, num_heads=2, shared_embeddings="target")
    torch.manual_seed(4)
    description = ModelDescription(
        source_language="en",
        target_language="de",
        src_vocab_size=sizes[0],
        tgt_vocab_size=sizes[1],
        model=config,
        search={},
        training={},
    )
    weights = named_weights(Transformer(config, *sizes))
    save_model(tmp_path / "apart", description, weights, sides[0], sides[1], "# Apart\n")
    return tmp_path / "apart"


@pytest.mark.parametrize("kind", FILES)
def test_every_format_is_proved(kind: Any, model_folder: Path, sample: Any, tmp_path: Path) -> None:
    reports: list[ParityReport] = []
    export(str(model_folder), kind, tmp_path / "out", sample=sample, threads=1, version="9.9", say=reports.append)
    (report,) = reports
    assert report.parity.max_difference < 1e-4
    assert report.parity.identical + report.parity.ties == report.parity.sentences == 36
    assert report.problems == ()
    assert report.bleu is not None
    assert report.bleu.delta == 0
    assert {file.name for file in (tmp_path / "out").iterdir()} == FILES[kind] | {RECORD}
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert ("attendo 9.9" in card) == (kind != "attendo")
    assert "# Random" in card  # the model's own card
    assert "{" not in card.split("## The model")[0].replace("{target}", "")


@pytest.mark.parametrize("kind", ["attendo", "ctranslate2", "huggingface", "onnx"])
def test_separate_vocabularies_travel(kind: Any, separate_folder: Path, sample: Any, tmp_path: Path) -> None:
    reports: list[ParityReport] = []
    export(str(separate_folder), kind, tmp_path / "out", sample=sample, threads=1, say=reports.append)
    assert reports[0].problems == ()
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert "target.spm" in names
    vocabulary = {"attendo": "source.spm", "ctranslate2": "target_vocabulary.json"}
    assert vocabulary.get(kind, "target_vocab.json") in names


def test_int8_is_near_and_says_so(model_folder: Path, sample: Any, tmp_path: Path) -> None:
    reports: list[ParityReport] = []
    export(
        str(model_folder),
        "ctranslate2",
        tmp_path / "out",
        sample=sample,
        quantization="int8",
        threads=1,
        say=reports.append,
    )
    (report,) = reports
    assert not report.exact
    assert 1e-5 < report.parity.mean_difference < 0.1
    assert "mean difference" in report.to_text()
    assert "int8" in report.parity.theirs


def test_without_parity_nothing_is_left(
    model_folder: Path, sample: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = ctranslate2.write_folder

    def write_another(model: LoadedModel, folder: Path, **options: Any) -> None:
        changed = load_model(model_folder)
        with torch.no_grad():
            changed.transformer.output_weight[5] *= 1.01
        write(changed, folder, **options)

    monkeypatch.setattr(ctranslate2, "write_folder", write_another)
    reports: list[ParityReport] = []
    with pytest.raises(ParityError, match=r"out .*: no parity, so nothing is kept: log-probabilities differ by up to"):
        export(str(model_folder), "ctranslate2", tmp_path / "out", sample=sample, threads=1, say=reports.append)
    assert not any(tmp_path.iterdir())
    assert "result     no parity: log-prob" in reports[0].to_text()


def test_what_is_there_is_not_overwritten(model_folder: Path, sample: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ModelError, match=r"did not make \(mine.txt\); name another folder, or .* --force"):
        export(str(model_folder), "onnx", tmp_path, sample=sample)
    assert (tmp_path / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("kind", ["huggingface", "onnx"])
def test_int8_is_not_for_every_format(kind: Any, model_folder: Path, sample: Any, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=f"--quantization int8 is for attendo, ctranslate2, argos; {kind} is"):
        export(str(model_folder), kind, tmp_path / "out", sample=sample, quantization="int8")


def test_a_model_that_a_format_cannot_carry_is_refused(model_folder: Path, sample: Any, tmp_path: Path) -> None:
    loaded = load_model(model_folder)
    config = replace(loaded.description.model, positions="learned", max_positions=100)
    description = replace(loaded.description, model=config)
    weights = named_weights(Transformer(config, description.src_vocab_size, description.tgt_vocab_size))
    tokenizer = loaded.source_tokenizer
    save_model(tmp_path / "model", description, weights, tokenizer, tokenizer, "")
    with pytest.raises(
        ModelError, match='cannot represent this model: positions = "learned", but Marian has sinusoids only'
    ):
        export(str(tmp_path / "model"), "huggingface", tmp_path / "out", sample=sample)
    assert [file.name for file in tmp_path.iterdir()] == ["model"]
    export(str(tmp_path / "model"), "onnx", tmp_path / "out", sample=sample, threads=1)  # which can
    names = {file.name for file in (tmp_path / "out").iterdir()}
    assert names == {RECORD, *(file for file in FILES["onnx"] if file.endswith((".onnx", ".spm", ".md")))}


def test_a_missing_package_is_named(
    model_folder: Path, sample: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without(name: str) -> Any:
        return None if name == "onnxruntime" else find_spec(name)

    monkeypatch.setattr("attendo.workflow.extras.find_spec", without)
    with pytest.raises(AttendoError, match=r'^onnxruntime: not installed.*pip install "attendo\[export\]"$'):
        export(str(model_folder), "onnx", tmp_path / "out", sample=sample)


@pytest.mark.parametrize("joint", [True, False])
def test_there_and_back(joint: bool, model_folder: Path, separate_folder: Path, sample: Any, tmp_path: Path) -> None:
    """An exported model imported again has the same ids, the same files and the same weights, in Marian's order."""
    before = load_model(model_folder if joint else separate_folder)
    export(str(before.folder), "huggingface", tmp_path / "out", sample=sample, threads=1)
    reports: list[ParityReport] = []
    import_model(tmp_path / "out", tmp_path / "back", sample=sample, threads=1, version="9.9", say=reports.append)
    assert reports[0].problems == ()
    after = load_model(tmp_path / "back")
    assert after.source_tokenizer.serialized == before.source_tokenizer.serialized
    assert after.target_tokenizer.serialized == before.target_tokenizer.serialized
    assert (after.target_tokenizer is after.source_tokenizer) == joint
    expected = replace(before.description.model, positions="halves", num_encoder_layers=None, num_decoder_layers=None)
    found = replace(after.description.model, num_encoder_layers=None, num_decoder_layers=None)
    assert found == expected
    assert after.transformer.num_parameters == before.transformer.num_parameters
    assert "# Random" in (tmp_path / "back" / "README.md").read_text(encoding="utf-8") or not joint
    settings = json.loads((tmp_path / "out" / "config.json").read_text(encoding="utf-8"))
    assert settings["architectures"] == ["MarianMTModel"]


@pytest.mark.parametrize("kind", ["ctranslate2", "huggingface", "onnx", "argos"])
def test_no_other_program_parses(parser_folder: Path, sample: Any, tmp_path: Path, kind: Any) -> None:
    with pytest.raises(ModelError, match=r"is a parser, and .* take --format attendo"):
        export(str(parser_folder), kind, tmp_path / "out", sample=sample)
    assert not (tmp_path / "out").exists()


def test_a_model_in_int8_decodes_to_the_same_bits(model_folder: Path, sample: Any, tmp_path: Path) -> None:
    reports: list[ParityReport] = []
    options: dict[str, Any] = {"sample": sample, "threads": 1, "version": "9.9"}
    export(str(model_folder), "attendo", tmp_path / "int8", quantization="int8", say=reports.append, **options)
    (report,) = reports
    assert not report.exact
    assert 0 < report.parity.mean_difference < 0.1
    assert report.parity.ours.endswith("float32)")
    assert report.parity.theirs.endswith("int8)")
    sources = sample("en", "de").sources
    for beam_size in (1, 3):
        stored, made = (
            load(folder, search={"beam_size": beam_size}, dtype="int8").translate(sources)
            for folder in (tmp_path / "int8", model_folder)
        )
        assert stored == made  # texts, ids, and log-probabilities to the last bit
    card = (tmp_path / "int8" / "README.md").read_text(encoding="utf-8")
    assert card.startswith("# Random\n\n## Weights in int8\n")
    assert "attendo 9.9" in card
    assert verify_folder(tmp_path / "int8") == []
    # From int8 it goes on: to int8 it is a copy, to float32 what the codes stand for, and so to other programs.
    export(str(tmp_path / "int8"), "attendo", tmp_path / "copy", quantization="int8", **options)
    for name in ("README.md", "model.safetensors", "config.json"):
        assert (tmp_path / "copy" / name).read_bytes() == (tmp_path / "int8" / name).read_bytes()
    export(str(tmp_path / "int8"), "ctranslate2", tmp_path / "there", **options)
    export(str(tmp_path / "int8"), "attendo", tmp_path / "float32", **options)
    back = load_model(tmp_path / "float32")
    assert back.description == load_model(model_folder).description
    expected = named_weights(load_model(tmp_path / "int8").transformer)
    assert all(torch.equal(value, expected[name]) for name, value in named_weights(back.transformer).items())


def test_int8_that_is_read_back_otherwise_is_not_kept(
    model_folder: Path, sample: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load_another(folder: Path) -> LoadedModel:
        loaded = load_model(folder)
        if loaded.description.dtype == "int8":
            with torch.no_grad():
                loaded.transformer.output_weight[5] *= 1.01
        return loaded

    monkeypatch.setattr("attendo.workflow.exchange.export.load_model", load_another)
    with pytest.raises(ParityError, match=r"output_weight\.scales differs when it is read back"):
        export(str(model_folder), "attendo", tmp_path / "out", sample=sample, quantization="int8", threads=1)
    assert not any(tmp_path.iterdir())
