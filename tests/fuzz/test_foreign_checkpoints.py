"""Marian checkpoints from a stranger, as `attendo import` reads them: an error of ours or a model, nothing else."""

import io
import json
import zipfile
from collections.abc import Iterable
from functools import partial
from itertools import chain
from pathlib import Path

import pytest
import torch
from tests.fuzz.damage import (
    Damage,
    copied,
    cuts,
    every,
    flips,
    header_changes,
    json_changes,
    no_files,
    num_bytes,
    swaps,
)
from tests.fuzz.sandbox import Case, run_cases
from tests.interop.opus import Opus, write_opus

from attendo.errors import ModelError
from attendo.interop.marian_checkpoint import read_marian
from attendo.synthetic.phrasebook import generate

pytest.importorskip("transformers")

PHRASES = tuple((pair.source, pair.target) for pair in generate(300, seed=2))
TEXTS = ("config.json", "vocab.json", "source.spm", "target.spm", "tokenizer_config.json")


@pytest.fixture(scope="module", params=["model.safetensors", "pytorch_model.bin"])
def checkpoint(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("opus") / "checkpoint"
    write_opus(folder, PHRASES, Opus(file=request.param))
    return folder


def damages_of(folder: Path, outside: Path, num_flips: int) -> Iterable[Damage]:
    weights = next(name for name in ("model.safetensors", "pytorch_model.bin") if (folder / name).is_file())
    files = (*TEXTS, weights)
    return chain(
        cuts(folder, files),
        swaps(folder, files, []),
        (each for each in no_files(files, outside) if "tokenizer_config.json is nothing" not in each.name),
        every(9, json_changes(folder, "config.json"), all_of=1),
        every(200, json_changes(folder, "vocab.json"), all_of=1),
        every(9, header_changes(folder, weights), all_of=1) if weights == "model.safetensors" else (),
        flips(folder, files, range(num_flips)),
    )


@pytest.mark.parametrize(
    ("one_in", "num_flips", "refused"), [(240, 2, 2), pytest.param(1, 1000, 300, marks=pytest.mark.slow)]
)
def test_checkpoints(checkpoint: Path, tmp_path: Path, one_in: int, num_flips: int, refused: int) -> None:
    def act(damage: Damage) -> int:
        copy = copied(checkpoint, tmp_path / "copy")
        damage.apply(copy)
        read_marian(copy)
        return num_bytes(copy)

    damages = every(one_in, damages_of(checkpoint, checkpoint / "source.spm", num_flips), all_of=1)
    cases = [Case(kind=damage.kind, name=damage.name, act=partial(act, damage)) for damage in damages]
    run_cases(cases, lambda: read_marian(checkpoint)).check(refused=refused)


@pytest.fixture
def with_bin(tmp_path: Path) -> Path:
    write_opus(tmp_path / "checkpoint", PHRASES, Opus())
    return tmp_path / "checkpoint"


class Command:
    """What a pickle can be told to do when it is read."""

    def __init__(self, witness: Path) -> None:
        self.witness = witness

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Path.touch, (self.witness,)  # type: ignore[return-value]


@pytest.mark.parametrize("in_zip", [True, False])
def test_a_pickle_that_would_do_something_is_refused(with_bin: Path, *, in_zip: bool) -> None:
    witness = with_bin.parent / "was here"
    weights = torch.load(with_bin / "pytorch_model.bin", weights_only=True)
    weights["more"] = Command(witness)
    torch.save(weights, with_bin / "pytorch_model.bin", _use_new_zipfile_serialization=in_zip)
    torch.load(with_bin / "pytorch_model.bin", weights_only=False)
    assert witness.exists(), "the pickle does do something"
    witness.unlink()
    with pytest.raises(ModelError, match="cannot be read as plain tensors"):
        read_marian(with_bin)
    assert not witness.exists()


def test_a_packed_archive_is_refused(with_bin: Path) -> None:
    path = with_bin / "pytorch_model.bin"
    packed = io.BytesIO()
    with zipfile.ZipFile(path) as plain, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in plain.infolist():
            archive.writestr(member.filename, plain.read(member), zipfile.ZIP_DEFLATED)
    path.write_bytes(packed.getvalue())
    with pytest.raises(ModelError, match="it is packed"):
        read_marian(with_bin)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_one_number_that_says_it_is_a_matrix_is_refused(with_bin: Path, dtype: torch.dtype) -> None:
    path = with_bin / "pytorch_model.bin"
    weights = torch.load(path, weights_only=True)
    weights["model.shared.weight"] = torch.ones(1, dtype=dtype).expand(10**6, 10**6)
    torch.save(weights, path)
    with pytest.raises(ModelError, match="far more than it has"):
        read_marian(with_bin)


def test_a_shape_that_the_weights_do_not_have_is_refused_before_it_is_built(with_bin: Path) -> None:
    settings = json.loads((with_bin / "config.json").read_text())
    settings |= {"encoder_ffn_dim": 2**20, "decoder_ffn_dim": 2**20, "encoder_layers": 900}
    (with_bin / "config.json").write_text(json.dumps(settings))
    with pytest.raises(ModelError, match=r"describes a model of [\d,]+ weights, but there are"):
        read_marian(with_bin)
