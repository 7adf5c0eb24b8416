"""A run that is killed at any moment, as often as it may be, comes to the same as one that is not."""

import itertools
import random
from collections.abc import Callable, Iterator

import pytest
from tests.survival.chains import Chains, Uninterrupted
from tests.survival.sittings import Fate

KINDS = ("time", "operation", "write")
RECIPES = ("plain", "rewritten", "pieces")
Reference = Callable[..., Uninterrupted]


def random_fates(reference: Uninterrupted, kind: str, seed: str) -> Iterator[Fate]:
    rng = random.Random(seed)
    while True:
        yield Fate.at_random(
            kind, rng, seconds=reference.seconds, operations=reference.operations, file_bytes=reference.file_bytes
        )


def kill_at_random(chains: Chains, reference: Uninterrupted, kind: str, num_kills: int) -> None:
    """Follows chains until so many sittings were killed."""
    killed = 0
    for number in itertools.count():
        sittings = chains.follow(reference, random_fates(reference, kind, f"{kind} {number}"))
        killed += sum(ended.was_killed for ended in sittings)
        if killed >= num_kills:
            return


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_run_that_is_killed_ends_as_if_it_were_not(
    chains: Chains, uninterrupted: Reference, recipe: str, kind: str
) -> None:
    kill_at_random(chains, uninterrupted(recipe), kind, 4)  # 36 in all; the hundreds below are slow


def test_checkpoints_by_time(chains: Chains, uninterrupted: Reference) -> None:
    kill_at_random(chains, uninterrupted("time"), "time", 3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("recipe", [*RECIPES, "time"])
def test_hundreds_of_kills(chains: Chains, uninterrupted: Reference, recipe: str, kind: str) -> None:
    kill_at_random(chains, uninterrupted(recipe), kind, 100)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_kill_before_every_operation(chains: Chains, uninterrupted: Reference, recipe: str) -> None:
    reference = uninterrupted(recipe)
    for operation in range(1, reference.operations + 1):
        (killed, _) = chains.follow(reference, [Fate(operation=operation)])
        assert killed.was_killed


@pytest.mark.slow
@pytest.mark.parametrize("torn_at", [0, 1, 100, 3000, 40_000])
def test_a_kill_inside_of_every_write(chains: Chains, uninterrupted: Reference, torn_at: int) -> None:
    """Behind each operation, the first write that goes beyond this byte of its file ends there."""
    reference = uninterrupted("plain")
    for operation in range(1, reference.operations + 1):
        chains.follow(reference, [Fate(operation=operation, torn_at=torn_at)])


@pytest.mark.slow
def test_a_run_that_draws_its_curves(chains: Chains, uninterrupted: Reference) -> None:
    """The rest leaves the drawing out, which takes longer than all else."""
    reference = uninterrupted("plain")
    rng = random.Random("draws")
    for _ in range(10):
        fates = [Fate(signals=((round(rng.uniform(0, 2.0), 4), 9),)) for _ in range(5)]
        chains.follow(reference, fates, draws=True)
