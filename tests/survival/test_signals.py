"""SIGINT and SIGTERM at any moment: the run is saved, says so by its exit status, and going on loses nothing."""

import itertools
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from tests.survival.chains import Chains, Uninterrupted
from tests.survival.run_state import what_is_whole
from tests.survival.sittings import Ended, Fate

SIGNALS = (signal.SIGINT, signal.SIGTERM)
Reference = Callable[..., Uninterrupted]


def check_no_step_lost(sittings: Iterable[Ended]) -> int:
    """Each sitting goes on at the very step at which the last one was interrupted; counts those that were."""
    told = "\n".join(ended.told for ended in sittings)
    steps = re.findall(r"^(interrupted:|resuming at) step (\d+)", told, re.MULTILINE)
    stops = 0
    for (first, stopped), (second, resumed) in itertools.pairwise(steps):
        if (first, second) == ("interrupted:", "resuming at"):
            assert stopped == resumed, told
            stops += 1
    return stops


def fates_at_random(reference: Uninterrupted, seed: str, number: int) -> Iterable[Fate]:
    rng = random.Random(seed)
    while True:
        if rng.random() < 0.5:
            yield Fate(signals=((round(rng.uniform(0, reference.seconds), 4), number),))
        else:  # amid a checkpoint, a line of metrics, a model folder
            yield Fate(operation=rng.randint(1, reference.operations), number=number)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("recipe", ["plain", "pieces"])
def test_a_run_that_is_interrupted_ends_as_if_it_were_not(
    chains: Chains, uninterrupted: Reference, recipe: str, number: int
) -> None:
    reference, stops = uninterrupted(recipe), 0
    for seed in range(20):
        fates = fates_at_random(reference, f"{number} {seed}", number)
        stops += check_no_step_lost(chains.follow(reference, fates, own_statuses=[128 + number]))
        if stops > 1:
            break
    assert stops > 1, "some of them came while it trained"


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("after_s", [0.0, 0.01])
def test_a_signal_while_it_validates(chains: Chains, uninterrupted: Reference, number: int, after_s: float) -> None:
    fates = [Fate(while_validating=after_s, number=number) for _ in range(3)]
    sittings = chains.follow(uninterrupted("plain"), fates, own_statuses=[128 + number])
    assert [ended.statuses for ended in sittings] == [(128 + number,)] * 3 + [(0,)], "each validation was interrupted"
    assert check_no_step_lost(sittings) == 3


@pytest.mark.parametrize("number", SIGNALS)
def test_a_second_signal_ends_at_once(chains: Chains, uninterrupted: Reference, number: int) -> None:
    reference, cut = uninterrupted("plain"), 0
    for seed in range(20):
        rng = random.Random(f"second {number} {seed}")
        times = [round(rng.uniform(0, reference.seconds), 4) for _ in range(6)]
        fates = [Fate(signals=((after_s, number), (after_s + 0.002, number))) for after_s in times]
        sittings = chains.follow(reference, fates, own_statuses=[128 + number])
        cut += sum(
            "a second signal ends at once" in ended.told and "interrupted:" not in ended.told for ended in sittings
        )
        if cut > 1:
            break
    assert cut > 1, "some did not wait for the step to be saved"


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_while_python_starts(chains: Chains, uninterrupted: Reference, tmp_path: Path, number: int) -> None:
    """A process of the real command, from nothing: it imports for some seconds, and a signal ends it all the same."""
    uninterrupted("plain")  # prepares
    for after_s in (0.4, 1.2):
        run = tmp_path / f"{after_s}"
        started = subprocess.Popen(
            [sys.executable, "-m", "attendo", "train", "plain.toml", "-o", run],
            cwd=chains.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        time.sleep(after_s)
        started.send_signal(number)
        told, _ = started.communicate(timeout=300)
        assert started.returncode in (-number, 128 + number), told
        assert not what_is_whole(run).problems


LOST = """
import signal, sys
from attendo.cli.main import main

class Losing:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            try:
                signal.raise_signal({number})
            except BaseException:
                {way}

sys.meta_path.insert(0, Losing())
main()
"""


@pytest.mark.parametrize(
    ("number", "module", "way"),
    [  # each pair of a signal, a module and a way once
        (signal.SIGINT, "attendo.recipe", "pass"),
        (signal.SIGINT, "attendo.workflow.runs.train", "raise ImportError"),
        (signal.SIGTERM, "attendo.recipe", "raise ImportError"),
        (signal.SIGTERM, "attendo.workflow.runs.train", "pass"),
    ],
)
def test_a_signal_that_an_import_loses(
    chains: Chains, uninterrupted: Reference, tmp_path: Path, number: int, module: str, way: str
) -> None:
    uninterrupted("plain")
    script, run = tmp_path / "lost.py", tmp_path / "run"
    script.write_text(LOST.format(module=module, number=number, way=way), encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, script, "train", "plain.toml", "-o", run],
        cwd=chains.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ended.returncode == 128 + number, ended.stdout
    assert "Traceback" not in ended.stdout
    assert not (run / "model").exists()
    assert not what_is_whole(run).problems
