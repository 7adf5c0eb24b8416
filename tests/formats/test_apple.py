"""Apple's .strings and .stringsdict. Expected bytes are written by hand after Apple's guides."""

import pytest

from attendo.errors import DataError
from attendo.formats.contents import plain
from attendo.formats.file import Languages, result
from attendo.formats.table import read_file


def test_strings_are_read_and_written() -> None:
    text = '/* Title */\n"a \\"b\\"" = "Say \\"hi\\"\\n%@ \\U00e9";\n// x\nbare.key="v" ;\n"only";\n"e" = "";'
    file = read_file(text.encode(), "L.strings")
    assert [(unit.id, plain(unit.source), unit.notes) for unit in file.units] == [
        ('a "b"', 'Say "hi"\n%@ é', ("Title",)),
        ("bare.key", "v", ("x",)),
        ("e", "", ()),
    ]
    assert file.write({}) == text.encode()
    out = file.write({'a "b"': result('Sag "ö"\n\\ %@'), "bare.key": result("w")}).decode()
    assert out == text.replace('Say \\"hi\\"\\n%@ \\U00e9', 'Sag \\"ö\\"\\n\\\\ %@').replace('"v"', '"w"')


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("mark", ["\ufeff", ""])
def test_utf_16_with_its_mark_and_line_ends_stays(encoding: str, mark: str) -> None:
    data = f'{mark}"a" = "b\r\nc";\r\n'.encode(encoding)  # case 21
    out = read_file(data, "L.strings").write({"a": result("ä\nö")})
    assert out == f'{mark}"a" = "ä\r\nö";\r\n'.encode(encoding)


@pytest.mark.parametrize("text", ['"a" = ;', '"a" "b";', '"a" = "b"', '"a" = "b" "c";', '"a', "{}", '"a" = b;'])
def test_what_is_no_entry_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(DataError, match=r'L\.strings: line 2 should be such as "key" = "value"; and is'):
        read_file(f"// x\n{text}".encode(), "L.strings")


RULES = """<plist version="1.0">
<dict>
	<!-- files -->
	<key>%d files</key>
	<dict>
		<key>NSStringLocalizedFormatKey</key>
		<string>%#@n@ left</string>
		<key>n</key>
		<dict>
			<key>NSStringFormatSpecTypeKey</key>
			<string>NSStringPluralRuleType</string>
			<key>one</key>
			<string>%d file</string>
			<key>other</key>
			<string>%d files</string>
		</dict>
	</dict>
</dict>
</plist>
"""


def test_the_texts_of_plural_rules_are_translated_alone() -> None:
    file = read_file(RULES.encode(), "L.stringsdict", Languages(target="pl"))
    (unit,) = file.units
    assert (unit.id, [form.name for form in unit.forms]) == ("%d files/n", ["one", "few", "many", "other"])
    out = file.write({unit.id: result("%d plik", "%d pliki", "%d plików", "%d pliku")}).decode()
    more = "".join(
        f"\n\t\t\t<key>{name}</key>\n\t\t\t<string>{text}</string>"
        for name, text in (("few", "%d pliki"), ("many", "%d plików"))
    )
    assert out == RULES.replace(">%d file<", ">%d plik<").replace(
        "<string>%d files</string>", f"<string>%d pliku</string>{more}"
    )


def test_the_text_for_none_stays_in_every_language() -> None:
    zero = "<key>zero</key>\n\t\t\t<string>no files</string>\n\t\t\t"
    text = RULES.replace("<key>one</key>", f"{zero}<key>one</key>")
    file = read_file(text.encode(), "L.stringsdict", Languages(target="de"))
    (unit,) = file.units
    assert [form.name for form in unit.forms] == ["zero", "one", "other"]
    out = file.write({unit.id: result("keine Dateien", "%d Datei", "%d Dateien")}).decode()
    expected = text.replace("no files", "keine Dateien").replace(">%d file<", ">%d Datei<")
    assert out == expected.replace(">%d files</string>", ">%d Dateien</string>")


def test_a_list_of_properties_without_a_dictionary_is_refused() -> None:
    with pytest.raises(DataError, match="not a property list with a dictionary"):
        read_file(b"<plist><array/></plist>", "L.stringsdict")
