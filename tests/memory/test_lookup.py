"""Looking texts up: expected is what people wrote, and of similar texts what brute force over all pairs finds."""

import random
from itertools import product
from pathlib import Path

import pytest
from tests.memory.conftest import LANGUAGES, memory_of, po

from attendo.errors import DataError, RecipeError
from attendo.memory.lookup import Memory, Surroundings
from attendo.memory.opening import open_memory


def distance(one: list[str], other: list[str]) -> int:
    """The edit distance of two lists of words, by the textbook's table."""
    row = list(range(len(other) + 1))
    for number, word in enumerate(one, start=1):
        before, row[0] = row[0], number
        for place, known in enumerate(other, start=1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (word != known))
    return row[-1]


@pytest.mark.parametrize("threshold", [60, 75, 85])
def test_the_most_similar_text_is_that_of_brute_force(tmp_path: Path, threshold: int) -> None:
    chance = random.Random(5)
    words = [f"{one}{other}" for one, other in product("bdfgk", "aeiou")]
    texts = [" ".join(chance.choices(words, k=chance.randint(3, 9))) for _ in range(150)]
    memory = memory_of(tmp_path / "m.tsv", [(text, text.upper()) for text in texts], threshold)
    found_any = 0
    for text in chance.choices(texts, k=25):
        query = [word if chance.random() < 0.85 else "new" for word in text.split()]
        best = max(100 - 100 * distance(query, known.split()) / max(len(query), len(known.split())) for known in texts)
        match = memory.match(" ".join(query))
        if best < threshold:
            assert match is None
        elif best == 100:
            assert match is not None
            assert match.kind == "exact"
        else:
            assert match is not None
            assert (match.kind, match.score) == ("fuzzy", int(best))
            found_any += 1
    assert found_any > 0


def test_a_text_of_very_many_words_is_found_and_hides_no_other(tmp_path: Path) -> None:
    words = [f"{one}{other}" for one, other in product("bdfgk", "aeiou")]
    known = " ".join(words[number % len(words)] for number in range(65_536 + 7))
    memory = memory_of(tmp_path / "m.tsv", [(known, "Lang"), ("ba be bi bo bu da de", "Kurz")])
    match = memory.match(known)
    assert match is not None
    assert (match.kind, match.text) == ("exact", "Lang")
    # With 7 words it is as long as the other would be if its length had wrapped.
    match = memory.match("ba be bi bo bu da new")
    assert match is not None
    assert (match.kind, match.score, match.target) == ("fuzzy", 85, "Kurz")
    assert memory.match(f"{known} more") is None


def test_a_text_without_its_edges_and_in_another_form_is_the_same(tmp_path: Path) -> None:
    memory = memory_of(tmp_path / "m.tsv", [("Open the café", "Öffne das Café")])
    match = memory.match("  Open the cafe\u0301 ")
    assert match is not None
    assert (match.kind, match.score, match.text) == ("exact", 100, "  Öffne das Café ")
    assert memory.match("") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It costs 1,250.5 euros in 12 shops.", "Es kostet in 12 Läden 1.250,5 Euro."),
        ("It costs 7 euros in 8 shops.", "Es kostet in 8 Läden 7 Euro."),
        ("Copy b.txt to %d, then wait.", "Kopiere b.txt nach %d und warte."),
    ],
)
def test_numbers_and_placeholders_are_put_in(tmp_path: Path, text: str, expected: str) -> None:
    pairs = [
        ("It costs 2,500.75 euros in 3 shops.", "Es kostet in 3 Läden 2.500,75 Euro."),
        ("Copy a.txt to %s, then wait.", "Kopiere a.txt nach %s und warte."),
    ]
    match = memory_of(tmp_path / "m.tsv", pairs).match(text)
    assert match is not None
    assert (match.kind, match.score, match.text) == ("changed", 99, expected)


@pytest.mark.parametrize(
    ("pair", "text"),
    [
        (("Rooms 2 and 2 are free.", "Die Zimmer 2 und 2 sind frei."), "Rooms 2 and 5 are free."),
        (("There are 2 dogs here.", "Hier sind zwei Hunde."), "There are 3 dogs here."),
        (("Wait 10 seconds please.", "Bitte warten."), "Wait 20 seconds please."),
    ],
    ids=["which one is which", "a number in words", "lost before"],
)
def test_numbers_that_have_no_certain_place_are_left_to_the_model(
    tmp_path: Path, pair: tuple[str, str], text: str
) -> None:
    match = memory_of(tmp_path / "m.tsv", [pair]).match(text)
    assert match is None or match.kind == "fuzzy"


def test_numbers_are_not_put_in_where_a_language_has_many_plurals(tmp_path: Path) -> None:
    (tmp_path / "m.tsv").write_text("You have 5 new files.\tMasz 5 nowych plików.\n", encoding="utf-8")
    memory = open_memory([tmp_path / "m.tsv"], ("en", "pl"))
    match = memory.match("You have 2 new files.")  # 2 nowe pliki
    assert match is not None
    assert match.kind == "fuzzy"


def contexts(tmp_path: Path) -> Memory:
    messages = [
        ("", "File", "Datei"), ("", "Open", "Auf"), ("", "Help", "Hilfe"), ("verb", "Open", "Öffnen"),
        ("state", "Open", "Offen"),
    ]  # fmt: skip
    (tmp_path / "m.po").write_text(po(*messages), encoding="utf-8")
    return open_memory([tmp_path / "m.po"], LANGUAGES)


@pytest.mark.parametrize(
    ("surroundings", "expected"),
    [
        (Surroundings({"verb"}), ("Öffnen", 101, 0)),
        (Surroundings({"state"}), ("Offen", 101, 0)),
        (Surroundings((), "File"), ("Auf", 101, 0)),
        (Surroundings({""}), ("Auf", 100, 0)),
        (Surroundings({"elsewhere"}), ("Offen", 100, 2)),
    ],
    ids=["a context", "another", "the text before", "none", "an unknown one: the latest"],
)
def test_a_translation_in_the_same_context_is_preferred(
    tmp_path: Path, surroundings: Surroundings, expected: tuple[str, int, int]
) -> None:
    match = contexts(tmp_path).match("Open", surroundings)
    assert match is not None
    assert (match.text, match.score, match.num_others) == expected


def test_of_several_the_most_frequent_is_taken_and_then_the_latest(tmp_path: Path) -> None:
    pairs = [("Save", "Sichern"), ("Quit", "Ende"), ("Save", "Sichern"), ("Save", "Speichern"), ("Quit", "Beenden")]
    memory = memory_of(tmp_path / "m.tsv", pairs)
    found = [memory.match(text) for text in ("Save", "Quit")]
    assert [match and (match.text, match.num_others) for match in found] == [("Sichern", 1), ("Beenden", 1)]
    assert memory.num_entries == 4


def test_a_threshold_of_100_takes_the_same_texts_alone(tmp_path: Path) -> None:
    pairs = [("Go to page 3 of the book", "Gehe zu Seite 3 des Buchs")]
    memory = memory_of(tmp_path / "m.tsv", pairs, 100)
    assert memory.match("Go to page 4 of the book") is None
    assert memory.match("Go to page 3 of the book") is not None
    with pytest.raises(RecipeError, match="threshold of the translation memory is 30; take one from 50 to 100"):
        memory_of(tmp_path / "m.tsv", pairs, 30)


def test_a_damaged_index_is_an_error_of_the_file(tmp_path: Path, cache: Path) -> None:
    memory_of(tmp_path / "m.tsv", [(f"word {number} here", "Wort") for number in range(3000)])
    [index] = (cache / "attendo" / "memory").glob("*.sqlite")
    data = bytearray(index.read_bytes())
    data[8192:] = bytes(len(data) - 8192)
    index.write_bytes(data)
    with pytest.raises(DataError, match=r"translation memory (cannot be read|is damaged).*build it again"):
        open_memory([index], LANGUAGES).match("word 5 here")
