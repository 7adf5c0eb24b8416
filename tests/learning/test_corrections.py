"""What is read of corrected files: counted by hand from files that a hand wrote."""

from pathlib import Path

import pytest
from tests.learning.language import write_lines, write_po

from attendo.errors import DataError, RecipeError
from attendo.learning.config import load_config
from attendo.learning.corrections import Correction, read_corrections
from attendo.learning.portions import portions

LANGUAGES = ("en", "de")

TMX = """<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4"><header srclang="en" datatype="plaintext" segtype="sentence" adminlang="en" creationtool="x"
creationtoolversion="1" o-tmf="x"/><body>
<tu><tuv xml:lang="en"><seg>Open the door</seg></tuv><tuv xml:lang="de"><seg>Öffnen Sie die Tür</seg></tuv></tu>
</body></tmx>
"""
XLIFF = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en" target-language="de"
original="x" datatype="plaintext"><body>
<trans-unit id="1"><source>Close the door</source><target>Schließen Sie die Tür</target></trans-unit>
</body></file></xliff>
"""


def test_every_format_is_read_and_every_pair_counted(tmp_path: Path) -> None:
    po = write_po(
        tmp_path / "a.po",
        [
            ("A door", "Eine Tür"),
            ("OK", "OK"),
            ("Not done", ""),
            ("An open window and an open door", "An open window and an open Tür"),
        ],
    )
    tsv = write_lines(tmp_path / "b.tsv", ["A door\tEine Pforte", "A window\tEin Fenster", "A window\tEin Fenster"])
    (tmp_path / "c.tmx").write_text(TMX, encoding="utf-8")
    (tmp_path / "d.xlf").write_text(XLIFF, encoding="utf-8")
    found = read_corrections([po, tsv, tmp_path / "c.tmx", tmp_path / "d.xlf"], languages=LANGUAGES)
    assert found.pairs == (
        Correction(source="A door", target="Eine Pforte"),  # the last correction of a source counts
        Correction(source="A window", target="Ein Fenster"),
        Correction(source="Open the door", target="Öffnen Sie die Tür"),
        Correction(source="Close the door", target="Schließen Sie die Tür"),
    )
    assert [(file.name, file.used) for file in found.files] == [("a.po", 0), ("b.tsv", 2), ("c.tmx", 1), ("d.xlf", 1)]
    assert found.files[0].dropped == {"untranslated": 1, "identical": 1, "copied": 1, "replaced": 1}
    assert found.files[1].dropped == {"duplicate": 1}


def test_what_nobody_changed_is_left_out(tmp_path: Path) -> None:
    before = write_po(tmp_path / "before.po", [("A door", "Ein Tor"), ("A window", "Ein Fenster")])
    # As most tools mark what a machine wrote.
    before.write_text(before.read_text("utf-8").replace('\nmsgid "A', '\n#, fuzzy\nmsgid "A'), encoding="utf-8")
    after = write_po(tmp_path / "after.po", [("A door", "Eine Tür"), ("A window", "Ein Fenster")])
    found = read_corrections([after], [before], languages=LANGUAGES)
    assert found.pairs == (Correction(source="A door", target="Eine Tür"),)
    assert found.files[0].dropped == {"unchanged": 1}


def test_another_language_is_named(tmp_path: Path) -> None:
    french = [
        (f"The door number {n} is not open and it is old", f"La porte {n} est dans une rue et elle est bonne")
        for n in range(30)
    ]
    path = write_po(tmp_path / "fr.po", french, language="de")
    with pytest.raises(DataError, match=r"fr.po: 30 of 30 pairs are in other languages than en to de"):
        read_corrections([path], languages=LANGUAGES)


def test_shifted_sides_are_named(tmp_path: Path) -> None:
    rows = [f"Door {n} of the house\tTor {n + 1} des Hauses" for n in range(10, 40)]
    with pytest.raises(DataError, match=r"of 30 pairs with numbers 30 have others in the translation"):
        read_corrections([write_lines(tmp_path / "shifted.tsv", rows)], languages=LANGUAGES)


def test_what_holds_no_pairs_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"text.txt: holds no pairs of source and translation by its name"):
        read_corrections([write_lines(tmp_path / "text.txt", ["A door"])], languages=LANGUAGES)


def made_up(number: int) -> list[Correction]:
    return [Correction(source=f"source {n}", target=f"target {n}") for n in range(number)]


@pytest.mark.parametrize("number", [100, 240, 999])
def test_of_few_corrections_each_is_held_out_once(number: int) -> None:
    pairs = made_up(number)
    *folds, final = portions(pairs, 3)
    assert len(folds) == 3
    held_out = [pair for fold in folds for pair in fold.held_out]
    assert sorted(held_out, key=pairs.index) == pairs
    for fold in folds:
        parts = (fold.train, fold.selection, fold.held_out)
        assert sum(map(len, parts)) == number
        assert len({pair for part in parts for pair in part}) == number  # no pair is in two of them
    assert not final.held_out
    assert len(final.train) + len(final.selection) == number


@pytest.mark.parametrize(("number", "aside"), [(1000, 100), (1500, 150), (13_000, 1300)])
def test_of_many_a_tenth_is_held_out(number: int, aside: int) -> None:
    (final,) = portions(made_up(number), 3)
    assert len(final.held_out) == aside
    assert len(set(final.train) | set(final.selection) | set(final.held_out)) == number
    assert len(final.train) + len(final.selection) + aside == number


def test_what_was_held_out_is_not_trained_on_later() -> None:
    (first,), (second,) = portions(made_up(2000), 3), portions(made_up(2600), 3)
    again = set(first.held_out) & set(second.train)
    assert len(again) <= 0.2 * len(first.held_out)


def test_settings_that_cannot_be_meant_are_named(tmp_path: Path) -> None:
    path = tmp_path / "learn.toml"
    path.write_text("[learning]\nreplay_share = 1.0\nfolds = 1\nshares = []\n", encoding="utf-8")
    with pytest.raises(RecipeError) as error:
        load_config(path)
    assert all(key in str(error.value) for key in ("replay_share = 1.0", "folds = 1", "shares = []"))
    with pytest.raises(RecipeError, match=r"learning\.epochs"):
        load_config(None, ["learning.epochs=3"])


def test_paths_start_from_the_files_folder(tmp_path: Path) -> None:
    path = tmp_path / "learn.toml"
    path.write_text(
        '[learning]\nreplay = ["old.en"]\ngeneral = ["g.en", "g.de"]\nglossary = ["g.tbx"]\n', encoding="utf-8"
    )
    config = load_config(path, ["learning.folds=2"])
    assert config.replay == (str(tmp_path / "old.en"),)
    assert config.general == (str(tmp_path / "g.en"), str(tmp_path / "g.de"))
    assert config.glossary == (str(tmp_path / "g.tbx"),)
    assert config.folds == 2
