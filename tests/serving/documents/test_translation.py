"""Units of documents on their way through a server: as JSON, in slices, in a thread of their own, cancelled."""

import asyncio
import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from tests.formats.samples import SAMPLES, Sample
from tests.serving.made_up import MadeUp

from attendo.decoding.constraints.line_constraints import Constraints
from attendo.decoding.lines.translation import Candidate, Translation
from attendo.formats.file import Form, Languages, Unit
from attendo.formats.table import read_file
from attendo.markup.text_types import Confidence, TranslatedLine, TranslateLines, no_confidence, no_corrections
from attendo.markup.units.translation import UnitTranslation
from attendo.serving.core.text_loop import TextLoop
from attendo.serving.documents.translation import translate_units
from attendo.serving.documents.units import json_value, num_characters, unit_of
from attendo.serving.documents.workers import ReadDocument


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_units_are_the_same_after_their_way_through_json(sample: Sample) -> None:
    file = read_file(sample.data(), sample.name, Languages(source="en", target=sample.target))
    assert file.units
    for unit in file.units:
        said = json.loads(json.dumps(unit, default=json_value))
        assert unit_of(said) == replace(unit, spans=(), notes=())


def test_what_is_no_part_of_a_unit_is_no_json() -> None:
    with pytest.raises(TypeError, match="Languages is no part of a unit"):
        json.dumps(Languages(), default=json_value)


async def translated(
    texts: Sequence[str], translate: TranslateLines, counts: list[int], confidence: Confidence = no_confidence
) -> dict[str, UnitTranslation]:
    units = tuple(Unit(id=str(number), forms=(Form(source=(text,)),)) for number, text in enumerate(texts))
    document = ReadDocument(units=units, source="en", target="de")
    text_loop = TextLoop()
    try:
        return await translate_units(
            document,
            translate,
            text_loop,
            confidence=confidence,
            candidates=None,
            glossary=None,
            corrections=no_corrections,
            progress=counts.append,
        )
    finally:
        await text_loop.stop()


class Recorded(MadeUp):
    """Remembers the lines of each call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[list[str]] = []

    async def __call__(
        self, lines: Sequence[str], constraints: Sequence[Constraints] | None = None, *, alignment: bool = False
    ) -> list[TranslatedLine]:
        self.calls.append(list(lines))
        return await super().__call__(lines, constraints, alignment=alignment)


def test_a_long_text_goes_in_slices_and_its_progress_grows() -> None:
    long = " ".join(f"The dog {place} sleeps." for place in range(500))
    counts: list[int] = []
    found = asyncio.run(translated(["The car.", long, "Old."], model := Recorded(), counts))
    assert len(found) == 3
    assert found["1"].texts[0][0].startswith("das Hund 0 schl\u00e4ft. das Hund 1 ")  # type: ignore[union-attr]
    sizes = [(len(lines), sum(map(len, lines))) for lines in model.calls]
    assert max(lines for lines, _ in sizes) == 64
    assert max(characters for _, characters in sizes) <= 4_000
    assert all(before <= after for before, after in pairwise(counts))
    whole = num_characters([Unit(id="", forms=(Form(source=(text,)),)) for text in ("The car.", long, "Old.")]) - 2
    assert whole - 4 <= counts[-1] <= whole
    assert len(set(counts)) > 7


def test_texts_are_put_together_in_another_thread_and_lines_translated_in_the_callers() -> None:
    threads: dict[str, set[int]] = {"markup": set(), "lines": set()}

    class Noting(MadeUp):
        async def __call__(
            self, lines: Sequence[str], constraints: Sequence[Constraints] | None = None, *, alignment: bool = False
        ) -> list[TranslatedLine]:
            threads["lines"].add(threading.get_ident())
            return await super().__call__(lines, constraints, alignment=alignment)

    def confidence(translation: Translation, candidate: Candidate) -> float:
        threads["markup"].add(threading.get_ident())
        return 0.5

    found = asyncio.run(translated(["The dog."], Noting(), [], confidence))
    assert found["0"].confidence == 0.5
    assert threads["lines"] == {threading.get_ident()}
    assert threads["markup"].isdisjoint(threads["lines"])


def test_whoever_leaves_stops_the_lines_in_work() -> None:
    stopped: list[str] = []

    class Endless(MadeUp):
        async def __call__(
            self, lines: Sequence[str], constraints: Sequence[Constraints] | None = None, *, alignment: bool = False
        ) -> list[TranslatedLine]:
            try:
                await asyncio.Event().wait()
            finally:
                stopped.extend(lines)
            raise AssertionError

    async def leave() -> None:
        task = asyncio.create_task(translated(["The dog.", "The car."], Endless(), counts))
        while not counts:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    counts: list[int] = []
    asyncio.run(leave())
    assert sorted(stopped) == ["The car.", "The dog."]


def test_a_failure_reaches_the_caller() -> None:
    class Failing(MadeUp):
        async def __call__(
            self, lines: Sequence[str], constraints: Sequence[Constraints] | None = None, *, alignment: bool = False
        ) -> list[TranslatedLine]:
            raise LookupError(lines[0])

    with pytest.raises(LookupError, match="The"):
        asyncio.run(translated(["The dog.", "The car."], Failing(), []))
