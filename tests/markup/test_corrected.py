"""Corrections in the place of translations: of whole texts and of sentences, in text, markup and files' units."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from tests.markup.made_up import MadeUp as MadeUpBatches
from tests.markup.made_up import unit
from tests.serving.made_up import MadeUp

from attendo.formats.file import Unit
from attendo.markup.sentences import plan_of
from attendo.markup.text_format import Format
from attendo.markup.text_types import Segment, TextRequest, TranslatedText
from attendo.markup.texts import stream_text, translate_text
from attendo.markup.units.batching import BatchedLines
from attendo.markup.units.passages import Passages
from attendo.markup.units.translating import UnitTranslator
from attendo.markup.units.translation import UnitTranslation

KNOWN = {
    "The dog sleeps.": "Der Hund schläft.",
    "Fish & chips.": "Backfisch & Pommes < 5 €.",
    "A <b>red</b> car.": "Ein <b>roter</b> Wagen.",
    "An <i>old</i> car.": "Ein alter Wagen.",
    "The dog sleeps. The car is red.": "Beides auf einmal.",
    "Delete %s?": "%s löschen?",
    "Keep %s": "Behalten",
    "Open {file}": "{file} öffnen",
}


async def known(texts: Sequence[str]) -> Mapping[str, str]:
    return {text: KNOWN[text] for text in texts if text in KNOWN}


def translated(text: str, form: Format = "text", **options: int) -> tuple[TranslatedText, MadeUp]:
    made_up = MadeUp()
    request = TextRequest(text=text, format=form, **options)  # type: ignore[arg-type]
    return asyncio.run(translate_text(request, made_up, corrections=known)), made_up


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        ("  The dog sleeps.\n", "text", "  Der Hund schläft.\n"),
        ("The dog sleeps. The car is red.", "text", "Beides auf einmal."),
        ("Fish & chips.", "text", "Backfisch & Pommes < 5 €."),
        ("Delete %s?", "text", "%s löschen?"),
        ("The dog sleeps.", "html", "Der Hund schläft."),
        ("<p>The dog sleeps.</p>", "html", "<p>Der Hund schläft.</p>"),
        ("<p>Fish &amp; chips.</p>", "xml", "<p>Backfisch &amp; Pommes &lt; 5 €.</p>"),
        ("Fish &amp; chips.", "html", "Backfisch &amp; Pommes &lt; 5 €."),
        ("A <b>red</b> car.", "html", "Ein <b>roter</b> Wagen."),
    ],
)
def test_what_was_corrected_is_answered_without_the_model(text: str, form: Format, expected: str) -> None:
    found, made_up = translated(text, form)
    assert found.text == expected
    assert found.is_corrected
    assert not made_up.lines


def test_a_corrected_sentence_stands_among_others() -> None:
    found, made_up = translated("The old house. The dog sleeps. A red car.")
    assert found.text == "das alte Haus. Der Hund schläft. A rote Auto."
    assert [segment.is_corrected for segment in found.segments] == [False, True, False]
    assert not found.is_corrected
    assert made_up.lines == ["The old house.", "A red car."]
    for segment in found.segments:
        assert found.text[segment.target.start : segment.target.end] == segment.target.text


def test_other_tags_and_other_texts_are_the_models() -> None:
    found, made_up = translated("An <i>old</i> car.", "html")
    assert found.text == "AN <i>alte</i> Auto."  # the correction has lost the tags
    assert not translated("the dog sleeps.")[0].is_corrected
    assert made_up.lines


def test_several_translations_are_the_models() -> None:
    found, _ = translated("The dog sleeps.", n_best=2)
    assert found.text == "das Hund schläft."
    assert len(found.alternatives) == 1


def test_a_stream_has_corrections_from_the_first_segment_on() -> None:
    async def streamed(text: str) -> list[Segment | TranslatedText]:
        request = TextRequest(text=text)
        return [each async for each in stream_text(request, plan_of(request), MadeUp(), corrections=known)]

    for text in ("The old house. The dog sleeps.", "The dog sleeps. The car is red."):
        *segments, whole = asyncio.run(streamed(text))
        assert isinstance(whole, TranslatedText)
        assert tuple(segments) == whole.segments
        assert whole == translated(text)[0]


def units_translated(*units: Unit) -> list[UnitTranslation]:
    passages = Passages(BatchedLines(MadeUpBatches()), source_language="en", target_language="de", corrections=known)
    translator = UnitTranslator(passages)

    async def work() -> list[UnitTranslation]:
        return list(await asyncio.gather(*(translator.translated(each) for each in units)))

    return asyncio.run(work())


def test_units_are_taken_as_from_a_translation_memory() -> None:
    dog, delete, keep, part, key = units_translated(
        unit("The dog sleeps."), unit("Delete %s?", "c-format"), unit("Keep %s", "c-format"),
        unit("It is late. The dog sleeps."), unit("Open {file}", "python-brace-format"),
    )  # fmt: skip
    assert [each.texts for each in (dog, delete, key)] == [
        (("Der Hund schläft.",),), (("%s löschen?",),), (("{file} öffnen",),)
    ]  # fmt: skip
    assert [each.origin for each in (dog, delete, key)] == ["tm", "tm", "tm"]
    assert keep.texts == (("KEEP %s",),)  # the correction has lost the placeholder
    assert (part.texts, part.origin) == ((("IT IS LATE. Der Hund schläft.",),), "mt")
    assert [(match.source, match.text) for match in part.matches] == [("The dog sleeps.", "")]


def test_a_unit_of_which_one_form_was_corrected_is_the_models() -> None:
    one = unit("The dog sleeps.")
    [found] = units_translated(replace(one, forms=(one.forms[0], unit("The dogs sleep.").forms[0])))
    assert found.texts == (("Der Hund schläft.",), ("THE DOGS SLEEP.",))
    assert found.origin == "mt"
