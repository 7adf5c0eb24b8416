"""Names of translations as the documentation of Android, Apple, gettext, Java, .NET, Qt and Flutter has them."""

from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.workflow.documents.names import Names, found_files, named_language


@pytest.mark.parametrize(
    ("path", "target", "expected"),
    [
        ("res/values/strings.xml", "de-AT", "res/values-de-rAT/strings.xml"),
        ("res/values-night/strings.xml", "de", "res/values-de-night/strings.xml"),
        ("res/values/strings.xml", "sr-Latn", "res/values-b+sr+Latn/strings.xml"),
        ("App/en.lproj/Localizable.strings", "de-AT", "App/de-AT.lproj/Localizable.strings"),
        ("App/Base.lproj/Main.strings", "de", "App/de.lproj/Main.strings"),
        ("locales/en/app.json", "de", "locales/de/app.json"),
        ("locale/en_US/LC_MESSAGES/app.po", "de-AT", "locale/de_AT/LC_MESSAGES/app.po"),
        ("locales/en.json", "de-AT", "locales/de-AT.json"),
        ("l10n/app_en.arb", "de-AT", "l10n/app_de_AT.arb"),
        ("messages.properties", "de-AT", "messages_de_AT.properties"),
        ("messages_en.properties", "de", "messages_de.properties"),
        ("Text.resx", "de-AT", "Text.de-AT.resx"),
        ("app.ts", "de-AT", "app_de_AT.ts"),
        ("messages.po", "de", "messages.de.po"),
        ("messages.en.po", "de", "messages.de.po"),
        ("po/de.po", "de", "po/de.po"),
        ("film.srt", "de", "film.de.srt"),
    ],
)
def test_the_name_of_a_translation(path: str, target: str, expected: str) -> None:
    assert Names("en", target).translated(Path(path)) == Path(expected)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("res/values-de-rAT/strings.xml", "de-AT"),
        ("res/values-v21/strings.xml", None),
        ("fr.lproj/x.strings", "fr"),
        ("po/pt_BR.po", "pt_BR"),
        ("app/how_to.json", None),
        ("messages.fr.po", "fr"),
    ],
)
def test_the_language_that_a_name_has(path: str, expected: str | None) -> None:
    assert named_language(Path(path)) == expected


def test_a_folder_has_its_sources_alone(tmp_path: Path) -> None:
    names = (
        "res/values/strings.xml",
        "res/values-fr/strings.xml",
        "en.json",
        "fr.json",
        "po/de.po",
        "po/fr.po",
        "notes.txt",
    )
    for name in (*names, ".git/en.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    found = [path.relative_to(tmp_path).as_posix() for path in found_files(tmp_path, Names("en", "de"))]
    assert found == ["en.json", "po/de.po", "res/values/strings.xml"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="empty: is a folder; name a file in it, or a folder with files of known form"):
        list(found_files(tmp_path / "empty", Names("en", "de")))
