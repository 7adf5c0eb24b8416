"""scripts/shipped_data.py: what is for testing is in no corpus that is trained on, on a small made-up data folder."""

import json
import lzma
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "shipped_data.py"
HEADER = "file\tsource\tfirst_line\tpairs\trepository\tlicence\tattribution\tprecision_seen\tkind"
HELD_OUT = "This sentence is held out of everything."
RMS = "Rights management is for later tests only."
FILLER = [f"A common sentence of the corpus with the letter {letter}." for letter in "abcdefghijklmnopqrstuvwxyz"]


def write(folder: Path, stem: str, sources: list[str], *, packed: bool = False) -> None:
    """Writes sources, and as targets the same in capitals with a mark in front."""
    folder.mkdir(exist_ok=True)
    for language, sides in (("en", sources), ("de", [f"Ü {source.upper()}" for source in sources])):
        content = "".join(f"{side}\n" for side in sides).encode()
        if packed:
            (folder / f"{stem}.{language}.xz").write_bytes(lzma.compress(content))
        else:
            (folder / f"{stem}.{language}").write_bytes(content)


def listed(folder: Path, rows: list[tuple[str, str, int, int, str]]) -> None:
    lines = [
        f"{file}\t{source}\t{first}\t{count}\tr\t{licence}\t© someone\t-\thuman"
        for file, source, first, count, licence in rows
    ]
    (folder / "sources.tsv").write_text("\n".join([HEADER, *lines]) + "\n", encoding="utf-8")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    found = tmp_path / "data"
    found.mkdir()
    write(found / "tatoeba_en-de", "train", ["Go away.", *FILLER, f"{HELD_OUT[:-1]}!!"])
    write(found / "tatoeba_en-de", "valid", [HELD_OUT, "Go away."])
    docs, ui = found / "docs_en-de", found / "ui_en-de"
    write(docs, "valid", ["Another sentence that is for validation."])
    write(docs, "ms-cpp-docs", ["another sentence, that is for validation", RMS, "See also", *FILLER], packed=True)
    write(docs, "ms-nuget-docs", ["The package is licensed otherwise than the rest."], packed=True)
    for name in ("ms-azure-rms", "ms-aspnetcore-docs", "ms-aspnetcore-docs-2019"):
        write(docs, name, [RMS], packed=True)
    write(docs, "machine-translated", ["A machine translated this sentence."], packed=True)
    documentation = [("ms-cpp-docs", "CC BY 4.0"), ("ms-nuget-docs", "MIT"), ("ms-azure-rms", "CC BY 4.0")]
    listed(
        docs,
        [
            *((name, name, 1, 1, licence) for name, licence in documentation),
            ("machine-translated", "x.mt", 1, 1, "MIT"),
        ],
    )
    write(ui, "valid", ["Cancel"])
    write(ui, "permissive", ["Cancel", "Share alike this one", "Open the other window"], packed=True)
    write(ui, "copyleft", ["Under a copyleft licence"], packed=True)
    listed(ui, [("permissive", "ui-kde-kphotoalbum", 2, 1, "CC-BY-SA-4.0")])
    write(found / "newstest2013_en-de", "newstest2013", ["Some news of that year."])
    for name in ("val", "test_2016_flickr"):
        write(found / "multi30k", name, ["Two dogs run over the wide green meadow."])
    for name in ("train", "dev"):
        write(found / "bcontrast_chat", name, ["How can I help you with that today?"])
    return found


def test_what_is_for_testing_is_left_out(data: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    command = [sys.executable, str(SCRIPT), str(data), "en-de", "-o", str(output)]
    finished = subprocess.run(command, check=False, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    written = {path.name: path.read_text(encoding="utf-8").splitlines() for path in output.glob("*.en")}
    trained = [
        line for name, lines in written.items() if not name.startswith(("valid-", "calibration-")) for line in lines
    ]
    calibration = [line for name, lines in written.items() if name.startswith("calibration-") for line in lines]
    assert not [line for line in trained if "held out" in line or "validation" in line or line == RMS]
    assert {"Go away.", "See also", "Cancel"} & {*trained, *calibration}, "short sides are in everything"
    assert not [line for line in trained if "Share alike" in line or "copyleft" in line or "machine" in line]
    assert not set(trained) & {line for line in calibration if len(line) > 30}
    assert {path.name for path in (output / "measuring").glob("*.en")} == {"ui-copyleft.en", "docs-machine.en"}
    account = json.loads((output / "account.json").read_text(encoding="utf-8"))
    assert account["docs-microsoft"]["read"] == 3 + len(FILLER)
    assert account["docs-microsoft"]["held_out"].items() >= {"valid-docs": 1, "ms-azure-rms": 1}.items()
    assert account["ui"]["read"] == 2
    for name, lines in written.items():
        other = (output / name).with_suffix(".de").read_text(encoding="utf-8").splitlines()
        assert other == [f"Ü {line.upper()}" for line in lines], "the sides stay together"
        if name.removesuffix(".en") in account:
            assert account[name.removesuffix(".en")]["written"] == len(lines)
