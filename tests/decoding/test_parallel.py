"""Held against one thread and one sentence at a time: however the work is divided, nothing of a result changes."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from attendo.decoding.backends.models import DecodingModel, decoding_model
from attendo.decoding.backends.native_model import NativeModel, NativeStep
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules
from attendo.decoding.parallel import IdSearch
from attendo.errors import ModelError
from attendo.model.transformer import Transformer
from attendo.native.library import find_kernels

MakeModel = Callable[..., Transformer]
SOURCES = [[2 + (7 * i + j) % 20 for j in range(i % 9)] + [0] for i in range(40)]
RULES = [Rules(max_len=len(source) + 6, seed=i) for i, source in enumerate(SOURCES)]


def one_by_one(model: DecodingModel, config: SearchConfig) -> list[Any]:
    search = IdSearch([model], config, threads=1)
    return [search.search([source], [rules])[0] for source, rules in zip(SOURCES, RULES, strict=True)]


@pytest.mark.skipif(find_kernels().kernels is None, reason="no native kernels")
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(
    "settings",
    [
        {"beam_size": 1},
        {"beam_size": 3, "n_best": 3},
        {"beam_size": 4, "beam_groups": 2, "no_repeat_ngram": 2},
        {"sampling": True, "n_best": 2},
    ],
)
def test_threads_and_batches_change_no_bit(make_model: MakeModel, threads: int, settings: dict[str, Any]) -> None:
    model = decoding_model(make_model())
    assert isinstance(model, NativeModel)
    expected = one_by_one(model, SearchConfig(**settings))
    for batch in (1, 7, 64):
        config = SearchConfig(max_batch_sentences=batch, **settings)
        assert IdSearch([model], config, threads=threads).search(SOURCES, RULES) == expected


def test_an_ensemble_is_divided_too(make_model: MakeModel) -> None:
    models = [decoding_model(make_model(seed)) for seed in (1, 2)]
    config = SearchConfig(beam_size=2, max_batch_sentences=5)
    together = IdSearch(models, config, threads=2).search(SOURCES, RULES)
    alone = IdSearch(models, config, threads=1).search(SOURCES, RULES)
    assert [[each.ids for each in found] for found in together] == [[each.ids for each in found] for found in alone]


def test_nothing_to_search() -> None:
    assert IdSearch([], SearchConfig(), threads=4).search([], []) == []


class Failing(NativeModel):
    """Works until a sentence of five tokens comes."""

    def step(self, sources: Sequence[Sequence[int]], *, threads: int = 1) -> NativeStep:
        if any(len(source) == 5 for source in sources):
            raise ModelError("five")
        return super().step(sources, threads=threads)


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_in_a_thread_is_raised_to_the_caller(make_model: MakeModel, threads: int) -> None:
    kernels = find_kernels().kernels
    if kernels is None:
        pytest.skip("no native kernels")
    model = Failing(make_model(), dtype="float32", kernels=kernels)
    search = IdSearch([model], SearchConfig(max_batch_sentences=3), threads=threads)
    with pytest.raises(ModelError, match="five"):
        search.search(SOURCES, RULES)
    # And the next call is not the worse for it.
    short = [source for source in SOURCES if len(source) < 5]
    rules = [Rules(max_len=6)] * len(short)
    assert len(search.search(short, rules)) == len(short)
