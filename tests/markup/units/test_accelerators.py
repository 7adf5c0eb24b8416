import pytest

from attendo.formats.contents import content, plain
from attendo.markup.units.accelerators import with_accelerator, without_accelerator


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ("&File", "Datei", "&Datei"),
        ("Save &As...", "Speichern als...", "Speichern &als..."),
        ("E&xit", "Beenden", "&Beenden"),
        ("_Open", "Öffnen", "_Öffnen"),
        ("Pre_ferences", "Einstellungen finden", "Einstellungen _finden"),
        ("~Edit", "Bearbeiten", "B~earbeiten"),
        ("&File", "ファイル", "ファイル(&F)"),
        ("&File...", "文件...", "文件(&F)..."),
        # The letters of placeholders and tags are none of the text.
        ("_Save '%s'", "'%s' speichern", "'%s' _speichern"),
        ("&Name {name}", "{name} umbenennen", "{name} umbe&nennen"),
        ("&Big <b>x</b>", "<b>%d</b> Bilder", "<b>%d</b> &Bilder"),
        ("&Close", "%s", "%s"),
    ],
)
def test_the_sign_stands_before_a_letter_of_the_translation(source: str, translation: str, expected: str) -> None:
    bare, accelerator = without_accelerator(content(source), ())
    assert accelerator is not None
    assert plain(bare) == source.replace(accelerator.sign, "")
    assert plain(with_accelerator(content(translation), accelerator, ())) == expected


@pytest.mark.parametrize(
    "text",
    ["R&D", "AT&T", "A && B", "a & b", "&amp; &lt;", "file_name", "~/x", "snake_case_name", "x?a=1&b=2", "&A &B"],
)
def test_what_is_no_accelerator(text: str) -> None:
    assert without_accelerator(content(text), ()) == (content(text), None)


def test_a_flag_names_the_sign() -> None:
    assert without_accelerator(content("_Open &now"), ["accelerator:&"])[0] == content("_Open now")
