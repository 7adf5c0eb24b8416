"""Two processes that train together: the group is killed at any moment, and going on comes to the same."""

import random
from collections.abc import Callable

import pytest
from tests.survival.chains import Chains, Uninterrupted
from tests.survival.sittings import Fate

Reference = Callable[..., Uninterrupted]


def kill_together(chains: Chains, reference: Uninterrupted, seed: str, num_kills: int) -> None:
    """Kills both at once, or the first one amid an operation, whereupon the other one goes as torchrun has it."""
    rng, killed = random.Random(seed), 0
    while killed < num_kills:
        kinds = (rng.choice(("time", "operation", "write")) for _ in range(num_kills - killed))
        fates = [
            Fate.at_random(
                kind, rng, seconds=reference.seconds, operations=reference.operations, file_bytes=reference.file_bytes
            )
            for kind in kinds
        ]
        killed += sum(ended.was_killed for ended in chains.follow(reference, fates))


def test_both_are_killed(chains: Chains, uninterrupted: Reference) -> None:
    kill_together(chains, uninterrupted("plain", 2), "copies", 3)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["plain", "sharded", "rewritten", "pieces"])
def test_both_are_killed_again_and_again(chains: Chains, uninterrupted: Reference, recipe: str) -> None:
    kill_together(chains, uninterrupted(recipe, 2), recipe, 40)
