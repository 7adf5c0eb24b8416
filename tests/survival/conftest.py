"""Runs that are ended: one fork server, and one uninterrupted run a recipe, for all tests of a module."""

from collections.abc import Callable, Iterator
from functools import cache

import pytest
from tests.survival.chains import Chains, Uninterrupted
from tests.survival.recipes import write_recipes
from tests.survival.sittings import ForkServer


@pytest.fixture(scope="session")
def chains(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chains]:
    """Starts the recipes' runs."""
    folder = tmp_path_factory.mktemp("runs")
    write_recipes(folder)
    with ForkServer(folder) as server:
        yield Chains(folder, server)


@pytest.fixture(scope="session")
def uninterrupted(chains: Chains) -> Callable[..., Uninterrupted]:
    """A recipe's run that nothing ends, made once: by its name, and the number of processes that train together."""
    return cache(chains.uninterrupted)
