"""The bench as a whole, on work of no size: every system that is here, in every type it has."""

import importlib.util
from dataclasses import asdict, replace
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
import torch

from attendo.bench import decode
from attendo.bench.decode import DecodeBench, DecodeOptions, make_systems, model_work, reference
from attendo.bench.work import Work, random_work
from attendo.decoding.config import GuardConfig
from attendo.errors import AttendoError, DataError
from attendo.model.config import ModelConfig
from attendo.workflow.engines.translate import load

OPTIONS = DecodeOptions(
    systems=("attendo",),
    dtypes=("float32", "int8", "bfloat16"),
    beams=(1, 3),
    batches=(1, 4),
    threads=1,
    repetitions=2,
    sentences=5,
    device=torch.device("cpu"),
)


def nothing_is_installed(name: str) -> ModuleSpec | None:
    return None


def test_attendo_alone(tiny_work: Work) -> None:
    bench = DecodeBench(tiny_work, OPTIONS)
    told: list[float] = []
    measurements = list(bench.measure(lambda share, label: told.append(share)))
    report = bench.report(measurements, complete=True)
    assert [(row.dtype, row.beam, row.batch) for row in report.rows] == [
        (dtype, beam, batch) for beam in (1, 3) for batch in (1, 4) for dtype in OPTIONS.dtypes
    ]
    assert all(row.sentences_per_s > 0 and row.repetitions == 2 and row.ratio is None for row in report.rows)
    assert [row.agreement for row in report.rows if row.dtype == "float32"] == [1.0] * 4
    assert all(row.tokens_per_s == pytest.approx(7 * row.sentences_per_s, rel=0.5) for row in report.rows)
    assert told == sorted(told)
    assert 0 <= told[0] <= told[-1] < 1
    assert bench.estimate_s() > 0


def test_peers_stand_beside_it(tiny_work: Work) -> None:
    pytest.importorskip("ctranslate2")
    pytest.importorskip("transformers")
    options = replace(
        OPTIONS, systems=("attendo", "ctranslate2", "huggingface"), threads=2, beams=(1,), batches=(4,), repetitions=1
    )
    bench = DecodeBench(tiny_work, options)
    rows = bench.report(list(bench.measure()), complete=True).rows
    # Whether attendo has workers depends on whether there are native kernels here.
    assert [(row.system, row.dtype) for row in rows[:3]] == [("attendo", dtype) for dtype in OPTIONS.dtypes]
    assert all(row.layout == ("2x1" if row.kernel.startswith("native") else "1x2") for row in rows[:3])
    assert [(row.system, row.dtype, row.layout) for row in rows[3:]] == [
        ("ctranslate2", "float32", "1x2"),
        ("ctranslate2", "float32", "2x1"),
        ("ctranslate2", "int8", "1x2"),
        ("ctranslate2", "int8", "2x1"),
        ("huggingface", "float32", "1x2"),
        ("huggingface", "bfloat16", "1x2"),
    ]
    assert [row.agreement for row in rows if row.dtype == "float32"] == [1.0] * 4
    assert all(row.ratio is not None and row.ratio_to is not None for row in rows)
    assert {(row.dtype, str(row.ratio_to).split()[1]) for row in rows} == {
        ("float32", "float32"),
        ("int8", "int8"),
        ("bfloat16", "float32"),
    }


def test_what_was_done_before_an_interruption_is_a_report(tiny_work: Work) -> None:
    bench = DecodeBench(tiny_work, OPTIONS)
    measurements = [measurement for measurement, _ in zip(bench.measure(), range(4), strict=False)]
    rows = bench.report(measurements, complete=False).rows
    assert [(row.dtype, row.repetitions) for row in rows] == [("float32", 1), ("int8", 2), ("bfloat16", 1)]


def test_missing_peers_are_lines(tiny_work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", nothing_is_installed)
    options = replace(OPTIONS, systems=("attendo", "ctranslate2", "huggingface"), dtypes=("float32",))
    bench = DecodeBench(tiny_work, options)
    assert [system.name for system in bench.systems] == ["attendo"]
    assert "ctranslate2 is not installed: pip install" in bench.report([], complete=True).to_text()
    with pytest.raises(AttendoError, match="ctranslate2 is not installed: pip install"):
        DecodeBench(tiny_work, replace(options, systems=("ctranslate2",)))


def test_a_peer_that_cannot_carry_the_model_is_a_line() -> None:
    pytest.importorskip("transformers")
    odd = random_work(
        ModelConfig(d_model=16, d_ff=16, num_layers=1, num_heads=2, d_k=4, d_v=4), 30, length=4, sentences=2
    )
    systems, missing = make_systems(odd, replace(OPTIONS, systems=("huggingface",), dtypes=("float32",)))
    assert systems == []
    assert missing == [
        "huggingface float32 is left out: Hugging Face's Marian cannot represent this model: d_k = 4 is not "
        "d_model / num_heads = 8; d_v = 4 is not d_model / num_heads = 8"
    ]


def test_the_reference_of_real_text_is_what_translating_gives(model_folder: Path, tmp_path: Path) -> None:
    lines = ["one red dogs see us.", "", "some old kings hear them."]
    (tmp_path / "text").write_text("\n".join(lines), encoding="utf-8")
    work = model_work(str(model_folder), tmp_path / "text", length_penalty=0.5)
    assert (len(work.sources), work.length, work.max_len_offset) == (2, None, 5)
    search = {"length_penalty": 0.5, "beam_size": 2, "guards": asdict(GuardConfig.off())}
    engine = load(model_folder, search=search)
    expected = [translation.n_best[0].ids for translation in engine.translate([lines[0], lines[2]])]
    assert reference(work, 2) == expected
    assert model_work(str(model_folder), tmp_path / "text", length_penalty=None).length_penalty == 0.6


def test_a_file_without_a_sentence_is_refused(model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("\n\n", encoding="utf-8")
    with pytest.raises(DataError, match="no sentence to translate"):
        model_work(str(model_folder), tmp_path / "text", length_penalty=None)


def test_the_default_is_the_papers_base_model(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[ModelConfig, int, int, int]] = []

    def random_work(config: ModelConfig, vocab_size: int, *, length: int, sentences: int) -> None:
        made.append((config, vocab_size, length, sentences))

    monkeypatch.setattr(decode, "random_work", random_work)
    decode.paper_work(length=25, sentences=256)
    ((config, *rest),) = made
    # Table 3, row "base", and Section 5.1.
    assert (config.num_layers, config.d_model, config.d_ff, config.num_heads) == (6, 512, 2048, 8)
    assert rest == [37_000, 25, 256]
