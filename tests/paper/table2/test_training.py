"""Which systems come of which runs, and how several studies are told of as one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from attendo.checkpoint.finding import SHIPPED
from attendo.paper.experiment import StudyRequest
from attendo.paper.rows_study import threads_of
from attendo.paper.table2.plan import Direction, TestSet
from attendo.paper.table2.study import DirectionRuns, own_systems, shipped_systems
from attendo.recipe import load_recipe

ORDER = StudyRequest(scale="small", folder=Path("study"), seeds=3, jobs=1, data=None, command="")


def trained(make_result: Any, *done: tuple[str, int]) -> DirectionRuns:
    test = TestSet(name="captions", prefix=Path("test"))
    recipes = {row: load_recipe("table2/small") for row in ("base", "big")}
    return DirectionRuns(
        direction=Direction(name="en-de", recipes=recipes, test=test),
        results=tuple(make_result(row, seed, 7.0, 30.0) for row, seed in done),
        failures=(),
        interrupted=False,
    )


def test_each_run_has_two_systems_and_each_row_one_of_all(make_result: Any) -> None:
    found = own_systems(ORDER, trained(make_result, ("base", 1), ("big", 1), ("base", 3)))
    assert [(system.row, system.kind, system.seed) for system in found] == [
        ("base", "last", 1), ("base", "average", 1), ("base", "last", 3), ("base", "average", 3),
        ("base", "ensemble", None), ("big", "last", 1), ("big", "average", 1),
    ]  # fmt: skip
    ensemble = found[4]
    assert ensemble.models == (found[1].models[0], found[3].models[0]), "of averages, those of the seeds that are done"
    assert len({system.name for system in found}) == len(found)
    assert not own_systems(ORDER, trained(make_result))


def test_shipped_models_translate_what_is_there_in_their_languages(tmp_path: Path) -> None:
    news, french = (TestSet(name=name, prefix=tmp_path / name) for name in ("news", "french"))
    for path in (news.path("en"), news.path("de"), french.path("en"), french.path("fr")):
        path.touch()
    found = shipped_systems([news, french])
    assert [(system.languages, system.test.name) for system in found] == [
        (("en", "de"), "news"),
        (("de", "en"), "news"),
    ]
    assert {model for system in found for model in system.models} == {SHIPPED / "en-de", SHIPPED / "de-en"}


def test_processes_share_the_processor() -> None:
    one, many = threads_of(ORDER), threads_of(replace(ORDER, jobs=10_000))
    assert one >= 1
    assert many == 1
