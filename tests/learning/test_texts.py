"""The general set and what is replayed: attendo's own text, the phrasebook, files, and what is wrong with them."""

import unicodedata
from itertools import combinations
from pathlib import Path

import pytest
from tests.learning.language import write_lines

import attendo.learning
from attendo.errors import DataError
from attendo.learning.config import LearningConfig
from attendo.learning.general_set import general_set
from attendo.learning.own_text import own_text
from attendo.learning.replay import replay_of, replayed

NOTHING: frozenset[str] = frozenset()
FOLDER = Path(attendo.learning.__file__).parent / "general_text"
DOMAINS = ("everyday", "messages", "software", "news")
PAIRS = [("en", "de"), ("de", "en"), ("en", "fr"), ("fr", "en"), ("de", "fr"), ("fr-CA", "de-AT")]


def rows(domain: str) -> list[list[str]]:
    return [line.split("\t") for line in (FOLDER / f"{domain}.tsv").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("domain", DOMAINS)
def test_own_text_is_well_formed(domain: str) -> None:
    content = (FOLDER / f"{domain}.tsv").read_bytes()
    assert content.endswith(b"\n")
    assert b"\r" not in content
    found = rows(domain)
    for row in found:
        assert len(row) == 3, row
        assert all(side == side.strip() and unicodedata.is_normalized("NFC", side) and side for side in row), row
    assert len({tuple(row) for row in found}) == len(found)


@pytest.mark.parametrize("languages", PAIRS)
def test_own_text_is_divided_once_and_for_all(languages: tuple[str, str]) -> None:
    columns = [("en", "de", "fr").index(code[:2]) for code in languages]
    found = own_text(languages)
    assert found is not None
    gate = [pair for domain in found.gate for pair in zip(domain.lines.sources, domain.lines.targets, strict=True)]
    parts = [gate, *(list(zip(part.sources, part.targets, strict=True)) for part in (found.selection, found.replay))]
    sources = [{source for source, _ in part} for part in parts]
    assert not any(one & other for one, other in combinations(sources, 2))
    assert [domain.name for domain in found.gate] == list(DOMAINS)
    # Counted from the files: the fifth and the tenth of each ten lines are set aside, a source counts once.
    numbered = [(number, row) for domain in DOMAINS for number, row in enumerate(rows(domain), start=1)]
    assert sum(map(len, parts)) == len({row[columns[0]] for _, row in numbered})
    assert {(row[columns[0]], row[columns[1]]) for number, row in numbered if number % 10 == 5} >= set(parts[2])
    assert {(row[columns[0]], row[columns[1]]) for number, row in numbered if number % 10 == 0} >= set(parts[1])
    assert len(gate) >= 2000
    assert min(len(parts[1]), len(parts[2])) >= 250


def test_the_default_general_set_is_own_text_of_which_nothing_is_replayed() -> None:
    corrected = rows("news")[0][0]
    general = general_set(LearningConfig(), ("en", "de"), frozenset({corrected}))
    assert general.name == "attendo's own text"
    assert corrected not in general.sources
    replay = replay_of(LearningConfig(), ("en", "de"), general.sources, 1000)
    assert [part.name for part in replay.parts] == ["attendo's own text", "attendo's phrasebook"]
    assert replay.num_pairs == len(replay.untranslated) == 1000
    assert not general.sources & set(replay.untranslated)
    own = len(replay.parts[0].lines.sources)
    assert replay.name == f"{own} of attendo's own text, {1000 - own} of attendo's phrasebook"


def test_french_is_replayed_from_own_text_alone() -> None:
    replay = replay_of(LearningConfig(), ("fr", "en"), NOTHING, 1000)
    assert [part.name for part in replay.parts] == ["attendo's own text"]
    french = {row[2] for domain in DOMAINS for row in rows(domain)}
    assert set(replay.untranslated) <= french


def test_the_users_text_is_replayed_beside_and_translated_by_the_model(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "mono.en", ["one", "two", "two", "", "three"])
    config = LearningConfig(replay=(str(path),))
    parts = replay_of(config, ("en", "de"), frozenset({"three"}), 1000).parts
    assert [part.name for part in parts] == ["attendo's own text", "mono.en", "attendo's phrasebook"]
    assert sum(len(part.lines.sources) for part in parts) == 1000
    alone = replay_of(LearningConfig(replay=(str(path),), own_replay=False), ("en", "xx"), frozenset({"three"}), 100)
    found = replayed(alone, lambda lines: [line.upper() if line != "two" else "" for line in lines])
    assert (found.sources, found.targets) == (("one",), ("ONE",))  # without the empty translation


def test_a_large_text_of_the_user_leaves_half_to_the_phrasebook(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "mono.en", [f"line {n}" for n in range(5000)])
    own, users, phrasebook = replay_of(LearningConfig(replay=(str(path),)), ("en", "de"), NOTHING, 1000).parts
    numbers = [len(part.lines.sources) for part in (own, users, phrasebook)]
    assert sum(numbers) == 1000
    assert numbers[1] - numbers[2] in (0, 1)


def test_both_sides_of_a_file_are_replayed_as_they_are(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "old.tsv", [f"line {n}\tZeile {n}" for n in range(10)])
    replay = replay_of(LearningConfig(replay=(str(path),), own_replay=False), ("en", "de"), NOTHING, 5)
    assert replayed(replay, list).targets == ("Zeile 0", "Zeile 2", "Zeile 4", "Zeile 6", "Zeile 8")
    assert not replay.untranslated


def test_a_general_set_is_large_enough_or_named(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "general.tsv", [f"line {n}\tZeile {n}" for n in range(1100)])
    config = LearningConfig(general=(str(path),))
    found = general_set(config, ("en", "de"), NOTHING)
    assert (found.name, len(found.gate.sources), len(found.selection.sources)) == ("general.tsv", 1000, 100)
    assert not set(found.gate.sources) & set(found.selection.sources)
    with pytest.raises(DataError, match=r"general.tsv has 1,099 pairs that are no corrections, and 1,100 are needed"):
        general_set(config, ("en", "de"), frozenset({"line 7"}))


def test_other_languages_need_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"the model translates en to cs; name a general set with --general"):
        general_set(LearningConfig(), ("en", "cs"), NOTHING)
    with pytest.raises(DataError, match=r"to replay from en to cs; name a file of lines in en with --replay"):
        replay_of(LearningConfig(), ("en", "cs"), NOTHING, 100)
    alone = write_lines(tmp_path / "alone.en", ["one"])
    with pytest.raises(DataError, match=r"alone.en holds one side alone"):
        general_set(LearningConfig(general=(str(alone),)), ("en", "de"), NOTHING)
    with pytest.raises(DataError, match=r"alone.en has no line that is in no other set"):
        replay_of(LearningConfig(replay=(str(alone),)), ("en", "de"), frozenset({"one"}), 100)
