"""Against transformers: checkpoints made with it must give the same log-probabilities, outputs and ids here."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.interop.opus import Opus, write_opus

from attendo.checkpoint.model_folder import LoadedModel, ModelDescription
from attendo.decoding.backends.models import decoding_model
from attendo.errors import ModelError
from attendo.interop.huggingface_runtime import HuggingFaceRuntime, text_differences
from attendo.interop.marian_checkpoint import ImportedModel, read_marian
from attendo.interop.parity import AttendoRuntime, Parity, compare

transformers = pytest.importorskip("transformers")

CHECKPOINTS = {
    "as OPUS-MT": Opus(),
    "trained a little": Opus(steps=40, bias=False),
    "start with weights": Opus(pad="weights"),
    "other order": Opus(first=("<unk>", "</s>"), file="model.safetensors", activation="relu"),
    "pieces without a number": Opus(unnumbered=4),
    "pieces without a number, start with weights": Opus(unnumbered=4, pad="weights"),
    "source apart": Opus(tied="target", bias=False),
    "all apart": Opus(tied="none", file="model.safetensors", unnumbered=2),
}


def parity(folder: Path, ours: ImportedModel, lines: list[str]) -> Parity:
    theirs = HuggingFaceRuntime(
        folder,
        tgt_vocab_size=len(ours.target.names),
        source_ids=ours.source.their_ids,
        target_ids=ours.target.their_ids[: ours.target.num_writable],
    )
    runtime = AttendoRuntime(decoding_model(ours.transformer, native=False), threads=1, version="")
    return compare(runtime, theirs, ours.source_tokenizer.encode_batch(lines))


def loaded(folder: Path, ours: ImportedModel) -> LoadedModel:
    description = ModelDescription(
        src_vocab_size=len(ours.source.names),
        tgt_vocab_size=len(ours.target.names),
        model=ours.transformer.config,
        search={},
        training={},
    )
    arrays = ours.transformer.arrays()
    assert arrays is not None
    return LoadedModel(
        folder=folder,
        description=description,
        arrays=arrays,
        source_tokenizer=ours.source_tokenizer,
        target_tokenizer=ours.target_tokenizer,
    )


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_it_says_the_same(name: str, phrases: Any, tmp_path: Path) -> None:
    opus = CHECKPOINTS[name]
    write_opus(tmp_path, phrases, opus)
    ours = read_marian(tmp_path)
    lines = [pair[0] for pair in phrases[::9]]
    found = parity(tmp_path, ours, lines)
    assert found.max_difference < 1e-4
    assert found.identical + found.ties == found.sentences == len(lines)
    assert len(set(found.our_outputs)) > 2  # the test has something to tell
    writable = ours.target.their_ids[: ours.target.num_writable]
    given = [*lines, "Dogs  see ﬁne kings", "ßß one 日本"]
    assert not text_differences(
        tmp_path,
        loaded(tmp_path, ours),
        given,
        found.our_outputs,
        source_ids=ours.source.their_ids,
        target_ids=writable,
    )
    config = ours.transformer.config
    assert config.shared_embeddings == opus.tied
    assert (config.start == "zero") == (opus.pad == "zero")
    assert config.positions == "halves"
    assert (ours.source_language, ours.target_language) == ("en", "xx")
    assert ours.search == {"beam_size": 6, "max_source_tokens": 127}


def test_ids_are_the_tokens_in_another_order(phrases: Any, tmp_path: Path) -> None:
    write_opus(tmp_path, phrases, Opus(first=("<unk>", "</s>"), unnumbered=3))
    vocabulary = json.loads((tmp_path / "vocab.json").read_text())
    ours = read_marian(tmp_path)
    names = ours.source_tokenizer.pieces(range(ours.source_tokenizer.vocab_size))
    assert names[:2] == ["</s>", "<unk>"]
    assert set(names[:-3]) == set(vocabulary) - {"<pad>"}
    assert [vocabulary[name] for name in names[:-3]] == list(ours.source.their_ids[:-3])
    assert ours.source.their_ids[-3:] == (vocabulary["<unk>"],) * 3
    assert ours.target_tokenizer.pieces(range(len(names))) == names


def test_codes_of_target_languages_are_one_token(phrases: Any, tmp_path: Path) -> None:
    write_opus(tmp_path, phrases, Opus(first=("</s>", "<unk>", ">>de<<", ">>nl<<")))
    ours, theirs = read_marian(tmp_path), transformers.MarianTokenizer.from_pretrained(tmp_path)
    for line in (">>nl<< Is there a desk in room two?", ">>de<< two", "no code"):
        mine = ours.source_tokenizer.encode(line)
        assert [ours.source.their_ids[number] for number in mine] == theirs(line)["input_ids"]


def test_an_object_in_the_pickle_is_not_made(phrases: Any, tmp_path: Path) -> None:
    write_opus(tmp_path, phrases, Opus())
    witness = tmp_path / "executed"
    (tmp_path / "pytorch_model.bin").write_bytes(pickle.dumps(_Executes(str(witness)), protocol=2))
    with pytest.raises(ModelError, match=r"pytorch_model\.bin: cannot be read as plain tensors"):
        read_marian(tmp_path)
    assert not witness.exists()


class _Executes:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path(self.path),)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"model_type": "bart"}, "model_type is 'bart', only 'marian' can be imported"),
        (
            {"activation_function": "gelu", "scale_embedding": False, "decoder_ffn_dim": 7},
            "differ in ffn_dim: 32 and 7; activation_function is 'gelu', known are .*; scale_embedding is not set",
        ),
        ({"d_model": None, "decoder_layers": "2"}, "d_model is missing; decoder_layers is missing"),
        ({"normalize_before": True}, "normalize_before is set, but our layers are post-norm"),
        ({"decoder_start_token_id": 9999}, r"config.json: decoder_start_token_id is 9999, no id of \d+"),
        ({"encoder_layers": 3}, r"the checkpoint has no model\.encoder\.layers\.2\.self_attn\.q_proj\.weight"),
        ({"encoder_ffn_dim": 31, "decoder_ffn_dim": 31}, r"fc1\.weight: is \(32, 16\), not \(31, 16\)"),
        ({"encoder_attention_heads": 3, "decoder_attention_heads": 3}, "num_heads = 3 does not divide d_model = 16"),
    ],
)
def test_what_cannot_be_imported_is_named(changes: dict[str, Any], problem: str, phrases: Any, tmp_path: Path) -> None:
    write_opus(tmp_path, phrases, Opus())
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(ModelError, match=problem):
        read_marian(tmp_path)


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [
        ("config.json", None, "config.json: cannot be read"),
        ("config.json", "{", "config.json: is no JSON"),
        ("config.json", "[]", "config.json: holds no table"),
        ("pytorch_model.bin", None, r"has neither model\.safetensors nor pytorch_model\.bin"),
        ("pytorch_model.bin", "text", "cannot be read as plain tensors"),
        ("vocab.json", '{"</s>": 0}', "vocab.json: has no <unk>"),
        ("vocab.json", '{"</s>": "a"}', "vocab.json: is no table of pieces and their ids"),
        ("vocab.json", '{"</s>": 0, "<unk>": 1, "x": 5000}', r"has the id 5000, the weights \d+ rows"),
        ("source.spm", None, "source.spm: cannot be read"),
        ("source.spm", "nonsense", "source.spm or target.spm: this is not a SentencePiece model"),
    ],
)
def test_what_is_missing_or_torn_is_named(
    file: str, content: str | None, problem: str, phrases: Any, tmp_path: Path
) -> None:
    write_opus(tmp_path, phrases, Opus())
    (tmp_path / file).unlink()
    if content is not None:
        (tmp_path / file).write_text(content)
    with pytest.raises(ModelError, match=problem):
        read_marian(tmp_path)


def test_positions_that_are_no_sinusoids_are_refused(phrases: Any, tmp_path: Path) -> None:
    model = write_opus(tmp_path, phrases, Opus())
    weights = model.state_dict()
    assert "model.encoder.embed_positions.weight" in weights
    weights["model.encoder.embed_positions.weight"] = torch.randn(128, 16)
    torch.save(weights, tmp_path / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"embed_positions\.weight is not Marian's table of sinusoids"):
        read_marian(tmp_path)


def test_half_precision_is_read(phrases: Any, tmp_path: Path) -> None:
    model = write_opus(tmp_path, phrases, Opus())
    torch.save({name: value.half() for name, value in model.state_dict().items()}, tmp_path / "pytorch_model.bin")
    assert read_marian(tmp_path).transformer.output_weight.dtype == torch.float32
