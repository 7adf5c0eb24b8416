import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[..., Any]


def test_compare_names_the_better_output(attendo: Command, tmp_path: Path) -> None:
    references = [f"the {number} red dogs see the {number} old kings ." for number in range(20)]
    good, bad, reference = tmp_path / "good", tmp_path / "bad", tmp_path / "reference"
    reference.write_text("\n".join(references) + "\n")
    good.write_text("\n".join(references) + "\n")
    bad.write_text("\n".join(line.replace("red", "sad").replace("old", "odd") for line in references) + "\n")
    finished = attendo("compare", bad, good, "--reference", reference, "--json")
    assert finished.status == 0
    found = json.loads(finished.out)
    # An output equal to its reference has BLEU 100 and TER 0.
    assert (found["bleu"]["better"], round(found["bleu"]["b"]["score"], 6), found["ter"]["b"]["score"]) == ("b", 100, 0)
    assert found["bleu"]["paired_bootstrap"]["p_value"] < 0.05
    assert str(good) in attendo("compare", bad, good, "--reference", reference).out


def test_one_file_is_not_compared_with_itself(attendo: Command, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("a\n")
    finished = attendo("compare", tmp_path / "x", tmp_path / "x", "--reference", tmp_path / "x")
    assert finished.status == 1
    assert "compare two different files" in finished.err


def test_references_in_a_file_of_units(attendo: Command, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("ein Hund\neine Katze\n")
    (tmp_path / "b").write_text("der Hund\nder Katze\n")
    units = "".join(
        f'<trans-unit id="{text}"><source>x</source><target>{text}</target></trans-unit>'
        for text in ("ein Hund", "eine Katze")
    )
    (tmp_path / "reference.xlf").write_text(
        f'<xliff version="1.2"><file source-language="en" target-language="de"><body>{units}</body></file></xliff>'
    )
    (tmp_path / "lines").write_text("ein Hund\neine Katze\n")
    arguments = ("compare", tmp_path / "a", tmp_path / "b", "--target-language", "de", "--json", "--reference")
    found, expected = (json.loads(attendo(*arguments, tmp_path / name).out) for name in ("reference.xlf", "lines"))
    assert found == expected
