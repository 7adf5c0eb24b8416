"""`attendo prepare` of files that people translate: the same tokens as of lines, and every unit accounted for."""

import bz2
import csv
import gzip
import io
import json
import lzma
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest

Command = Callable[..., Any]
Pairs = Sequence[tuple[str, str]]

WORDS = ["Äpfel", "Bäume", "Größe", "Straße", "Käse", "Flüsse", "Häuser", "Söhne", "Türen", "Vögel"]
PAIRS = [
    (f"the {first} & {second} number {number}", f"die {WORDS[first]} & {WORDS[second]} Nummer {number}")
    for number, (first, second) in enumerate([(one, other) for one in range(10) for other in range(10)])
]


def tmx(pairs: Pairs) -> str:
    units = (
        f'<tu><tuv xml:lang="en-US"><seg><ph x="1">&lt;b&gt;</ph>{escape(source)}</seg></tuv>\n'
        f'<tuv xml:lang="fr"><seg>x</seg></tuv><tuv xml:lang="de-AT"><seg>{escape(target)}</seg></tuv></tu>\n'
        for source, target in pairs
    )
    return f'<?xml version="1.0"?>\n<tmx version="1.4"><header/><body>\n{"".join(units)}</body></tmx>\n'


def xliff(pairs: Pairs) -> str:
    units = (
        f'<trans-unit id="{number}"><source><g id="1">{escape(source)}</g></source><target>{escape(target)}</target>'
        "</trans-unit>\n"
        for number, (source, target) in enumerate(pairs)
    )
    head = '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en" original="x"'
    return f'{head} datatype="x" target-language="de"><body>\n{"".join(units)}</body></file></xliff>\n'


def po(pairs: Pairs) -> str:
    messages = (f'msgid "{source}"\nmsgstr "{target}"\n\n' for source, target in pairs)
    return 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\nLanguage: de\\n"\n\n' + "".join(messages)


def table(pairs: Pairs, header: tuple[str, ...], separator: str) -> str:
    content = io.StringIO()
    csv.writer(content, delimiter=separator).writerows([header, *pairs])
    return content.getvalue()


def srt(texts: Sequence[str]) -> str:
    return "".join(
        f"{n}\n00:{n // 60:02}:{n % 60:02},000 --> 00:{n // 60:02}:{n % 60:02},900\n{text}\n\n"
        for n, text in enumerate(texts, 1)
    )


@pytest.fixture
def prepare(tmp_path: Path, attendo: Command) -> Command:
    """Prepares corpora of a recipe, in a folder named `ready`."""

    def prepare(corpora: str, *options: str) -> Any:
        recipe = tmp_path / "mine.toml"
        recipe.write_text(
            f"[data]\nsource_language = 'en'\ntarget_language = 'de'\n{corpora}\n[tokenizer]\nvocab_size = 330\n"
        )
        return attendo("prepare", recipe, "-o", tmp_path / "ready", "--workers", 1, *options)

    return prepare


def dropped(folder: Path) -> list[list[str]]:
    rows = (folder / "ready" / "dropped.tsv").read_text(encoding="utf-8").splitlines()
    return [row.split("\t") for row in rows[1:]]


def test_units_are_prepared_as_the_same_lines_are(tmp_path: Path, prepare: Command) -> None:
    sources, targets = zip(*PAIRS, strict=True)
    files: dict[str, str | bytes] = {
        "a.en": "".join(f"{source}\n" for source in sources),
        "a.de": "".join(f"{target}\n" for target in targets),
        "memory.tmx": tmx(PAIRS),
        "memory.tmx.bz2": bz2.compress(tmx(PAIRS).encode()),
        "utf16.tmx": tmx(PAIRS).encode("utf-16"),
        "a.xlf": xliff(PAIRS),
        "a.po": po(PAIRS),
        "a.csv": table(PAIRS, ("en", "de"), ";"),
        "old.csv": table(PAIRS, ("English", "German"), ",").encode("cp1252"),
        "a.tsv.gz": gzip.compress(table(PAIRS, ("source", "target"), "\t").encode()),
        "a.jsonl.xz": lzma.compress("".join(json.dumps({"a": {"q": s}, "r": t}) + "\n" for s, t in PAIRS).encode()),
        "film.en.srt": srt(sources),
        "film.de.srt": srt(targets),
        "1.tmx": tmx(PAIRS[:30]),
        "2.tmx": tmx(PAIRS[30:]),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    keys = {
        "lines": "pair = 'a.{en,de}'",
        "tmx": "file = 'memory.tmx'",
        "packed": "file = 'memory.tmx.bz2'",
        "wide": "file = 'utf16.tmx'",
        "xliff": "file = 'a.xlf'",
        "po": "file = 'a.po'",
        "csv": "file = 'a.csv'",
        "named": "file = 'old.csv'\ncolumns = ['English', 'German']\nencoding = 'cp1252'",
        "tsv": "file = 'a.tsv.gz'",
        "json": "file = 'a.jsonl.xz'\nfields = ['a.q', 'r']",
        "film": "pair = 'film.{en,de}.srt'",
        "several": "file = '[12].tmx'",
    }
    corpora = "".join(f"[[data.corpora]]\nname = '{name}'\n{files}\n" for name, files in keys.items())
    finished = prepare(f"{corpora}[data.valid]\nfile = 'a.xlf'\n[data.cleaning]\ndrop_duplicates = false", "--json")
    assert finished.status == 0, finished.err
    shards = tmp_path / "ready" / "shards"
    for name in (*keys, "valid"):
        for side in ("source_ids", "target_ids", "source_offsets", "target_offsets"):
            (found,) = shards.glob(f"{name}-00000.{side}.npy")
            assert found.read_bytes() == (shards / f"lines-00000.{side}.npy").read_bytes(), found.name
    report = json.loads(finished.out)
    assert [corpus["kept"] for corpus in report["corpora"]] == [100] * len(keys)
    assert {corpus["name"]: corpus["files"] for corpus in report["corpora"]}["film"] == ["film.en.srt", "film.de.srt"]
    assert "data: corpus several is 1.tmx, 2.tmx" in finished.err
    manifest = json.loads((tmp_path / "ready" / "manifest.json").read_text())
    assert set(manifest["corpus_files"]) == set(files)
    assert manifest["corpus_files"]["memory.tmx"]["bytes"] == len(files["memory.tmx"].encode())  # type: ignore[union-attr]
    assert not list((tmp_path / "ready").glob("*.tmp"))
    assert (
        "is prepared already"
        in prepare(f"{corpora}[data.valid]\nfile = 'a.xlf'\n[data.cleaning]\ndrop_duplicates = false").err
    )


def test_every_unit_is_accounted_for_with_its_line(tmp_path: Path, prepare: Command) -> None:
    content = tmx([*PAIRS[:60], PAIRS[0], ("Alone.", ""), ("Much", "zu viel Text hier " * 9)])
    machine = '<tuv xml:lang="de"><prop type="x-origin">MT</prop><seg>Von ihr.</seg></tuv></tu>\n'
    content = content.replace("</body>", f'<tu><tuv xml:lang="en"><seg>By it.</seg></tuv>{machine}</body>')
    content = content.replace(
        "</body>", '<tu><tuv xml:lang="en"><seg>No.</seg></tuv><tuv xml:lang="fr"><seg>Non.</seg></tuv></tu></body>'
    )
    (tmp_path / "m.tmx").write_text(content)
    finished = prepare("[[data.corpora]]\nname = 'memory'\nfile = 'm.tmx'", "--json")
    assert finished.status == 0, finished.err
    assert dropped(tmp_path) == [
        # The head has two lines, and each unit two.
        ["memory", "m.tmx", "123", "duplicate", *PAIRS[0]],
        ["memory", "m.tmx", "125", "untranslated", "Alone.", ""],
        ["memory", "m.tmx", "127", "ratio", "Much", ("zu viel Text hier " * 9).strip()],
        ["memory", "m.tmx", "129", "state", "By it.", "Von ihr."],
        ["memory", "m.tmx", "130", "language", "No.", "Non."],
    ]
    total = json.loads(finished.out)["total"]
    assert (total["read"], total["kept"]) == (65, 60)
    finished = prepare("[[data.corpora]]\nname = 'memory'\nfile = 'm.tmx'\nstates = ['fuzzy', 'translated']", "--force")
    assert [row[3] for row in dropped(tmp_path)] == ["duplicate", "untranslated", "ratio", "language"]


def test_a_validation_set_is_what_counts_of_a_file(tmp_path: Path, prepare: Command) -> None:
    (tmp_path / "a.po").write_text(po(PAIRS))
    (tmp_path / "dev.po").write_text(
        po(PAIRS[:3]) + '#, fuzzy\nmsgid "New"\nmsgstr "Alt"\n\nmsgid "Later"\nmsgstr ""\n', encoding="utf-8"
    )
    finished = prepare("[[data.corpora]]\nname = 'a'\nfile = 'a.po'\n[data.valid]\nfile = 'dev.po'", "--json")
    assert finished.status == 0, finished.err
    lines = (tmp_path / "ready" / "valid.target.txt").read_text(encoding="utf-8").splitlines()
    assert lines == [target for _, target in PAIRS[:3]]
    report = json.loads(finished.out)["valid"]
    assert (report["read"], report["kept"]) == (5, 3)
    assert {reason: number for reason, number in report["dropped"].items() if number} == {"untranslated": 1, "state": 1}


def test_the_encoding_that_would_read_a_table_is_named_and_does(tmp_path: Path, prepare: Command) -> None:
    (tmp_path / "old.csv").write_bytes(table(PAIRS, ("en", "de"), ",").encode("cp1252"))
    finished = prepare("[[data.corpora]]\nname = 'old'\nfile = 'old.csv'")
    assert finished.status == 1
    assert "100 encoding" in finished.err
    (advice, *_) = re.findall(r'encoding = "\S+"', finished.err)
    finished = prepare(f"[[data.corpora]]\nname = 'old'\nfile = 'old.csv'\n{advice}", "--json")
    assert json.loads(finished.out)["total"]["kept"] == 100


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.tmx", tmx(PAIRS).partition("</tu>")[0], "m.tmx: line 4 is not well-formed XML"),
        ("m.po", 'msgid "a"\n"b\n', "m.po: line 2 has no string in quotes that ends"),
        ("m.csv", "a,b\n1,2\n", "m.csv: line 1 names the columns a, b; name the two to use"),
        (
            "m.tmx",
            tmx(PAIRS).replace("de-AT", "pt"),
            "corpus mine: only 0 of 100 pairs are kept; dropped: 100 language",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_named(
    tmp_path: Path, prepare: Command, name: str, content: str, message: str
) -> None:
    (tmp_path / name).write_text(content)
    finished = prepare(f"[[data.corpora]]\nname = 'mine'\nfile = '{name}'")
    assert finished.status == 1
    assert message in finished.err
    assert not (tmp_path / "ready").exists()
