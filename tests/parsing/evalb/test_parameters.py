from collections.abc import Callable
from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.parsing.evalb.parameters import BUILT_IN, COLLINS, EvalbParameters, find_parameters, read_parameters


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "mine.prm"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(("name", "file"), [("collins", "COLLINS.prm"), ("new", "new.prm"), ("nk", "nk.prm")])
def test_what_is_built_in_is_what_the_files_say(shared: Callable[[str], Path], name: str, file: str) -> None:
    read = read_parameters(shared(f"evalb/{file}"))
    assert read.parameters == BUILT_IN[name]
    assert read.warnings == ()
    assert find_parameters(name.upper()).parameters == read.parameters


def test_every_keyword(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        b"# comment\n\nDEBUG 1\r\nMAX_ERROR\t20 \nCUTOFF_LEN 70\nLABELED 0\nDELETE_LABEL TOP\nDELETE_LABEL ''\n"
        b"DELETE_LABEL_FOR_LENGTH -NONE-\nQUOTE_LABEL POS\nEQ_LABEL ADVP  PRT\nEQ_WORD a b\n",
    )
    assert read_parameters(path).parameters == EvalbParameters(
        debug=1,
        max_error=20,
        cutoff_length=70,
        labeled=0,
        delete_labels=("TOP", "''"),
        delete_labels_for_length=("-NONE-",),
        quote_labels=("POS",),
        equal_labels=(("ADVP", "PRT"),),
        equal_words=(("a", "b"),),
    )
    assert find_parameters(str(path)).warnings == ()


def test_without_a_file_collins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_parameters(None).parameters == COLLINS
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new").write_text("LABELED 0\n")
    assert find_parameters("new").parameters == EvalbParameters(labeled=0), "a file comes first"


def test_lines_that_say_nothing_are_told(tmp_path: Path) -> None:
    path = written(tmp_path, b"EQ_LABEL ADVP\nDELETE_LABEL\n  DELETE_LABEL X\nDELETE_LABEL TOP # x\nDELETE_LABELS Y\n")
    read = read_parameters(path)
    assert read.parameters == EvalbParameters(delete_labels=("TOP # x",))
    told = "\n".join(read.warnings)
    for message in (
        "line 1: EQ_LABEL takes two values; it is left out",
        "line 2: DELETE_LABEL has no value",
        "line 3: '' is no keyword",
        "line 4: no label is called 'TOP # x'",
        "line 5: 'DELETE_LABELS' is no keyword; a line begins with one of DELETE_LABEL, ",
    ):
        assert message in told


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"CUTOFF_LEN forty\n", "line 1: CUTOFF_LEN takes a whole number, not 'forty'"),
        (b"\n\xff\xfe\xfd\n", "line 2 is not UTF-8"),
    ],
)
def test_files_that_mean_nothing(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_parameters(written(tmp_path, content))


def test_a_file_that_is_not_there_and_the_names_that_are(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no such parameter file; name one, or take one of collins, new, nk"):
        find_parameters(str(tmp_path / "COLLINS.prm"))
