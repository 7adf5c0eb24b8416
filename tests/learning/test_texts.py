"""The general set and what is replayed: generated, of files, and what is wrong with them."""

from pathlib import Path

import pytest
from tests.learning.language import write_lines

from attendo.errors import DataError
from attendo.learning.config import LearningConfig
from attendo.learning.texts import general_set, replay_source, replayed

NOTHING: frozenset[str] = frozenset()


def test_generated_text_has_its_own_translations() -> None:
    config = LearningConfig()
    english, german = (general_set(config, pair, NOTHING) for pair in (("en", "de"), ("de", "en")))
    assert len(english.gate.sources) == 1000
    assert len(english.selection.sources) == 500
    assert not set(english.gate.sources) & set(english.selection.sources)
    assert (german.gate.sources, german.gate.targets) == (english.gate.targets, english.gate.sources)
    excluded = frozenset((*english.gate.sources, *english.selection.sources))
    replay = replay_source(config, ("en", "de"), excluded, 300)
    assert len(replay.lines.sources) == 300
    assert not excluded & set(replay.lines.sources)


def test_the_model_translates_what_is_replayed_of_one_language(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "mono.en", ["one", "two", "two", "", "three"])
    source = replay_source(LearningConfig(replay=(str(path),)), ("en", "fr"), frozenset({"three"}), 100)
    found = replayed(source, lambda name, lines: [line.upper() if line != "two" else "" for line in lines])
    assert (found.sources, found.targets) == (("one",), ("ONE",))  # without the empty translation


def test_both_sides_of_a_file_are_replayed_as_they_are(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "old.tsv", [f"line {n}\tZeile {n}" for n in range(10)])
    source = replay_source(LearningConfig(replay=(str(path),)), ("en", "de"), NOTHING, 5)
    assert source.lines.targets == ("Zeile 0", "Zeile 2", "Zeile 4", "Zeile 6", "Zeile 8")
    assert source.is_translated


def test_a_general_set_is_large_enough_or_named(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "general.tsv", [f"line {n}\tZeile {n}" for n in range(1100)])
    config = LearningConfig(general=(str(path),))
    found = general_set(config, ("en", "de"), NOTHING)
    assert (found.name, len(found.gate.sources), len(found.selection.sources)) == ("general.tsv", 1000, 100)
    with pytest.raises(DataError, match=r"general.tsv has 1,099 pairs that are no corrections, and 1,100 are needed"):
        general_set(config, ("en", "de"), frozenset({"line 7"}))


def test_other_languages_need_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no generated sentences for en to fr.*name a file with --general"):
        general_set(LearningConfig(), ("en", "fr"), NOTHING)
    with pytest.raises(DataError, match=r"no generated sentences for en to fr.*name a file with --replay"):
        replay_source(LearningConfig(), ("en", "fr"), NOTHING, 100)
    alone = write_lines(tmp_path / "alone.en", ["one"])
    with pytest.raises(DataError, match=r"alone.en holds one side alone"):
        general_set(LearningConfig(general=(str(alone),)), ("en", "de"), NOTHING)
    with pytest.raises(DataError, match=r"alone.en has no line that is in no other set"):
        replay_source(LearningConfig(replay=(str(alone),)), ("en", "de"), frozenset({"one"}), 100)
