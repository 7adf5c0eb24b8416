"""Outputs of systems: made once, made anew where something is another, and stopped; with real, random models."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from attendo.decoding.config import GuardConfig
from attendo.evaluation.scores import evaluate_output
from attendo.paper.table2 import systems
from attendo.paper.table2.plan import TestSet
from attendo.paper.table2.systems import System, translate
from attendo.workflow.engines.translate import load
from attendo.workflow.runs.reporting import Silence


@pytest.fixture
def system(model_folders: tuple[Path, Path, Path], corpus: object, tmp_path: Path) -> System:
    """An ensemble of two random models on twelve lines."""
    pairs = corpus.pairs[:12]  # type: ignore[attr-defined]
    for language, side in (("en", 0), ("de", 1)):
        text = "".join(f"{pair[side]}\n" for pair in pairs)
        (tmp_path / f"test.{language}").write_text(text, encoding="utf-8")
    test = TestSet(name="a test", prefix=tmp_path / "test")
    return System(row="base", kind="ensemble", seed=None, models=model_folders[:2], languages=("en", "de"), test=test)


def never() -> bool:
    return False


def test_an_output_is_made_once(system: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = translate(system, tmp_path / "outputs", 0, Silence(), never)
    assert found is not None
    first, second = system.models
    sources = system.test.path("en").read_text("utf-8").splitlines()
    engine = load(first, ensemble=[second], search={"guards": asdict(GuardConfig.off())})
    expected = [line.text for line in engine.translate(sources)]
    assert list(found.outputs) == expected
    assert found.scores == evaluate_output(
        expected, found.references, target_language="de", paper=True, num_resamples=0
    )
    text = (tmp_path / "outputs" / "en-de-base-ensemble-a-test.txt").read_text("utf-8")
    assert len(text.splitlines()) == len(expected), "a line each, though random models write line breaks"
    assert text.split() == " ".join(expected).split()

    def refuse(*arguments: object, **settings: object) -> None:
        raise AssertionError("translated again")

    monkeypatch.setattr(systems, "load", refuse)
    assert translate(system, tmp_path / "outputs", 0, Silence(), never) == found
    # Other models, another test set, a torn file: made anew.
    others: list[Callable[[], System]] = [
        lambda: replace(system, models=system.models[::-1]),
        lambda: _with_another_line(system),
        lambda: _with_a_torn_file(system, tmp_path / "outputs"),
    ]
    for other in others:
        changed = other()
        with pytest.raises(AssertionError, match="translated again"):
            translate(changed, tmp_path / "outputs", 0, Silence(), never)


def _with_another_line(system: System) -> System:
    path = system.test.path("en")
    path.write_text(path.read_text("utf-8").replace("one", "two", 1), encoding="utf-8")
    return system


def _with_a_torn_file(system: System, folder: Path) -> System:
    path = folder / f"{system.name}.json"
    path.write_bytes(path.read_bytes()[:-9])
    return system


def test_stopped_in_the_middle_nothing_is_kept(system: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems, "_ASKED_EVERY", 1)
    assert translate(system, tmp_path / "outputs", 0, Silence(), lambda: True) is None
    assert not (tmp_path / "outputs").exists()


def test_no_two_systems_share_a_file(system: System) -> None:
    variants = [
        system,
        replace(system, kind="average", seed=1),
        replace(system, kind="average", seed=2),
        replace(system, kind="last", seed=1),
        replace(system, row="big"),
        replace(system, languages=("de", "en")),
        replace(system, test=TestSet(name="another", prefix=system.test.prefix)),
    ]
    assert len({variant.name for variant in variants}) == len(variants)


def test_what_is_kept_says_by_what(system: System, tmp_path: Path) -> None:
    found = translate(system, tmp_path / "outputs", 0, Silence(), never)
    assert found is not None
    kept = json.loads((tmp_path / "outputs" / f"{system.name}.json").read_text("utf-8"))
    assert kept["kernel"] == found.kernel != ""
    assert kept["lines"] == list(found.outputs)
