"""Limits of length, and the choice among candidates that they ask for (case 9)."""

import asyncio
from collections.abc import Sequence

import pytest
from tests.markup.made_up import MadeUp, shown

from attendo.decoding.constraints.line_constraints import Constraints
from attendo.decoding.lines.translation import Candidate, Translation
from attendo.formats.contents import Code, Content, content
from attendo.formats.file import Form, Unit
from attendo.markup.text_types import TranslatedLine
from attendo.markup.units.batching import BatchedLines
from attendo.markup.units.lengths import LengthLimit, length_limit
from attendo.markup.units.passages import Passages
from attendo.markup.units.translating import UnitTranslator
from attendo.markup.units.translation import UnitTranslation


@pytest.mark.parametrize(
    ("flags", "notes", "expected"),
    [
        (("max-length:30",), (), 30),
        ((), ("max-length: 20",), 20),
        ((), ("Title of the window", "Maximum length = 12"), 12),
        ((), ("Label of a button. [CHAR LIMIT=25]",), 25),
        ((), ("keep it short, max. 3 words",), None),
        ((), ("at most 40 characters",), 40),
        ((), ("MaxLength:8",), 8),
    ],
)
def test_flags_and_comments_say_the_limit(flags: Sequence[str], notes: tuple[str, ...], expected: int | None) -> None:
    unit = Unit(id="u", forms=(Form(source=("a",)),), flags=frozenset(flags), notes=notes)
    assert length_limit(unit) == (None if expected is None else LengthLimit(expected))


def test_bytes_are_those_of_utf_8() -> None:
    unit = Unit(id="u", forms=(Form(source=("a",)),), max_length=3, length_unit="byte", notes=("max-length: 9",))
    limit = length_limit(unit)
    assert limit is not None
    assert (limit.length("ä€"), limit.holds("ä€"), limit.holds("äa")) == (5, False, True)


def candidates(lines: Sequence[str], constraints: Sequence[Constraints] | None, aligned: bool) -> list[TranslatedLine]:
    """Three translations of each line: in capitals, without its second word, and its first word alone."""
    found = []
    for line in lines:
        words = line.upper().split()
        texts = [" ".join(words), " ".join([words[0], *words[2:]]), words[0]]
        best = tuple(
            Candidate(text=text, ids=(), pieces=(), log_prob=-n, score=-n, token_log_probs=(), finished=True)
            for n, text in enumerate(texts, 1)
        )
        translation = Translation(source=line, text=texts[0], score=-1, log_prob=-1, n_best=best, read=line)
        found.append(TranslatedLine(translation=translation))
    return found


def translated(source: Content, most: int, *flags: str) -> UnitTranslation:
    passages = Passages(
        BatchedLines(MadeUp()),
        source_language="en",
        target_language="de",
        candidates=BatchedLines(candidates),
    )
    unit = Unit(id="u", forms=(Form(source=source),), flags=frozenset(flags), max_length=most)
    return asyncio.run(UnitTranslator(passages).translated(unit))


@pytest.mark.parametrize(
    ("most", "expected", "checks"),
    [
        (30, "BIG &RED HOUSE", []),
        (11, "BIG HOUSE", []),
        (5, "BIG", []),
        (2, "BIG RED HOUSE", ["max-length"]),
    ],
)
def test_the_likeliest_candidate_that_fits_is_taken(most: int, expected: str, checks: list[str]) -> None:
    found = translated(content("big red house"), most)
    assert shown(found.texts[0]) == expected.replace("&", "")
    assert [one.check for one in found.findings] == checks


def test_candidates_keep_placeholders_and_accelerators() -> None:
    # The second word is the placeholder, which every candidate but the first has lost.
    found = translated(content("&open %s folder"), 8, "c-format")
    assert shown(found.texts[0]) == "&OPEN %s FOLDER"
    assert [one.check for one in found.findings] == ["max-length"]
    found = translated(content("&open the %s"), 9, "c-format")
    assert shown(found.texts[0]) == "&OPEN %s"
    code = Code(id="x", raw="<x/>")
    assert shown(translated(("big red ", code, " house"), 13).texts[0]) == "BIG <x/> HOUSE"


def test_several_sentences_are_shortened_each() -> None:
    found = translated(content("Big red house. Old red dog."), 14)
    assert shown(found.texts[0]) in ("BIG. OLD.", "BIG OLD.", "BIG OLD", "BIG. OLD")
