"""The core with a real model: answers are the engine's own, whoever else is being served."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from attendo.attention_maps.weights import AttentionMap
from attendo.decoding.constraints.line_constraints import Constraints
from attendo.serving.config import BatchingConfig, ModelsConfig
from attendo.serving.core.core import Core
from attendo.serving.core.model_names import ModelSource
from attendo.serving.core.models import ModelPool
from attendo.serving.errors import ServingError
from attendo.serving.logs import Log
from attendo.serving.metrics import Metrics
from attendo.serving.translating import Caller, Options
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.translate import load

ADA, BOB = Caller(name="ada"), Caller(name="bob")
LINES = [
    "one red dogs see us.",
    "some old kings hear them here.",
    "two small birds",
    "",
    "   ",
    "ONE RED DOGS SEE US.",
    "one red dogs see us. two old men hear them. some small kings see here.",
    "visit https://example.org/some?dogs=2 today",
    "x" * 300,
    "dogs " * 40,
    "\x00\x01 \u2028 \u202e dogs",
    "🐕 see 🐈",
]


@asynccontextmanager
async def core_of(folder: Path, *, threads: int = 3, **batching: Any) -> AsyncIterator[tuple[Core, io.StringIO]]:
    text = io.StringIO()
    log, metrics = Log(text), Metrics()
    pool = ModelPool([ModelSource(name="m", path=str(folder))], ModelsConfig(), metrics, log)
    core = Core(pool, BatchingConfig(threads=threads, **batching), metrics, log)
    core.start()
    try:
        yield core, text
    finally:
        await core.stop()
        await pool.close()


def alone(engine: Engine, line: str) -> tuple[str, float, tuple[str, ...]]:
    [found] = engine.translate([line])
    return found.text, found.score, tuple(each.text for each in found.n_best)


@pytest.mark.parametrize("shipped", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_an_answer_has_the_same_bits_alone_and_among_others(model_folder: Path, shipped: bool) -> None:
    name = "en-de" if shipped else str(model_folder)
    lines = LINES if not shipped else [line.replace("dogs", "the dogs") for line in LINES]
    engine, five = load(name, threads=1), load(name, search={"n_best": 5, "beam_size": 5}, threads=1)
    expected = {(line, 1): alone(engine, line) for line in lines}
    expected |= {(line, 5): alone(five, line) for line in lines}

    async def test() -> None:
        async with core_of(Path(name), max_batch_lines=7) as (core, _):
            [pair] = core.pairs()

            async def ask(number: int) -> None:
                n_best = 5 if number % 3 == 0 else 1
                mine = [lines[(number * place) % len(lines)] for place in range(1, 5)]
                caller = Caller(name=f"caller {number % 5}")
                found = await core.translate(pair, mine, Options(n_best=n_best), caller, alignment=number % 4 == 0)
                for line, each in zip(mine, found, strict=True):
                    told = each.translation
                    assert told.source == line
                    assert (told.text, told.score, tuple(c.text for c in told.n_best)) == expected[line, n_best]
                    assert len(each.alignments) == (len(told.n_best) if number % 4 == 0 else 0)

            await asyncio.gather(*(ask(number) for number in range(24)))

    asyncio.run(test())


def test_constraints_are_each_lines_own_and_impossible_ones_hurt_nobody_else(model_folder: Path) -> None:
    engine = load(model_folder, threads=1)

    async def test() -> None:
        async with core_of(model_folder, threads=1) as (core, _):
            [pair] = core.pairs()
            impossible = [Constraints(forced_words=("dogs",), forbidden_words=("dogs",))]
            jobs = [core.translate(pair, [LINES[n]], Options(), ADA) for n in (0, 1, 2)]
            bad = core.translate(pair, [LINES[0]], Options(), BOB, constraints=impossible)
            constrained = core.translate(
                pair, [LINES[0]], Options(), BOB, constraints=[Constraints(target_prefix="two red")]
            )
            *good, told, prefixed = await asyncio.gather(*jobs, bad, constrained, return_exceptions=True)
            assert isinstance(told, ServingError)
            assert told.status == 400
            assert not told.message.startswith("line")
            assert isinstance(prefixed, list)
            assert prefixed[0].translation.text.startswith("two red")
            for number, found in enumerate(good):
                assert isinstance(found, list)
                assert found[0].translation.text == engine.translate([LINES[number]])[0].text

    asyncio.run(test())


def test_attention_and_its_limits(model_folder: Path) -> None:
    async def test() -> None:
        async with core_of(model_folder) as (core, _):
            [pair] = core.pairs()
            drawn = await core.attention(pair, "one red dogs", None, ADA)
            given = await core.attention(pair, "one red dogs", "two", ADA)
            assert given.source == load(model_folder).attention("one red dogs", "two").source
            assert drawn.source[:3] == given.source[:3]
            assert given.target[-1] == "</s>"
            for source in ("", "dogs " * 2000):
                with pytest.raises(ServingError) as told:
                    await core.attention(pair, source, None, ADA)
                assert told.value.status == 400

    asyncio.run(test())


def test_attention_is_looked_at_for_many_at_the_same_time(model_folder: Path) -> None:
    sources = ["one red dogs", "", "two small birds", "x" * 400, "some old kings hear them"]

    async def test() -> None:
        async with core_of(model_folder, threads=1) as (core, log):
            [pair] = core.pairs()
            asked = (core.attention(pair, source, None, ADA) for source in sources)
            found = await asyncio.gather(*asked, return_exceptions=True)
            refused = [isinstance(each, ServingError) and each.status == 400 for each in found]
            assert refused == [False, True, False, True, False], found
            engine = load(model_folder)
            for source, each in zip(sources, found, strict=True):
                if isinstance(each, AttentionMap):
                    assert each.source == engine.attention(source).source
            assert "work-failed" not in log.getvalue()

    asyncio.run(test())


def test_parsing_with_a_translator_is_refused(model_folder: Path) -> None:
    async def test() -> None:
        async with core_of(model_folder) as (core, log):
            with pytest.raises(ServingError) as told:
                await core.parse("m", ["one red dogs"], 1, ADA)
            assert told.value.status == 503
            [event] = [json.loads(line) for line in log.getvalue().splitlines() if "work-failed" in line]
            assert "dogs" not in json.dumps(event)

    asyncio.run(test())
