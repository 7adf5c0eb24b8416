"""The table and the JSON, from rows written by hand."""

import json
from dataclasses import replace

from attendo.bench.compare import Row
from attendo.bench.machine import Machine
from attendo.bench.report import BenchReport

ROW = Row(
    system="attendo",
    dtype="int8",
    layout="2x1",
    kernel="native",
    beam=4,
    batch=32,
    sentences=64,
    repetitions=3,
    sentences_per_s=1234.56,
    slowest=1000.0,
    fastest=1300.0,
    tokens_per_s=30864.0,
    agreement=0.875,
    ratio=2.004,
    ratio_to="ctranslate2 int8 2x1",
)
BAR = replace(ROW, system="ctranslate2", kernel="int8_float32", sentences_per_s=616.0, ratio=1.0)
MACHINE = Machine(
    processor="A Processor", cores=2, instructions=("avx2",), system="Linux x86_64", python="3.11.7", gpus=()
)


def report(*rows: Row, complete: bool = True) -> BenchReport:
    return BenchReport(
        work="random weights",
        reference="the reference",
        threads=2,
        repetitions=3,
        rows=rows,
        machine=MACHINE,
        versions={"torch": "2.13.0", "ctranslate2": "4.8.5"},
        missing=("huggingface is not installed: pip install transformers",),
        complete=complete,
    )


def test_json_has_the_names_that_scripts_rely_on() -> None:
    found = json.loads(json.dumps(report(ROW).to_json()))
    assert {"rows", "machine", "versions", "missing", "complete", "work", "threads", "reference"} <= found.keys()
    (row,) = found["rows"]
    assert row["system"] == "attendo"
    assert row["dtype"] == "int8"
    assert row["layout"] == "2x1"
    assert (row["beam"], row["batch"]) == (4, 32)
    assert row["sentences_per_s"] == 1234.56
    assert row["agreement"] == 0.875
    assert row["ratio"] == 2.004


def test_the_table() -> None:
    latency = replace(ROW, batch=1, sentences=6, ratio=None, ratio_to=None)
    assert report(ROW, BAR, latency).to_text() == (
        "random weights\n"
        "threads: 2; medians of 3 repetitions, systems by turns\n"
        "\n"
        "beam 4, batches of 32; 64 sentences\n"
        "  system       type  layout  sentences/s  slowest-fastest  tokens/s  ratio  agreement\n"
        "  attendo      int8  2x1         1,234.6  1,000.0-1,300.0    30,864  2.00x        88%\n"
        "  ctranslate2  int8  2x1           616.0  1,000.0-1,300.0    30,864  1.00x        88%\n"
        "\n"
        "beam 4, one sentence at a time (latency); 6 sentences\n"
        "  system   type  layout  sentences/s  slowest-fastest  tokens/s  ratio  agreement\n"
        "  attendo  int8  2x1         1,234.6  1,000.0-1,300.0    30,864               88%\n"
        "\n"
        "ratio: to the best layout of ctranslate2 in the same type with the same beam and batch\n"
        "agreement: sentences with the very tokens of the reference\n"
        "kernels: attendo int8: native; ctranslate2 int8: int8_float32\n"
        "huggingface is not installed: pip install transformers\n"
        "machine: A Processor, 2 cores; avx2; Linux x86_64; Python 3.11.7\n"
        "versions: torch 2.13.0, ctranslate2 4.8.5"
    )


def test_a_ratio_to_another_type_says_so() -> None:
    borrowed = replace(ROW, dtype="bfloat16", ratio_to="ctranslate2 float32 2x1")
    line = "ratio of bfloat16: to ctranslate2's best layout in float32, for it has no bfloat16 here"
    assert line in report(borrowed).to_text()
    assert line not in report(ROW).to_text()


def test_an_interruption_is_told() -> None:
    text = report(complete=False).to_text()
    assert "interrupted: only what was done until then" in text
    assert "agreement" not in text
