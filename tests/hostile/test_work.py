"""A text costs what its length costs, whatever it is: the engine's work is counted, in tokens read and tried.

The bound is three times the work of ordinary sentences of as many characters, as the drawn sentences of `ordinary` have
it. `benchmarks/hostile.py` measures the same in seconds, with longer texts and more seeds.
"""

from collections.abc import Iterator
from random import Random

import pytest
from tests.hostile.counting import CountingModel, counting_engine
from tests.hostile.kinds import KINDS
from tests.hostile.ordinary import sentences

import attendo

SIZE = 1500
MOST = 3.0
Counted = tuple[attendo.Engine, CountingModel]


@pytest.fixture(scope="module")
def counted() -> Iterator[Counted]:
    with counting_engine("en-de") as made:
        yield made


@pytest.fixture(scope="module")
def ordinary(counted: Counted) -> float:
    """Work a character of ordinary sentences."""
    text = sentences(Random(0), SIZE)
    return work(counted, text) / len(text)


def work(counted: Counted, text: str) -> int:
    engine, model = counted
    before = model.work
    engine.translate([text])
    return model.work - before


@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_of_text_costs_more_than_three_times_what_sentences_cost(
    counted: Counted, ordinary: float, kind: str
) -> None:
    text = KINDS[kind](Random(1), SIZE)
    assert work(counted, text) <= MOST * ordinary * max(len(text), SIZE)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["en-de", "de-en"])
@pytest.mark.parametrize("size", [400, 5000, 20_000])
def test_nor_at_other_sizes_with_other_seeds_and_in_the_other_direction(name: str, size: int) -> None:
    with counting_engine(name) as counted:
        text = sentences(Random(0), size, name[:2])
        most = MOST * work(counted, text) / len(text)
        found = {}
        for seed in range(3):
            for kind, draw in KINDS.items():
                text = draw(Random(seed), size)
                found[kind, seed] = work(counted, text) / (most * max(len(text), size))
    assert {key: round(share, 2) for key, share in found.items() if share > 1} == {}


def test_a_run_of_20_000_letters_is_not_decoded_at_all(counted: Counted) -> None:
    engine, model = counted
    before = model.work
    [found] = engine.translate(["x" * 20_000])
    assert (found.text, found.guards, model.work - before) == ("x" * 20_000, ("verbatim",), 0)


def test_kinds_are_drawn_from_the_seed_alone_in_about_the_size_asked_for() -> None:
    assert len(KINDS) >= 60
    for kind, draw in KINDS.items():
        text = draw(Random(5), 3000)
        assert text == draw(Random(5), 3000), kind
        assert 2700 <= len(text) <= 4500, (kind, len(text))
        text.encode()  # no lone surrogates: these are refused before anything is translated
