"""The peers themselves, where they are installed: on the same weights they write the reference's tokens."""

import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
import torch

from attendo.bench.decode import reference
from attendo.bench.peers import ctranslate2_systems, huggingface_systems, missing_peers, thread_layouts
from attendo.bench.systems import System
from attendo.bench.work import Work

CPU = torch.device("cpu")


def test_layouts_are_all_divisors() -> None:
    assert thread_layouts(1) == [(1, 1)]
    assert thread_layouts(2) == [(1, 2), (2, 1)]
    assert thread_layouts(6) == [(1, 6), (2, 3), (3, 2), (6, 1)]


def test_a_missing_peer_is_a_line_that_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_spec(name: str) -> ModuleSpec | None:
        return None if name == "transformers" else ModuleSpec(name, None)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
    assert missing_peers(["ctranslate2", "huggingface"]) == {
        "huggingface": 'huggingface is not installed: pip install "attendo[export]" (or transformers alone)'
    }


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("beam", [1, 3])
def test_ctranslate2_writes_the_references_tokens(tiny_work: Work, beam: int, batch: int) -> None:
    pytest.importorskip("ctranslate2")
    expected = reference(tiny_work, beam)
    systems = ctranslate2_systems(tiny_work, "float32", threads=2, device=CPU)
    assert [system.layout(10, batch) for system in systems] == ["1x2", "2x1"]
    for system in systems:
        timed = system.translate(tiny_work.sources, beam=beam, batch=batch)
        assert timed.ids == expected
        assert timed.seconds > 0


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("beam", [1, 3])
def test_hugging_face_writes_the_references_tokens(tiny_work: Work, beam: int, batch: int) -> None:
    pytest.importorskip("transformers")
    (system,) = huggingface_systems(tiny_work, "float32", threads=1, device=CPU)
    timed = system.translate(tiny_work.sources, beam=beam, batch=batch)
    assert timed.ids == reference(tiny_work, beam)
    assert system.layout(10, batch) == "1x1"


def test_sentences_of_several_lengths_end_where_the_model_ends_them(natural_work: Work) -> None:
    pytest.importorskip("ctranslate2")
    pytest.importorskip("transformers")
    expected = reference(natural_work, 1)
    # A peer has one limit for all sentences of a call, attendo one for each: only what the model itself ended compares.
    ended = [place for place, ids in enumerate(expected) if len(ids) < len(natural_work.sources[place]) - 1 + 4]
    systems: list[System] = [
        *ctranslate2_systems(natural_work, "float32", threads=1, device=CPU),
        *huggingface_systems(natural_work, "float32", threads=1, device=CPU),
    ]
    for system in systems:
        found = system.translate(natural_work.sources, beam=1, batch=4).ids
        assert [found[place] for place in ended] == [expected[place] for place in ended]
        assert all(found[place][: len(ids)] == ids for place, ids in enumerate(expected)), (
            "those that reached the limit begin alike"
        )


def test_types_that_a_peer_lacks_are_left_out(tiny_work: Work) -> None:
    pytest.importorskip("ctranslate2")
    assert ctranslate2_systems(tiny_work, "bfloat16", threads=1, device=CPU) == []
    assert huggingface_systems(tiny_work, "int8", threads=1, device=CPU) == []
    (system,) = ctranslate2_systems(tiny_work, "int8", threads=1, device=CPU)
    assert system.kernel == "int8_float32"


def test_nothing_stays_on_disk(tiny_work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ctranslate2")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ctranslate2_systems(tiny_work, "int8", threads=1, device=CPU)
    assert list(tmp_path.iterdir()) == []
