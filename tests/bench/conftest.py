"""Work of a size that takes no time."""

import pytest

from attendo.bench.work import Work, random_work
from attendo.model.config import ModelConfig

TINY = ModelConfig(d_model=32, d_ff=64, num_layers=2, num_heads=4)


@pytest.fixture(scope="session")
def tiny_work() -> Work:
    """Ten random sentences of 7 tokens for a random model; 7 tokens are forced."""
    return random_work(TINY, 90, length=7, sentences=10)


@pytest.fixture(scope="session")
def natural_work(tiny_work: Work) -> Work:
    """The same with sentences of several lengths, and translations that end where the model ends them, or the limit."""
    sources = tuple(
        (*source[:length], 0) for source, length in zip(tiny_work.sources, (6, 1, 3, 5, 2, 2, 6, 4, 1, 3), strict=True)
    )
    return Work(
        model=tiny_work.model,
        sources=sources,
        length=None,
        length_penalty=0.0,
        max_len_offset=4,
        description="of several lengths",
    )
