"""The models of a server: verified, loaded when wanted, exchanged and evicted without anybody noticing."""

import asyncio
import gc
import io
import json
import os
import shutil
import time
import weakref
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from attendo.checkpoint.checksums import write_checksums
from attendo.errors import ModelError
from attendo.serving.config import ModelsConfig
from attendo.serving.core.model_names import ModelSource, model_sources
from attendo.serving.core.models import ModelPool
from attendo.serving.errors import ServingError
from attendo.serving.logs import Log
from attendo.serving.metrics import Metrics
from attendo.serving.translating import Options, Pair

ONE_MIB = 33  # of a tiny model: 32 for what is besides weights, and less than one for those


def pool_of(*sources: tuple[str, Path], **config: Any) -> tuple[ModelPool, io.StringIO]:
    log = io.StringIO()
    named = [ModelSource(name=name, path=str(path)) for name, path in sources]
    return ModelPool(named, ModelsConfig(**config), Metrics(), Log(log)), log


def events(log: io.StringIO, event: str) -> list[dict[str, Any]]:
    return [each for line in log.getvalue().splitlines() if (each := json.loads(line))["event"] == event]


def run(pool: ModelPool, test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        try:
            await test()
        finally:
            await pool.close()

    asyncio.run(whole())


def replaced(folder: Path, by: Path) -> None:
    """Puts a model folder in the place of another, at once as `save_model` does."""
    draft = folder.with_name("draft")
    shutil.copytree(by, draft)
    folder.rename(folder.with_name(f"old-{time.monotonic_ns()}"))
    draft.rename(folder)


def describe(folder: Path, **changes: str) -> None:
    """Has a model's description say something else."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | changes), "utf-8")
    (folder / "checksums.json").unlink()
    write_checksums(folder)


def test_names_of_models(tmp_path: Path) -> None:
    run_folder = tmp_path / "my-run"
    arguments = [f"{run_folder}", f"{run_folder}/model", "short=some/where", str(tmp_path / "x" / ".." / "y")]
    assert [each.name for each in model_sources([arguments[0]])] == ["my-run"]
    assert [each.name for each in model_sources([arguments[1]])] == ["my-run"]
    assert [each.name for each in model_sources(arguments[1:])] == ["my-run", "short", "y"]
    assert [each.name for each in model_sources([])] == ["craft", "de-en", "en-de", "en-fr", "fr-en"]  # those that ship
    with pytest.raises(ModelError, match="two models are called y"):
        model_sources(["y=a", "b/y"])
    with pytest.raises(ModelError, match="NAME="):
        model_sources([str(tmp_path / "no name")])


def test_a_torn_model_is_refused_at_the_start(tmp_path: Path, model_folder: Path) -> None:
    torn = tmp_path / "torn"
    shutil.copytree(model_folder, torn)
    with (torn / "model.safetensors").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\xff")
    with pytest.raises(ModelError, match="differs from its checksum"):
        pool_of(("a", model_folder), ("torn", torn))
    with pytest.raises(ModelError, match="no such model"):
        pool_of(("gone", tmp_path / "gone"))


def test_a_model_that_cannot_fit_is_refused_at_the_start(model_folder: Path) -> None:
    with pytest.raises(ModelError, match=r"memory_mb = 5"):
        pool_of(("a", model_folder), memory_mb=5)


def test_what_is_served(tmp_path: Path, model_folder: Path) -> None:
    parser = tmp_path / "parser"
    shutil.copytree(model_folder, parser)
    describe(parser, task="parse")
    pool, _ = pool_of(("one", model_folder), ("parser", parser), ("two", model_folder))
    assert pool.pairs() == tuple(Pair(source="en", target="de", model=name) for name in ("one", "two"))
    assert pool.parsers() == ("parser",)
    assert pool.folder("one") == model_folder
    with pytest.raises(ServingError, match="no model is called 'three'"):
        pool.folder("three")


def test_a_model_is_loaded_when_it_is_first_wanted_and_once(model_folders: tuple[Path, Path, Path]) -> None:
    pool, log = pool_of(("one", model_folders[0]), ("two", model_folders[1]))

    async def test() -> None:
        await pool.load_first()
        assert (pool.is_loaded("one"), pool.is_loaded("two")) == (True, False)

        async def borrow() -> int:
            async with pool.on_loan("two") as model:
                return id(model)

        assert len(set(await asyncio.gather(*(borrow() for _ in range(10))))) == 1

    run(pool, test)
    assert [each["model"] for each in events(log, "model-loaded")] == ["one", "two"]


def test_a_translator_goes_before_a_parser_at_the_start(tmp_path: Path, model_folder: Path) -> None:
    parser = tmp_path / "parser"
    shutil.copytree(model_folder, parser)
    describe(parser, task="parse")
    pool, log = pool_of(("a-parser", parser), ("one", model_folder))
    run(pool, pool.load_first)
    assert [each["model"] for each in events(log, "model-loaded")] == ["one"]


def test_all_are_loaded_at_the_start_where_asked_for(model_folder: Path) -> None:
    pool, _ = pool_of(("one", model_folder), ("two", model_folder), eager=True)

    async def test() -> None:
        await pool.load_first()
        assert pool.is_loaded("one")
        assert pool.is_loaded("two")

    run(pool, test)


def test_memory_is_bounded_and_the_longest_unused_leaves(model_folders: tuple[Path, Path, Path]) -> None:
    named = zip("abc", model_folders, strict=True)
    pool, _ = pool_of(*named, memory_mb=2 * ONE_MIB)
    gone = []

    async def test() -> None:
        for name in ("a", "b", "a", "c"):
            async with pool.on_loan(name) as model:
                gone.append(weakref.ref(model))
            del model
        assert [pool.is_loaded(name) for name in "abc"] == [True, False, True]
        await asyncio.sleep(0)
        gc.collect()
        assert gone[1]() is None, "b is still in memory"
        assert gone[0]() is not None

    run(pool, test)


def test_a_model_on_loan_leaves_when_it_is_given_back(model_folders: tuple[Path, Path, Path]) -> None:
    pool, _ = pool_of(("a", model_folders[0]), ("b", model_folders[1]), memory_mb=ONE_MIB)

    async def test() -> None:
        order = []

        async def borrow(name: str) -> None:
            async with pool.on_loan(name):
                order.append(name)

        async with pool.on_loan("a") as a:
            waiting = asyncio.create_task(borrow("b"))
            while pool.is_loaded("a"):
                await asyncio.sleep(0.01)
            assert order == []
            back = asyncio.create_task(borrow("a"))  # wanted again: it has to queue like the others
            await asyncio.sleep(0.05)
            assert a.engine.translate(["one red dog."])[0].text is not None
        await asyncio.gather(waiting, back)
        assert order == ["b", "a"]

    run(pool, test)


def test_a_deadline_holds_while_a_model_is_loaded(model_folders: tuple[Path, Path, Path]) -> None:
    pool, _ = pool_of(("a", model_folders[0]), ("b", model_folders[1]), memory_mb=ONE_MIB)

    async def test() -> None:
        async with pool.on_loan("a"):
            with pytest.raises(ServingError) as told:
                async with pool.on_loan("b", deadline=time.monotonic() + 0.1):
                    pass
            assert told.value.code == "overdue"

    run(pool, test)


def test_a_changed_folder_is_loaded_anew_beside_what_is_on_loan(
    tmp_path: Path, model_folders: tuple[Path, Path, Path]
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model_folders[0], folder)
    pool, log = pool_of(("a", folder))
    line = ["one red dogs see us."]

    async def test() -> None:
        async with pool.on_loan("a") as before:
            first = before.engine.translate(line)[0].text
            await pool.look_for_changes()
            replaced(folder, model_folders[1])
            await pool.look_for_changes()
            async with pool.on_loan("a") as after:
                assert after is not before
                assert after.engine.translate(line)[0].score != before.engine.translate(line)[0].score
            assert before.engine.translate(line)[0].text == first
            reference = weakref.ref(before)
        del before
        await asyncio.sleep(0)
        gc.collect()
        assert reference() is None

    run(pool, test)
    assert [each["reason"] for each in events(log, "model-loaded")] == ["wanted", "changed"]


def test_a_folder_that_is_torn_meanwhile_changes_nothing(tmp_path: Path, model_folder: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model_folder, folder)
    pool, log = pool_of(("a", folder))

    async def test() -> None:
        async with pool.on_loan("a") as before:
            pass
        weights = (folder / "model.safetensors").read_bytes()
        (folder / "model.safetensors").write_bytes(weights[:-10])
        for _ in range(3):
            await pool.look_for_changes()
        async with pool.on_loan("a") as after:
            assert after is before
        assert len(events(log, "model-failed")) == 1  # told once, not each time
        (folder / "model.safetensors").write_bytes(weights)
        await pool.look_for_changes()
        async with pool.on_loan("a") as again:
            assert again is not before
        shutil.rmtree(folder)
        await pool.look_for_changes()
        async with pool.on_loan("a") as still:
            assert still is again

    run(pool, test)


def test_a_model_that_cannot_be_loaded_is_told_and_tried_again_later(
    tmp_path: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model_folder, folder)
    pool, log = pool_of(("a", folder))
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(weights[:-1])

    async def borrow() -> None:
        async with pool.on_loan("a"):
            pass

    async def test() -> None:
        for _ in range(2):
            with pytest.raises(ServingError) as told:
                await borrow()
            assert (told.value.status, told.value.code) == (503, "model-unavailable")
        assert len(events(log, "model-failed")) == 1
        (folder / "model.safetensors").write_bytes(weights)
        monkeypatch.setattr("attendo.serving.core.models._FAILURE_S", 0.0)
        await borrow()

    run(pool, test)


def test_a_model_without_languages_has_them_from_its_name(tmp_path: Path, model_folder: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model_folder, folder)
    describe(folder, source_language="", target_language="")
    pool, _ = pool_of(("fr-it", folder))
    assert pool.pairs() == (Pair(source="fr", target="it", model="fr-it"),)
    with pytest.raises(ModelError, match="does not say what languages"):
        pool_of(("mine", folder))


def test_options_are_the_models_own_unless_they_are_asked_for(model_folder: Path) -> None:
    pool, _ = pool_of(("a", model_folder))

    async def test() -> None:
        async with pool.on_loan("a") as model:
            own = model.engine_for(Options(), 0)
            assert (own.search.beam_size, own.search.n_best, own.search.max_len_offset) == (3, 1, 5)
            assert model.engine_for(Options(), 0) is own
            assert model.engine_for(Options(), 1) is not own  # a thread's own
            wide = model.engine_for(Options(n_best=5), 0)
            assert (wide.search.beam_size, wide.search.n_best) == (5, 5)
            narrow = model.engine_for(Options(beam_size=1, length_penalty=1.0), 0)
            assert (narrow.search.beam_size, narrow.search.length_penalty) == (1, 1.0)
            for number in range(20):  # a stranger's options do not gather
                model.engine_for(Options(length_penalty=number / 10), 0)
            assert model.engine_for(Options(), 0) is own

    run(pool, test)
