"""Runs that are ended and gone on with, again and again, until they are through.

A chain that fails is run again alone by its fates, which the failure prints:

    python -m tests.survival.chains plain 1 none op137:9 op12+2048 0.214s:9
"""

import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.survival.recipes import RECIPES, write_recipes
from tests.survival.run_state import NOTHING, FinalState, final_state, what_is_whole
from tests.survival.sittings import Ended, Fate, ForkServer


@dataclass(frozen=True, kw_only=True)
class Uninterrupted:
    """A run that nothing has ended: what all others are compared with."""

    recipe: str
    size: int
    """Processes that train together."""
    by_time: bool
    """Whether its checkpoints come by time, so that only the last one can be compared."""
    fault: str
    """What is wrong in all of its processes."""
    told: str
    run: Path
    state: FinalState
    seconds: float
    operations: int
    file_bytes: int
    """Of the longest file of the run folder."""


class Chains:
    """Starts runs of the recipes in a folder, ends them, and goes on.

    Args:
        folder: has the recipes; gets the runs.
        server: starts the processes, in the folder.
    """

    def __init__(self, folder: Path, server: ForkServer) -> None:
        self.folder, self.server = folder, server

    def uninterrupted(self, recipe: str, size: int = 1, fault: str = "none") -> Uninterrupted:
        """Lets a run come to its end.

        Args:
            recipe: its name.
            size: processes that train together.
            fault: one of `faults.FAULTS`.
        """
        prepared = self.server.sit(self.folder, "prepare", f"{recipe}.toml")
        assert prepared.statuses == (0,), prepared.told
        run = self.folder / f"{recipe}-{size}-{fault}"
        ended = self._sit(run, recipe, Fate(), size, fault)
        assert set(ended.statuses) == {0}, ended.told
        return Uninterrupted(
            recipe=recipe,
            size=size,
            by_time="checkpoint_minutes" in RECIPES[recipe],
            fault=fault,
            told=ended.told,
            run=run,
            state=final_state(run),
            seconds=ended.seconds,
            operations=ended.operations,
            file_bytes=max(path.stat().st_size for path in run.rglob("*") if path.is_file()),
        )

    def follow(
        self, reference: Uninterrupted, fates: Iterable[Fate], own_statuses: Sequence[int] = (), *, draws: bool = False
    ) -> list[Ended]:
        """Ends the sittings of a run by their fates, one after the other; the last one is let alone.

        Args:
            reference: what the run has to come to.
            fates: of its sittings; more than it lives to see are not asked for.
            own_statuses: the exit statuses that a sitting may have which ends by itself before the run is through.
            draws: whether they draw learning curves.

        Returns:
            What became of its sittings.

        Raises:
            AssertionError: something was lost, torn or became another.
        """
        run = self.folder / "ended"
        shutil.rmtree(run, ignore_errors=True)
        before, sittings = NOTHING, list[Ended]()
        so_far = ["python", "-m", "tests.survival.chains", reference.recipe, str(reference.size), reference.fault]
        for fate in (*fates, Fate()) if isinstance(fates, Sequence) else fates:
            so_far.append(str(fate))
            ended = self._sit(run, reference.recipe, fate, reference.size, reference.fault, draws=draws)
            where = f"{' '.join(so_far)}\n{ended.told}"
            sittings.append(ended)
            if set(ended.statuses) == {0}:
                break
            assert ended.was_killed or set(ended.statuses) <= set(own_statuses), f"{ended.statuses}: {where}"
            now = what_is_whole(run)
            assert not now.lost_since(before), "\n".join([*now.lost_since(before), where])
            before = now
            if (run / "recipe.toml").is_file():
                verified = self.server.sit(run, "info", run, "--verify")
                assert verified.statuses == (0,), f"{verified.told}\n{where}"
        check_equal(run, reference, where)
        return sittings

    def _sit(self, run: Path, recipe: str, fate: Fate, size: int, fault: str, *, draws: bool = False) -> Ended:
        what = ["--resume"] if (run / "recipe.toml").is_file() else [f"{recipe}.toml"]
        return self.server.sit(run, "train", *what, "-o", run, fate=fate, size=size, fault=fault, draws=draws)


def check_equal(run: Path, reference: Uninterrupted, where: str = "") -> None:
    """Compares what a run has come to with the uninterrupted one.

    Raises:
        AssertionError: it differs.
    """
    state = final_state(run)
    if reference.by_time:
        differences = state.end().differences(reference.state.end())
    else:
        differences = state.differences(reference.state)
    assert not differences, "\n".join([*differences, where])


def main() -> None:
    """Follows one chain: the recipe, the number of processes, the fault, the fates."""
    recipe, size, fault, *fates = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name, ForkServer(Path(name)) as server:
        write_recipes(Path(name))
        chains = Chains(Path(name), server)
        reference = chains.uninterrupted(recipe, int(size), fault)
        for ended in chains.follow(reference, [Fate.parse(fate) for fate in fates], own_statuses=[130, 143]):
            print(ended.statuses, ended.told)


if __name__ == "__main__":
    main()
