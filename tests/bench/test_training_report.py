"""The table and the JSON of training, from rows written by hand."""

import json
from dataclasses import replace

from attendo.bench.machine import Machine
from attendo.bench.training_compare import FirstLosses, Row
from attendo.bench.training_report import TrainingReport

ROW = Row(
    system="attendo",
    dtype="float32",
    switch="installed",
    model="base",
    batches="equal",
    repetitions=3,
    tokens_per_s=1234.56,
    slowest=1000.0,
    fastest=1300.0,
    ratio=2.004,
    ratio_to="eole",
    ratio_switched=1.3,
    ratio_switched_to="torch onednn",
)
PEER = replace(ROW, system="torch", switch="onednn", tokens_per_s=950.0, ratio=1.5, ratio_switched=1.0)
LOW = replace(ROW, dtype="bfloat16", tokens_per_s=1600.0, ratio_switched=None, ratio_switched_to=None)
MACHINE = Machine(
    processor="A Processor", cores=2, instructions=("avx2",), system="Linux x86_64", python="3.11.7", gpus=()
)


def report(*rows: Row, complete: bool = True) -> TrainingReport:
    return TrainingReport(
        models={"base": "6+6 layers"},
        batches={"equal": "82 sentences"},
        threads=2,
        device="cpu",
        repetitions=3,
        rows=rows,
        losses=(FirstLosses(system="attendo", dtype="float32", model="base", losses=(10.504, 9.25)),),
        machine=MACHINE,
        versions={"torch": {"torch": "2.13.0"}},
        missing=("eole is not installed here",),
        complete=complete,
    )


def test_json_has_the_names_that_scripts_rely_on() -> None:
    found = json.loads(json.dumps(report(ROW).to_json()))
    assert {"rows", "losses", "machine", "versions", "missing", "complete", "threads", "batches"} <= found.keys()
    (row,) = found["rows"]
    assert (row["system"], row["dtype"], row["model"], row["batches"]) == ("attendo", "float32", "base", "equal")
    assert (row["tokens_per_s"], row["ratio"], row["ratio_to"]) == (1234.56, 2.004, "eole")
    assert (row["ratio_switched"], row["ratio_switched_to"]) == (1.3, "torch onednn")


def test_the_tables() -> None:
    assert report(ROW, PEER, LOW).to_text() == (
        "updates: forward, backward and Adam, label smoothing 0.1, dropout 0.1; target tokens/s without padding\n"
        "threads: 2, on cpu; medians of 3 repetitions, systems by turns, each in a process of its own\n"
        "base: 6+6 layers\n"
        "equal: 82 sentences\n"
        "\n"
        "base, equal batches, float32\n"
        "  system   type     products                   tokens/s  slowest-fastest  ratio  ratio (switched)\n"
        "  attendo  float32                                1,235      1,000-1,300  2.00x             1.30x\n"
        "  torch    float32  oneDNN's float32 products       950      1,000-1,300  1.50x             1.00x\n"
        "\n"
        "base, equal batches, bfloat16\n"
        "  system   type      products  tokens/s  slowest-fastest  ratio\n"
        "  attendo  bfloat16               1,600      1,000-1,300  2.00x\n"
        "\n"
        "what each system's first updates cost\n"
        "  first losses  system   type     nats a target token\n"
        "  base          attendo  float32  10.50 9.25\n"
        "\n"
        "ratio: to the best peer as installed, in the same type, on the same batches\n"
        "ratio (switched): to the best peer whose float32 products were switched to a faster library\n"
        "eole is not installed here\n"
        "machine: A Processor, 2 cores; avx2; Linux x86_64; Python 3.11.7\n"
        "torch: torch 2.13.0"
    )


def test_an_interruption_is_told() -> None:
    text = report(complete=False).to_text()
    assert "interrupted: only what was done until then" in text
    assert "ratio:" not in text
