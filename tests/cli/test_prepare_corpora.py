"""`attendo prepare` of what users have: other formats, other encodings, many files, and little that is kept."""

import bz2
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

Command = Callable[..., Any]

WORDS = ["Äpfel", "Bäume", "Größe", "Straße", "Käse", "Flüsse", "Häuser", "Söhne", "Türen", "Vögel"]
PAIRS = [
    (f"the {first} {second} number {number}", f"die {WORDS[first]} {WORDS[second]} Nummer {number}")
    for number, (first, second) in enumerate([(one, other) for one in range(10) for other in range(10)])
]
SOURCES, TARGETS = [source for source, _ in PAIRS], [target for _, target in PAIRS]


@dataclass
class Workplace:
    """A folder with corpora, and a recipe for them."""

    folder: Path
    attendo: Command
    finished: list[Any] = field(default_factory=list)

    def write(self, name: str, lines: list[str], encoding: str = "utf-8") -> str:
        (self.folder / name).write_bytes("".join(f"{line}\n" for line in lines).encode(encoding))
        return name

    def recipe(self, keys: str, more: str = "") -> Path:
        path = self.folder / "mine.toml"
        path.write_text(
            f"[data]\nsource_language = 'en'\ntarget_language = 'de'\n[[data.corpora]]\nname = 'mine'\n{keys}\n{more}\n"
            "[tokenizer]\nvocab_size = 310\n"
        )
        return path

    def prepare(self, keys: str, more: str = "", output: str = "ready") -> Any:
        return self.attendo("prepare", self.recipe(keys, more), "-o", self.folder / output, "--json", "--workers", 1)


@pytest.fixture
def place(tmp_path: Path, attendo: Command) -> Workplace:
    place = Workplace(tmp_path, attendo)
    place.write("a.en", SOURCES)
    place.write("a.de", TARGETS)
    return place


def tokens(place: Workplace, output: str) -> tuple[bytes, bytes]:
    shards = place.folder / output / "shards"
    return tuple((shards / f"mine-00000.{side}_ids.npy").read_bytes() for side in ("source", "target"))  # type: ignore[return-value]


def test_a_tmx_file_as_both_sides_is_refused_by_the_real_command(place: Workplace) -> None:
    root = ElementTree.Element("tmx", version="1.4")
    for source, target in PAIRS:
        unit = ElementTree.SubElement(root, "tu")
        for language, text in (("en", source), ("de", target)):
            variant = ElementTree.SubElement(unit, "tuv", {"xml:lang": language})
            ElementTree.SubElement(variant, "seg").text = text
    ElementTree.indent(root)  # an element a line: many lines, equally many on both sides
    ElementTree.ElementTree(root).write(place.folder / "memory.tmx", encoding="utf-8", xml_declaration=True)
    recipe = place.recipe("source = 'memory.tmx'\ntarget = 'memory.tmx'")
    command = [sys.executable, "-m", "attendo", "prepare", str(recipe), "-o", str(place.folder / "ready")]
    finished = subprocess.run(command, check=False, capture_output=True, text=True)
    assert finished.returncode == 1
    assert (
        f"{place.folder / 'memory.tmx'}: this looks like a TMX translation memory, not lines of text" in finished.stderr
    )
    assert 'file = "NAME" in place of source and target (docs/own-data.md' in finished.stderr
    assert not (place.folder / "ready").exists()
    assert place.prepare("source = 'a.en'\ntarget = 'a.de'").status == 0
    assert place.prepare("file = 'memory.tmx'", output="other").status == 0  # the way out is one
    assert tokens(place, "other") == tokens(place, "ready")


def test_every_foreign_file_is_named_at_once(place: Workplace) -> None:
    place.write("b.csv", [f"{source};{target}" for source, target in PAIRS])
    (place.folder / "c.jsonl").write_text("".join(json.dumps({"en": s, "de": t}) + "\n" for s, t in PAIRS))
    place.write("m.en", ["\r".join(SOURCES)])
    (place.folder / "m.en").write_bytes("\r".join(SOURCES).encode())
    more = "[[data.corpora]]\nname = 'j'\ntsv = 'c.jsonl'\n[data.valid]\nsource = 'm.en'\ntarget = 'm.en'\n"
    finished = place.prepare("tsv = 'b.csv'", more)
    assert finished.status == 1
    for name, looks in (("b.csv", "CSV"), ("c.jsonl", "JSON, an object a line"), ("m.en", "text whose lines end in")):
        assert re.search(rf"{name}: this looks like {looks}", finished.err)
    assert 'file = "NAME" in place of source and target' in finished.err


def test_text_that_begins_with_a_bracket_is_prepared(place: Workplace) -> None:
    place.write("b.en", ["<b> the", "{mer} the", *SOURCES])
    place.write("b.de", ["<b> die", "{mer} die", *TARGETS])
    finished = place.prepare("source = 'b.en'\ntarget = 'b.de'")
    assert (finished.status, json.loads(finished.out)["total"]["kept"]) == (0, 102)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "cp850", "utf-16", "utf-16-be", "cp037"])
def test_an_encoding_is_read_exactly(place: Workplace, encoding: str) -> None:
    assert place.prepare("source = 'a.en'\ntarget = 'a.de'").status == 0
    place.write("b.en", SOURCES, encoding)
    place.write("b.de", TARGETS, encoding)
    keys = f"source = 'b.en'\ntarget = 'b.de'\nencoding = '{encoding}'"
    assert place.prepare(keys, f"[data.valid]\n{keys}", output="other").status == 0
    assert tokens(place, "other") == tokens(place, "ready")
    assert (place.folder / "other" / "valid.target.txt").read_text(encoding="utf-8").splitlines() == TARGETS


def test_each_side_may_have_its_own_encoding(place: Workplace) -> None:
    assert place.prepare("source = 'a.en'\ntarget = 'a.de'").status == 0
    place.write("b.de", TARGETS, "utf-16")
    keys = "source = 'a.en'\ntarget = 'b.de'\nencoding = ['utf-8', 'utf-16']"
    assert place.prepare(keys, output="other").status == 0
    assert tokens(place, "other") == tokens(place, "ready")


def test_the_encoding_that_would_read_dropped_lines_is_named_and_does(place: Workplace) -> None:
    place.write("b.de", TARGETS[:60], "cp1252")
    with (place.folder / "b.de").open("ab") as file:
        file.write(b"".join(b"number %d\n" % number for number in range(40)))
    finished = place.prepare("source = 'a.en'\ntarget = 'b.de'")
    assert finished.status == 0
    report = json.loads(finished.out)
    assert report["total"]["dropped"]["encoding"] == 60
    assert "corpus mine: only 40 of 100 pairs are kept; dropped: 60 encoding" in finished.err
    assert r"encoding: line 1 of a.en b.de: the 0 0 number 0 | die \xc4pfel \xc4pfel Nummer 0" in finished.err
    (advice,) = re.findall(r"encoding = \S+", finished.err)
    assert report["corpora"][0]["encoding_advice"].startswith(advice)
    assert "latin-1" in finished.err, "which gives the same text"
    again = place.prepare(f"source = 'a.en'\ntarget = 'b.de'\n{advice}", output="other")
    assert json.loads(again.out)["total"]["kept"] == 100
    assert "corpus mine" not in again.err


def test_a_file_of_two_encodings_is_not_said_to_be_in_one(place: Workplace) -> None:
    content = [line.encode("cp1252" if number % 2 else "utf-8") for number, line in enumerate(TARGETS)]
    (place.folder / "b.de").write_bytes(b"\n".join(content) + b"\n")
    finished = place.prepare("source = 'a.en'\ntarget = 'b.de'")
    assert finished.status == 0
    assert "of its lines beyond ASCII 50 are UTF-8 and 50 are not, and look like cp1252" in finished.err
    assert "encoding = " not in finished.err


def test_a_validation_set_in_another_encoding_is_told_the_key(place: Workplace) -> None:
    place.write("v.en", SOURCES[:20], "latin-1")
    place.write("v.de", TARGETS[:20], "latin-1")
    finished = place.prepare("source = 'a.en'\ntarget = 'a.de'", "[data.valid]\nsource = 'v.en'\ntarget = 'v.de'")
    assert finished.status == 1
    assert "line 1 (encoding), line 2 (encoding)" in finished.err
    assert 'encoding = "cp1252" reads them all' in finished.err


def test_where_nothing_is_kept_the_reasons_are_told_and_the_list_stays(place: Workplace) -> None:
    place.write("b.de", [""] * 90 + ["x" * 5000] * 10)
    finished = place.prepare("source = 'a.en'\ntarget = 'b.de'")
    kept = place.folder / "ready.dropped.tsv"
    assert finished.status == 1
    assert "corpus mine: only 0 of 100 pairs are kept; dropped: 90 empty, 10 too_long" in finished.err
    assert "empty: line 2 of a.en b.de: the 0 1 number 1 | " in finished.err
    assert f"every dropped pair stands in {kept}" in finished.err
    rows = [row.split("\t") for row in kept.read_text(encoding="utf-8").splitlines()]
    assert rows[0] == ["corpus", "files", "line", "reason", "source", "target"]
    assert [(row[0], row[2], row[3]) for row in rows[90:92]] == [("mine", "90", "empty"), ("mine", "91", "too_long")]
    assert len(rows) == 101
    assert not (place.folder / "ready").exists()
    assert place.prepare("source = 'a.en'\ntarget = 'a.de'").status == 0
    assert not kept.exists(), "it was of a start that failed"


def test_one_corpus_that_keeps_nothing_ends_it_with_its_list(place: Workplace) -> None:
    # Of all the pairs some are kept, so that there is a vocabulary.
    more = "[[data.corpora]]\nname = 'again'\nsource = 'a.en'\ntarget = 'a.de'\n"
    finished = place.prepare("source = 'a.en'\ntarget = 'a.de'", more)
    assert finished.status == 1
    assert "corpus again (a.en a.de): none of its 100 pairs is kept (100 duplicate)" in finished.err
    assert "corpus again: only 0 of 100 pairs are kept; dropped: 100 duplicate" in finished.err
    assert "corpus mine:" not in finished.err
    assert (place.folder / "ready.dropped.tsv").read_text(encoding="utf-8").count("\nagain\t") == 100


def test_where_half_is_kept_nothing_is_said(place: Workplace) -> None:
    place.write("b.de", [*TARGETS[:50], *[""] * 50])
    finished = place.prepare("source = 'a.en'\ntarget = 'b.de'")
    assert finished.status == 0
    assert "corpus mine" not in finished.err


@pytest.mark.parametrize(
    "keys",
    [
        "source = ['p1.en', 'p2.en']\ntarget = ['p1.de', 'p2.de']",
        "source = 'p*.en'\ntarget = 'p*.de'",
        "source = 'p{1..2}.en'\ntarget = 'p{1..2}.de'",
        "pair = 'p*.{en,de}'",
        "pair = ['p1.{en,de}', 'p2.{en,de}']",
        "tsv = 't*.tsv'",
        "tsv = ['t1.tsv', 't2.tsv.bz2']",
    ],
)
def test_many_files_are_one_corpus(place: Workplace, keys: str) -> None:
    for name, part in (("p1", slice(0, 30)), ("p2", slice(30, 100))):
        place.write(f"{name}.en", SOURCES[part])
        place.write(f"{name}.de", TARGETS[part])
    place.write("t1.tsv", [f"{source}\t{target}" for source, target in PAIRS[:30]])
    rest = "".join(f"{source}\t{target}\n" for source, target in PAIRS[30:])
    (place.folder / "t2.tsv.bz2").write_bytes(bz2.compress(rest.encode()))
    if "*" in keys and "tsv" in keys:
        keys = "tsv = 't*.tsv*'"
    assert place.prepare("source = 'a.en'\ntarget = 'a.de'").status == 0
    finished = place.prepare(keys, output="other")
    assert finished.status == 0
    assert tokens(place, "other") == tokens(place, "ready")
    files = ["t1.tsv", "t2.tsv.bz2"] if "tsv" in keys else ["p1.en", "p1.de", "p2.en", "p2.de"]
    assert json.loads(finished.out)["corpora"][0]["files"] == files
    if "*" in keys or ".." in keys or "pair" in keys:
        joined = ", ".join(files if "tsv" in keys else ["p1.en + p1.de", "p2.en + p2.de"])
        assert f"data: corpus mine is {joined}" in finished.err
    manifest = json.loads((place.folder / "other" / "manifest.json").read_text(encoding="utf-8"))
    assert sorted(manifest["corpus_files"]) == sorted(files)


def test_dropped_lines_have_the_number_in_their_own_file(place: Workplace) -> None:
    place.write("p1.en", SOURCES[:50])
    place.write("p1.de", TARGETS[:50])
    place.write("p2.en", ["", *SOURCES[51:]])
    place.write("p2.de", TARGETS[50:])
    assert place.prepare("pair = 'p*.{en,de}'").status == 0
    _, row = (place.folder / "ready" / "dropped.tsv").read_text(encoding="utf-8").splitlines()
    assert row.split("\t")[:4] == ["mine", "p2.en p2.de", "1", "empty"]


def test_a_file_that_comes_to_a_pattern_makes_it_other_data(place: Workplace) -> None:
    for language, lines in (("en", SOURCES), ("de", TARGETS)):
        place.write(f"p1.{language}", lines[:50])
    recipe = place.recipe("pair = 'p*.{en,de}'")
    assert place.prepare("pair = 'p*.{en,de}'").status == 0
    assert "is prepared already" in place.prepare("pair = 'p*.{en,de}'").err
    for language, lines in (("en", SOURCES), ("de", TARGETS)):
        place.write(f"p2.{language}", lines[50:])
    finished = place.attendo("prepare", recipe, "-o", place.folder / "ready")
    assert finished.status == 1
    assert "was prepared from other files than its patterns stand for now (p2.de, p2.en came or went)" in finished.err
    assert json.loads(place.prepare("pair = 'p*.{en,de}'", output="new").out)["total"]["kept"] == 100
    for path in place.folder.glob("p?.??"):  # a machine that has the prepared data alone
        path.unlink()
    assert "is prepared already" in place.prepare("pair = 'p*.{en,de}'", output="new").err


def test_sides_that_do_not_match_are_named(place: Workplace) -> None:
    place.write("p1.en", SOURCES)
    place.write("p2.de", TARGETS)
    finished = place.prepare("source = 'p*.en'\ntarget = 'p*.de'")
    assert finished.status == 1
    assert "p1.en of source = p*.en matches no file of target = p*.de" in finished.err
    finished = place.prepare("source = 'no*.en'\ntarget = 'no*.de'")
    assert f"{place.folder / 'no*.en'}: there is no such file, and none that matches the pattern" in finished.err


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (
            "tsv = 'a.tsv'\nencoding = 'latin-17'",
            "encoding = 'latin-17' is no encoding of text; take one such as utf-8",
        ),
        ("tsv = 'a.tsv'\nencoding = ['utf-8', 'cp1252']", "give one, or with source and target one for each"),
        (
            "translations = 'a.jsonl'\nencoding = 'cp1252'",
            "goes with source and target, pair, tsv or file; other files",
        ),
        ("pair = 'corpus.en'", "pair = 'corpus.en' has no two sides; write it as corpus.{en,de}"),
        ("pair = 'a.{en,de}'\ntsv = 'a.tsv'", "give source and target, or tsv"),
        ("file = 'a.csv'\ncolumns = ['en']", "columns = ['en'] does not name two; name the source's first"),
        ("tsv = 'a.tsv'\nfields = ['en', 'de']", "fields = ['en', 'de'] goes with file alone; leave it out"),
        (
            "file = 'a.po'\nstates = ['done']",
            "states = ['done'] names other states, or none; take some of fuzzy, translated, final",
        ),
        ("source = ['a.en', '']\ntarget = ['a.de', 'b.de']", "source = has an empty name in its list"),
        (
            "source = 7\ntarget = 'a.de'",
            "source = 7 is not a string in quotes or a list, each entry a string",
        ),
    ],
)
def test_keys_that_cannot_be_meant_are_refused(place: Workplace, keys: str, told: str) -> None:
    finished = place.prepare(keys)
    assert finished.status == 1
    assert told in finished.err
