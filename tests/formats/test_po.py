"""PO files. Expected bytes are written by hand after gettext's manual; `msgfmt` judges what it can."""

import shutil
import subprocess
from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.formats.contents import plain
from attendo.formats.file import File, Languages, Mark, WriteOptions, result
from attendo.formats.pairs.po_pairs import read_po_pairs
from attendo.formats.pairs.selection import Selection
from attendo.formats.table import read_file

HEADER = (
    'msgid ""\nmsgstr ""\n"Project-Id-Version: x\\n"\n"Language: pl\\n"\n'
    '"Content-Type: text/plain; charset=UTF-8\\n"\n'
    '"Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 "\n'
    '"|| n%100>=20) ? 1 : 2);\\n"\n\n'
)
PLURAL = 'msgid "%d file"\nmsgid_plural "%d files"\n'


def read(text: str | bytes, target: str | None = None) -> File:
    data = text.encode() if isinstance(text, str) else text
    return read_file(data, "x.po", Languages(target=target))


def written(text: str, results: dict[str, tuple[str, ...]], mark: Mark = "none", target: str | None = None) -> str:
    found = {name: result(*texts) for name, texts in results.items()}
    return read(text, target).write(found, WriteOptions(mark=mark)).decode()


def test_a_new_message_is_filled_and_marked_fuzzy() -> None:
    text = '# note\n#. extracted\n#: a.c:1\nmsgid "Open"\nmsgstr ""\n'
    marked = '# note\n#. extracted\n#: a.c:1\n#, fuzzy\nmsgid "Open"\nmsgstr "Öffnen"\n'
    assert written(text, {"Open": ("Öffnen",)}, "review") == marked
    assert written(text, {"Open": ("Öffnen",)}, "none") == text.replace('msgstr ""', 'msgstr "Öffnen"')
    (unit,) = read(text).units
    assert (plain(unit.source), unit.state, unit.notes) == ("Open", "new", ("note", "extracted"))


def test_a_fuzzy_message_keeps_flag_and_previous_text_or_loses_both() -> None:
    text = '#, fuzzy, c-format\n#| msgid "Old %s"\nmsgid "New %s"\nmsgstr "Alt %s"\n'  # case 13
    (unit,) = read(text).units
    assert (unit.state, unit.flags) == ("fuzzy", frozenset({"c-format"}))
    assert read(text).write({}) == text.encode()
    stays = text.replace("Alt %s", "Neu %s")
    assert written(text, {"New %s": ("Neu %s",)}, "review") == stays
    assert written(text, {"New %s": ("Neu %s",)}) == '#, c-format\nmsgid "New %s"\nmsgstr "Neu %s"\n'


def test_a_flag_line_that_only_says_fuzzy_goes_with_its_line() -> None:
    text = '#, fuzzy\nmsgid "a b"\nmsgstr "x"\n'
    assert written(text, {"a b": ("y",)}) == 'msgid "a b"\nmsgstr "y"\n'
    assert (
        written('#, c-format, fuzzy\nmsgid "a"\nmsgstr "x"\n', {"a": ("y",)}) == '#, c-format\nmsgid "a"\nmsgstr "y"\n'
    )


def test_the_flag_joins_flags_that_are_there() -> None:
    text = '#, c-format\nmsgid "%d"\nmsgstr ""\n'
    assert written(text, {"%d": ("%d",)}, "review") == '#, fuzzy, c-format\nmsgid "%d"\nmsgstr "%d"\n'


def test_three_plural_forms_of_polish() -> None:
    text = HEADER + PLURAL + 'msgstr[0] ""\nmsgstr[1] ""\nmsgstr[2] ""\n'  # case 17
    (unit,) = read(text).units
    # One, two and five: the smallest numbers above zero that take each form; only 1 takes the first one.
    assert [(form.sample, form.is_of_one_number, plain(form.source)) for form in unit.forms] == [
        (1, True, "%d file"),
        (2, False, "%d files"),
        (5, False, "%d files"),
    ]
    out = written(text, {"%d file": ("%d plik", "%d pliki", "%d plików")})
    assert out == HEADER + PLURAL + 'msgstr[0] "%d plik"\nmsgstr[1] "%d pliki"\nmsgstr[2] "%d plików"\n'


def test_forms_that_the_template_lacks_are_added() -> None:
    out = written(HEADER + PLURAL + 'msgstr[0] ""\nmsgstr[1] ""\n\n', {"%d file": ("a", "b", "c")})
    assert out == HEADER + PLURAL + 'msgstr[0] "a"\nmsgstr[1] "b"\nmsgstr[2] "c"\n\n'


def test_japanese_has_one_form_made_of_the_plural() -> None:
    header = 'msgid ""\nmsgstr "Language: ja\\nPlural-Forms: nplurals=1; plural=0;\\n"\n\n'
    text = header + PLURAL + 'msgstr[0] ""\nmsgstr[1] ""\n'
    (unit,) = read(text).units
    assert [plain(form.source) for form in unit.forms] == ["%d files"]
    assert written(text, {"%d file": ("%d",)}) == header + PLURAL + 'msgstr[0] "%d"\n'


def test_arabic_has_six_forms() -> None:
    formula = "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5);"
    text = f'msgid ""\nmsgstr "Plural-Forms: {formula}\\n"\n\n' + PLURAL + 'msgstr[0] ""\n'
    (unit,) = read(text).units
    assert [form.sample for form in unit.forms] == [0, 1, 2, 3, 11, 100]


def test_the_forms_that_a_person_wrote_stay() -> None:
    text = HEADER + PLURAL + 'msgstr[0] "ein"\nmsgstr[1] ""\nmsgstr[2] ""\n'
    out = written(text, {"%d file": ("x", "y", "z")})
    assert out == HEADER + PLURAL + 'msgstr[0] "ein"\nmsgstr[1] "y"\nmsgstr[2] "z"\n'


def test_a_region_stays_and_an_empty_language_is_set() -> None:
    text = 'msgid ""\nmsgstr ""\n"Language: pt_BR\\n"\n\nmsgid "a"\nmsgstr ""\n'  # case 4
    assert written(text, {"a": ("b",)}, target="pt") == text[:-3] + '"b"\n'
    empty = text.replace("pt_BR", "")
    assert written(empty, {"a": ("b",)}, target="pt-BR") == text[:-3] + '"b"\n'
    with pytest.raises(DataError, match=r"x\.po: the file's target language is pt_BR, not de"):
        read(text, "de")


def test_a_template_becomes_a_translation() -> None:
    text = (
        'msgid ""\nmsgstr ""\n"Language: \\n"\n"Content-Type: text/plain; charset=CHARSET\\n"\n'
        '"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\\n"\n\n' + PLURAL + 'msgstr[0] ""\nmsgstr[1] ""\n'
    )
    assert written(text, {"%d file": ("ä", "b")}, target="de") == (
        'msgid ""\nmsgstr ""\n"Language: de\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
        '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n' + PLURAL + 'msgstr[0] "ä"\nmsgstr[1] "b"\n'
    )


def test_a_missing_plural_formula_is_added_to_the_header() -> None:
    header = 'msgid ""\nmsgstr ""\n"Language: ja\\n"\n'
    out = written(header + "\n" + PLURAL + 'msgstr[0] ""\n', {"%d file": ("x",)}, target="ja")
    assert out == header + '"Plural-Forms: nplurals=1; plural=0;\\n"\n\n' + PLURAL + 'msgstr[0] "x"\n'


def test_a_header_without_a_language_gets_one() -> None:
    header = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    out = written(header + '\nmsgid "a"\nmsgstr ""\n', {"a": ("ä",)}, target="de-AT")
    assert out == header + '"Language: de_AT\\n"\n\nmsgid "a"\nmsgstr "ä"\n'
    out = written(header + "\n" + PLURAL + 'msgstr[0] ""\n', {"%d file": ("x",)}, target="ja")
    assert out.startswith(header + '"Language: ja\\n"\n"Plural-Forms: nplurals=1; plural=0;\\n"\n\n')


def test_contexts_tell_twins_apart_and_obsolete_messages_keep_their_bytes() -> None:
    text = (  # case 20
        'msgctxt "verb"\nmsgid "Open"\nmsgstr ""\n\nmsgctxt "noun"\nmsgid "Open"\nmsgstr ""\n\n'
        '#, fuzzy\n#~ msgid "Open"\n#~ msgstr "x"\n\n#~| msgid "p"\n#~ msgid "Open"\n#~ msgstr "y"\n\n'
        'msgid "Last"\nmsgstr ""\n'
    )
    file = read(text)
    assert [(unit.context, unit.state) for unit in file.units] == [("verb", "new"), ("noun", "new"), ("", "new")]
    first, second, _ = file.units
    out = file.write({first.id: result("öffnen"), second.id: result("offen")}, WriteOptions(mark="none")).decode()
    assert out == text.replace('msgstr ""', 'msgstr "öffnen"', 1).replace('msgstr ""', 'msgstr "offen"', 1)
    # The flag of the obsolete message is not that of the next one.
    marked = file.write({"Last": result("Letzte")}).decode()
    assert marked == text.replace('msgid "Last"\nmsgstr ""', '#, fuzzy\nmsgid "Last"\nmsgstr "Letzte"')


def test_line_ends_byte_order_mark_and_a_missing_last_line_end_stay() -> None:
    text = b'\xef\xbb\xbf# x\r\nmsgid "a\\n"\r\n"b\\n"\r\nmsgstr ""'  # case 21
    (unit,) = read(text).units
    assert plain(unit.source) == "a\nb\n"
    out = read(text).write({unit.id: result("ä\nö\n")})
    assert out == (
        b'\xef\xbb\xbf# x\r\n#, fuzzy\r\nmsgid "a\\n"\r\n"b\\n"\r\nmsgstr ""\r\n"\xc3\xa4\\n"\r\n"\xc3\xb6\\n"'
    )


def test_quotes_backslashes_tabs_and_edges() -> None:
    text = 'msgid "\\n  two  \\"x\\" \\\\n\\t"\nmsgstr ""\n'  # case 18
    (unit,) = read(text).units
    assert plain(unit.source) == '\n  two  "x" \\n\t'
    assert written(text, {unit.id: (plain(unit.source),)}) == text.replace(
        'msgstr ""', 'msgstr "\\n  two  \\"x\\" \\\\n\\t"'
    )


def test_lines_wrap_where_the_files_do() -> None:
    # gettext breaks after a space so that a line has at most 79 columns.
    words = " ".join(["zwölf"] * 14)
    wrapped = (
        'msgid ""\n"aaaaaaaaaaaaaa aaaaaaaaaaaaaa aaaaaaaaaaaaaa aaaaaaaaaaaaaa aaaaaaaaaaaa "\n"bbb"\nmsgstr ""\n'
    )
    (unit,) = read(wrapped).units
    first = " ".join(["zwölf"] * 12) + " "
    assert written(wrapped, {unit.id: (words,)}) == wrapped[:-3] + f'""\n"{first}"\n"zwölf zwölf"\n'
    long = "a" * 50 + " " + "b" * 50
    unwrapped = f'msgid "{long}"\nmsgstr ""\n'
    assert written(unwrapped, {long: (words,)}) == f'msgid "{long}"\nmsgstr "{words}"\n'


@pytest.mark.parametrize(
    "message",
    [
        'msgid "translator-credits"\n',  # GNOME's developer documentation
        'msgctxt "NAME OF TRANSLATORS"\nmsgid "Your names"\n',  # KDE's localisation wiki
        'msgctxt "EMAIL OF TRANSLATORS"\nmsgid "Your emails"\n',
        'msgid "_: NAME OF TRANSLATORS\\n"\n"Your names"\n',
    ],
)
def test_where_translators_put_their_names_is_left_alone(message: str, tmp_path: Path) -> None:
    text = f'{message}msgstr ""\n\nmsgid "a"\nmsgstr "x"\n'
    assert [unit.is_translatable for unit in read(text).units] == [False, True]
    assert written(text, {"a": ("y",)}) == text.replace('"x"', '"y"')
    path = tmp_path / "x.po"
    path.write_text(text)
    assert len(list(read_po_pairs(path, Selection()))) == 1


def test_another_charset_is_kept_and_missing_characters_are_named() -> None:
    text = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=ISO-8859-1\\n"\n\nmsgid "a"\nmsgstr ""\n'
    assert read(text).write({"a": result("ä")}, WriteOptions(mark="none")).endswith(b'msgstr "\xe4"\n')
    with pytest.raises(DataError, match=r"'ł' \(U\+0142\), which iso8859-1, the encoding of the file, lacks"):
        read(text).write({"a": result("ł")})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'msgid "a"\nmsgstr "\xe4"\n', "x.po: line 2 is not utf-8"),  # case 40
        (b'msgid "a"\n', "line 1: a message needs both msgid and msgstr"),
        (b'msgid "a\nmsgstr ""\n', "line 1 has no string in quotes that ends"),
        (b"hello\n", "line 1 is not a line of a PO file: 'hello'"),
        (b"", "not a PO file, or it has no messages"),
        (b'msgid ""\nmsgstr "charset=nonsense\\n"\n', "'nonsense', which is not known"),
        (b'msgid ""\nmsgstr "Plural-Forms: nplurals=2; plural=(n;\\n"\n', "cannot be read"),
        (b'msgid ""\nmsgstr "Plural-Forms: nplurals=2; plural=n;\\n"\n', "gives the form 2 for the number 2"),
        (b'msgid ""\nmsgstr "Plural-Forms: nplurals=99; plural=0;\\n"\n', "it should be such as"),
        (b'msgid ""\nmsgstr "Plural-Forms: nplurals=2; plural=__import__;\\n"\n', "cannot be read at '_'"),
    ],
)
def test_what_is_no_po_file_is_refused_with_its_line(data: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(data)


@pytest.mark.parametrize(
    ("message", "said"),
    [  # msgfmt refuses each of them too
        (
            'msgid "a"\nmsgid_plural "b"\nmsgstr[0] ""\nmsgstr[9] ""\n',
            "line 1: the message has msgstr.0., msgstr.9., where",
        ),
        ('msgid "a"\nmsgid_plural "b"\nmsgstr[1] ""\n', "line 1: the message has msgstr.1., where"),
        ('msgid "a"\nmsgid_plural "b"\nmsgstr ""\n', "line 1: the message has msgstr, where it should have msgstr.0."),
        ('msgid "a"\nmsgstr[0] ""\nmsgstr[1] ""\n', "line 1: the message has .*, where it should have one msgstr"),
        ('msgid "a"\nmsgstr "b"\nmsgstr "c"\n', "line 3: the message has a second msgstr"),
    ],
)
def test_forms_that_gettext_cannot_read_are_refused(message: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said):
        read(message)
    (tmp_path / "x.po").write_text(message)
    if shutil.which("msgfmt") is not None:
        finished = subprocess.run(["msgfmt", "-o", "/dev/null", tmp_path / "x.po"], capture_output=True, check=False)
        assert finished.returncode == 1


def test_only_a_header_is_a_file_without_units() -> None:
    assert read(HEADER).units == ()


def test_results_for_other_units_are_refused() -> None:
    file = read('msgid "a"\nmsgstr ""\n')
    with pytest.raises(ValueError, match="not a unit"):
        file.write({"b": result("x")})
    with pytest.raises(ValueError, match="1 forms, its result 2"):
        file.write({"a": result("x", "y")})


@pytest.mark.skipif(shutil.which("msgfmt") is None, reason="gettext is not installed")
def test_msgfmt_accepts_what_is_written(tmp_path: Path) -> None:
    body = "".join(f'#, c-format\nmsgid "\\n%d {n} \\"q\\"\\\\\\n"\nmsgstr ""\n\n' for n in range(5))
    text = HEADER + PLURAL + 'msgstr[0] ""\nmsgstr[1] ""\n\n' + body
    file = read(text)
    results = {unit.id: result(*[plain(form.source) + "\n" * 0 for form in unit.forms]) for unit in file.units}
    path = tmp_path / "x.po"
    path.write_bytes(file.write(results, WriteOptions(mark="none")))
    finished = subprocess.run(["msgfmt", "-c", "-o", "/dev/null", path], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr


@pytest.mark.skipif(shutil.which("msgcat") is None, reason="gettext is not installed")
def test_what_is_written_is_wrapped_as_msgcat_does(tmp_path: Path) -> None:
    path = tmp_path / "x.po"
    texts = ["zwölf " * 14, "x" * 67 + " b c", "x" * 68 + " b c", "a\\tb " * 30 + "end", "one\ntwo " * 9, "short"]
    messages = "".join(f'msgid "{number} {"w " * 50}"\nmsgstr ""\n\n' for number, _ in enumerate(texts))
    path.write_text(HEADER + messages, encoding="utf-8")
    tidy = subprocess.run(["msgcat", path], capture_output=True, check=True).stdout
    file = read(tidy)
    results = {unit.id: result(text) for unit, text in zip(file.units, texts, strict=True)}
    out = file.write(results, WriteOptions(mark="none"))
    path.write_bytes(out)
    assert subprocess.run(["msgcat", path], capture_output=True, check=True).stdout == out
