"""What is read of a run, and its matrix products counted by hand."""

import json
from pathlib import Path

import pytest

from attendo.bench.flops import num_parameters, pair_flops
from attendo.model.config import ModelConfig
from attendo.paper.run_results import steps_made


def test_products_of_a_pair_by_hand() -> None:
    d, ff, vocab, source, target = 8, 24, 50, 5, 7
    config = ModelConfig(d_model=d, d_ff=ff, num_layers=2, num_heads=2)
    encoder = 4 * source * d * d + 2 * source * source * d + 2 * source * d * ff
    own = 4 * target * d * d + 2 * target * target * d + 2 * target * d * ff
    other = 2 * target * d * d + 2 * source * d * d + 2 * source * target * d
    forward = 2 * (2 * encoder + 2 * (own + other) + target * d * vocab)  # a product of n terms is 2 n operations
    # Back, each product has two of its size: the gradients of both factors. Some attention kernels make their weights
    # again on the way, which is one product more of the five.
    again = 2 * 2 * d * (source * source + target * target + source * target)
    found = pair_flops(config, (vocab, vocab), (source, target))
    assert found in (3 * forward, 3 * forward + again)


def test_parameters_without_memory() -> None:
    # A vocabulary of ten million at width 1024 would take 40 GB.
    config = ModelConfig(d_model=1024, num_layers=1, num_heads=8)
    assert num_parameters(config, 10**7, 10**7) > 10**10


def test_steps_of_a_run_that_is_writing(tmp_path: Path) -> None:
    assert steps_made(tmp_path) == 0
    lines = [json.dumps({"kind": "train", "step": step}) for step in (50, 100)]
    (tmp_path / "metrics.jsonl").write_text("\n".join([*lines, '{"kind": "tr']), encoding="utf-8")
    assert steps_made(tmp_path) == 100


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]\n"])
def test_steps_of_a_torn_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "metrics.jsonl").write_bytes(content)
    assert steps_made(tmp_path) == 0
