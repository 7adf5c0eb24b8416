"""Results of runs that nobody made."""

from collections.abc import Callable

import pytest

from attendo.paper.run_results import RunResult

MakeResult = Callable[..., RunResult]


@pytest.fixture(scope="session")
def make_result() -> MakeResult:
    """A run's result with a perplexity and a BLEU of one's choice."""

    def make(row: str, seed: int, perplexity: float, bleu: float) -> RunResult:
        return RunResult(
            row=row,
            seed=seed,
            perplexity=perplexity,
            bleu=bleu,
            bleu_signature="nrefs:1|case:mixed|tok:13a",
            parameters=1_895_936,
            steps=1500,
            target_tokens=3_500_123,
            flops=4.2e13,
            seconds=600.0 + seed,
            threads=1,
            machine="a processor, 2 cores",
            versions={"attendo": "0.1.0", "torch": "2.13.0"},
        )

    return make
