"""Robustness of translators whose behaviour is known: the language is English with every word spelled backwards."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from attendo.errors import DataError
from attendo.evaluation.robustness import Effect, Robustness
from attendo.evaluation.robustness_tables import robustness_markdown, robustness_text
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.translate import load
from attendo.workflow.evaluation.robustness import measure_robustness, read_other_language

SOURCES = [
    "The old bridge was closed in 1974 for repairs.",
    "Nobody told us where the keys were.",
    'She said "never" and left the room.',
    "Do you sell stamps here?",
    "",
    "Our train arrives at half past nine.",
    "They planted forty trees along the river.",
]


def backwards(text: str) -> str:
    return re.sub(r"[^\W\d_]+", lambda word: word[0][::-1], text)


REFERENCES = [backwards(source) for source in SOURCES]


def engine(translate: Callable[[str], str]) -> Engine:
    """What stands in for an engine: only what measuring asks of it."""

    def stream(lines: Iterable[str]) -> Iterator[SimpleNamespace]:
        return (SimpleNamespace(text=translate(line)) for line in lines)

    return cast(
        Engine, SimpleNamespace(stream=stream, description=SimpleNamespace(source_language="en", target_language="de"))
    )


def measured(translate: Callable[[str], str], num_resamples: int = 0) -> Robustness:
    outputs = [translate(source) for source in SOURCES]
    return measure_robustness(engine(translate), SOURCES, REFERENCES, outputs, num_resamples=num_resamples)


def named(robustness: Robustness) -> dict[str, Effect]:
    return {effect.name: effect for effect in robustness.effects}


def test_a_translator_that_spells_any_word_backwards_loses_nothing_but_what_it_does_not_know() -> None:
    found = named(measured(backwards, num_resamples=20))
    whole = (
        "upper case",
        "no final punctuation",
        "2 sentences",
        "4 sentences",
        "double spaces",
        "tabs",
        "other quotes",
    )
    for name in whole:
        assert found[name].bleu.ratio == pytest.approx(1.0), name
        assert (found[name].bleu.low, found[name].bleu.high) == pytest.approx((1.0, 1.0)), name
    # The reference of these keeps its case, which this translator does not know how to restore.
    for name in ("title case", "lower case"):
        assert found[name].bleu.perturbed < found[name].bleu.clean
        lowercased = found[name].bleu_lowercased
        assert lowercased is not None
        assert lowercased.ratio == pytest.approx(1.0)
    assert found["many typos"].bleu.perturbed < found["a typo"].bleu.perturbed < 100
    # Digits and emoji have no letters to be spelled backwards, addresses do.
    assert found["number"].kept == found["emoji within"].kept == found["numbers replaced"].kept == 1.0
    assert found["number"].bleu.ratio == pytest.approx(1.0)
    assert found["URL"].kept == found["e-mail"].kept == 0.0
    assert found["markup"].kept == 1.0  # one letter is its own reverse
    assert found["amount"].kept == 0.0  # and no separators are changed
    assert found["numbers replaced"].lines == 1
    assert found["other quotes"].lines == 1


def test_a_translator_that_copies_and_one_that_loops_are_found_out() -> None:
    copying = measured(lambda line: line)
    assert copying.clean.copied == copying.clean.comparable == 6
    assert all(effect.faults.copied == effect.faults.comparable for effect in copying.effects)
    assert copying.blank_outputs == 4
    assert copying.one_word.good == copying.one_word.words == len(set(re.findall(r"[^\W\d_]{2,}", " ".join(SOURCES))))
    assert copying.other_language.faults.copied == copying.other_language.faults.comparable == 6
    looping = measured(lambda line: "well " * 40)
    assert looping.clean.looping == looping.clean.lines == looping.clean.too_long == 6
    assert looping.one_word.too_long == looping.one_word.words
    assert looping.blank_outputs == 0
    silent = measured(lambda line: "")
    assert silent.clean.empty == silent.clean.lines
    assert silent.clean.too_short == 0
    assert silent.effects[0].bleu.ratio is None


def test_the_tables_have_a_row_for_each_and_name_what_costs_much() -> None:
    robustness = measured(lambda line: backwards(line) if line != line.upper() else "what")
    text, markdown = robustness_text(robustness), robustness_markdown(robustness)
    for effect in robustness.effects:
        assert re.search(rf"^{effect.name} ", text, flags=re.MULTILINE)
        assert f"| {effect.name} | {effect.lines} | 100.00 | {effect.bleu.perturbed:.2f} | " in markdown
    assert re.search(r"Less than 90 % of the BLEU is left under: upper case \(0\.00\)", text)
    assert "1,0" not in text  # ratios have a point
    assert "case:lc" in markdown
    for row in markdown.splitlines():
        assert not row.startswith("| <b>"), "a browser would read it as markup"
    fine = robustness_text(measured(lambda line: line))
    assert "No line of the test set" not in fine


def test_what_applies_to_no_line_is_named() -> None:
    robustness = measure_robustness(engine(backwards), ["Go on"], ["oG no"], ["oG no"], num_resamples=0)
    assert {"numbers replaced", "2 sentences", "a typo", "other quotes"} <= set(robustness.inapplicable)
    assert "No line of the test set has what these would change: no final punctuation" in robustness_text(robustness)
    assert asdict(robustness)["effects"][0]["name"] == "upper case"


def test_other_language_comes_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "fi.txt").write_text("Missä on asema?\n\nEn tiedä.\n", encoding="utf-8")
    other = read_other_language(tmp_path / "fi.txt")
    found = measure_robustness(
        engine(lambda line: line), SOURCES, REFERENCES, SOURCES, other_language=other, num_resamples=0
    )
    assert (found.other_language.origin, found.other_language.faults.lines) == ("fi.txt", 2)
    assert found.other_language.faults.comparable == found.other_language.faults.copied == 1
    (tmp_path / "none.txt").write_text(" \n")
    with pytest.raises(DataError, match=r"none\.txt: no sentence"):
        read_other_language(tmp_path / "none.txt")


def test_sides_and_resamples_that_cannot_be_are_refused() -> None:
    with pytest.raises(DataError, match="source has 1 lines, reference has 2"):
        measure_robustness(engine(backwards), ["a"], ["a", "b"], ["a"])
    with pytest.raises(DataError, match="num_resamples = 1"):
        measure_robustness(engine(backwards), ["a"], ["a"], ["a"], num_resamples=1)


def test_an_engine_is_measured_the_same_twice_and_tells_how_far_it_is(model_folder: Path) -> None:
    real = load(model_folder, search={"beam_size": 1, "max_len_offset": 2})
    sources, references = SOURCES[:2], REFERENCES[:2]
    outputs = [translation.text for translation in real.translate(sources)]
    told: list[tuple[int, int]] = []
    first, again = (
        measure_robustness(
            real, sources, references, outputs, num_resamples=5, progress=lambda *so_far: told.append(so_far)
        )
        for _ in range(2)
    )
    assert first == again
    assert told[-1][0] == told[-1][1] == len(told) // 2
