"""Glossary files: expected values are the conventions of OmegaT, DeepL, Weblate and TBX, written out by hand."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attendo.errors import DataError
from attendo.terms.files import joined_glossaries, parse_glossary, read_glossary
from attendo.terms.glossary import Glossary
from attendo.terms.term import Term

TBX2 = """<?xml version="1.0"?>
<!DOCTYPE martif SYSTEM "TBXcoreStructV02.dtd">
<martif type="TBX" xml:lang="en"><text><body>
<termEntry id="1">
 <langSet xml:lang="en-US"><tig><term>hard &amp; fast</term></tig><tig><term>HF</term></tig></langSet>
 <langSet xml:lang="de"><ntig><termGrp><term>alt</term>
   <termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote></termGrp></ntig>
  <tig><term>zul\u00e4ssig</term><termNote type="administrativeStatus">admittedTerm-admn-sts</termNote></tig>
  <tig><term>gut</term><termNote type="administrativeStatus">preferredTerm-admn-sts</termNote></tig></langSet>
</termEntry>
<termEntry><langSet xml:lang="en"><tig><term>only</term></tig></langSet></termEntry>
</body></text></martif>"""
TBX3 = """<tbx style="dca" type="TBX-Basic" xml:lang="en" xmlns="urn:iso:std:iso:30042:ed-2"
 xmlns:min="http://www.tbxinfo.net/ns/min"><text><body><conceptEntry id="c1">
<langSec xml:lang="en"><termSec><term>key</term></termSec></langSec>
<langSec xml:lang="de-AT"><termSec><term><![CDATA[Schl\u00fcssel]]></term></termSec>
<termSec><term>Taste</term><min:administrativeStatus>supersededTerm-admn-sts</min:administrativeStatus></termSec></langSec>
</conceptEntry></body></text></tbx>"""


def _bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def parsed(text: str, ending: str, **languages: str) -> Glossary:
    return parse_glossary(text.encode(), ending, **languages)


def pairs(glossary: Glossary) -> list[tuple[str, str]]:
    return [(term.source, term.target) for term in glossary.terms]


def test_omegat_s_files_have_comments_and_several_translations() -> None:
    text = "# Glossary in tab-separated format -*- coding: utf-8 -*-\nfile\tDatei\ta note\n\nfile\tAkte\nfile\tDatei\n"
    found = parsed(text, ".utf8")
    assert found.terms == (Term(source="file", target="Datei", alternatives=("Akte",), comment="a note"),)
    assert found.notes == ("lines 2 and 4: 'file' has several translations; any of them is accepted",)


def test_omegat_s_line_names_another_encoding() -> None:
    content = "# -*- coding: latin-1 -*-\nkey\tSchl\u00fcssel\n".encode("latin-1")
    assert pairs(parse_glossary(content, ".txt")) == [("key", "Schl\u00fcssel")]


def test_deepl_s_columns_name_languages_row_by_row() -> None:
    text = "file,Datei,en,de\nfile,fichier,en,fr\nkey,Schl\u00fcssel,EN-US,de-AT\n"
    found = parsed(text, ".csv", source="en", target="de")
    assert pairs(found) == [("file", "Datei"), ("key", "Schl\u00fcssel")]
    assert found.notes == ("entries of other languages, which are left out: 1",)


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ('\ufeffhello,"Guten, ""Tag"""\r\n', ".csv"),
        ('hello;"Guten, ""Tag"""\n', ".csv"),
        ('hello\t"Guten, ""Tag"""\n', ".tsv"),
        ('note,source,target\n,hello,"Guten, ""Tag"""\n', ".csv"),
        ('fr,de,en\nbonjour,"Guten, ""Tag""",hello\n', ".csv"),
    ],
)
def test_quotes_marks_and_headers(text: str, ending: str) -> None:
    assert pairs(parsed(text, ending, source="en", target="de")) == [("hello", 'Guten, "Tag"')]


def test_columns_with_forms_alternatives_and_forbidden_words() -> None:
    text = (
        "source\ttarget\tforms\tforbidden\talternatives\tflags\n"
        "child\tKind\tKinder | Kindern\tBalg|G\u00f6re\tKleinkind\t\n"
        "Foo\t\t\t\t\tread-only\nuser\tBenutzer\t\tyes\t\t\nold\tAlt\t\t\t\tforbidden\n"
    )
    child, foo, user, old = parsed(text, ".tsv").terms
    assert child.forms == ("Kinder", "Kindern")
    assert (child.forbidden, child.alternatives) == (("Balg", "G\u00f6re"), ("Kleinkind",))
    assert foo.is_verbatim
    assert (user.target, user.forbidden) == ("", ("Benutzer",))
    assert (old.target, old.forbidden) == ("", ("Alt",))


def test_tbx_2() -> None:
    first, second = parsed(TBX2, ".tbx", source="en", target="de").terms
    assert (first.source, first.target) == ("hard & fast", "gut")
    assert (first.alternatives, first.forbidden) == (("zul\u00e4ssig",), ("alt",))
    assert second.source == "HF"


def test_tbx_3_names_its_languages_itself() -> None:
    found = parsed(TBX3, ".tbx")
    assert found.terms == (Term(source="key", target="Schl\u00fcssel", forbidden=("Taste",)),)
    assert (found.source_language, found.target_language) == ("en", "de")


def test_a_term_base_of_many_languages_has_to_be_told_which() -> None:
    more = TBX3.replace(
        "</conceptEntry>", '<langSec xml:lang="fr"><termSec><term>x</term></termSec></langSec></conceptEntry>'
    )
    with pytest.raises(DataError, match="has the languages en, de, fr; say which is the source and which the target"):
        parsed(more, ".tbx")


def test_entries_that_contradict_each_other_are_named_with_both_lines(tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv"
    path.write_text("# mine\nfile\tDatei\nIT\tEDV\nit\tes\nFile\tAkte\nfile\tDatei\n", encoding="utf-8")
    with pytest.raises(DataError) as error:
        read_glossary(path)
    message = str(error.value)
    assert message.startswith(f"{path}: a term is there twice; keep one entry")
    assert "line 5: 'File' is translated as 'Akte', but in line 2 as 'Datei'" in message
    assert "line 6: 'file' is there already, in line 2" in message
    assert "IT" not in message


def test_bad_entries_are_named_and_counted() -> None:
    rows = ["good,gut", "=A1,Zelle", "none,", ",nichts", "a,b,c,d,e", "--,Strich", f"long,{'x' * 1025}"]
    rows += [f"empty{number}," for number in range(9)]
    found = parsed("\n".join(rows), ".csv")
    assert pairs(found) == [("good", "gut"), ("=A1", "Zelle")]
    formulas, *left_out = found.notes
    assert formulas == "entries that begin like a formula, which spreadsheets may change: 1, in line 2"
    assert left_out[0] == "line 5: has 5 columns, and the table no header that names them; the entry is left out"
    assert left_out[1] == "line 3: has no translation of 'none'; the entry is left out"
    assert left_out[2] == "line 4: has no term; the entry is left out"
    assert left_out[3] == "line 6: has neither a letter nor a digit in '--'; the entry is left out"
    assert left_out[4] == "line 7: has more than 1,024 bytes in a field of 'long'; the entry is left out"
    assert left_out[-1] == "4 more entries are left out"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "has no entry that can be used"),
        ("a.csv", b'a,"b', r"line 1: is no CSV \(unexpected end of data\)"),
        ("a.csv", b"a,\xff", "line 1 is not utf-8"),
        ("a.tbx", b"<html/>", "this is no TBX: its outermost element is <html>"),
        ("a.tbx", b"<tbx>", "line 1 is not well-formed XML"),
        ("a.tbx", b'<!DOCTYPE tbx [<!ENTITY a "b">]><tbx/>', "declares an entity"),
        ("a.xls", b"a", "is no glossary by its name; take .csv, .tsv, .tbx, or .utf8, .tab or .txt for OmegaT's"),
        ("a.tsv", b"a\tb\x01", "has a control character or half of a surrogate pair in 'a'"),
    ],
)
def test_files_that_cannot_be_used(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"{name}: .*{message}"):
        read_glossary(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.csv: No such file"):
        read_glossary(tmp_path / "none.csv")


@settings(max_examples=150, deadline=None)
@given(
    content=st.binary(max_size=60) | st.text('ab\t,;"\n#|<>/&=\u00e4\ud800', max_size=60).map(_bytes_of),
    ending=st.sampled_from([".csv", ".tsv", ".utf8", ".tbx"]),
)
def test_whatever_a_stranger_sends_is_a_glossary_or_an_error(content: bytes, ending: str) -> None:
    try:
        found = parse_glossary(content, ending, source="en", target="de")
    except DataError:
        return
    assert all(term.source and (term.target or term.forbidden) for term in found.terms)
    found.required("a b ab")


def test_of_several_glossaries_the_first_counts() -> None:
    first, second = parsed("file,Datei", ".csv", source="en"), parsed("file,Akte\nkey,Taste", ".csv", source="en")
    joined = joined_glossaries([first, second])
    assert sorted(pairs(joined)) == [("file", "Datei"), ("key", "Taste")]
    assert joined.notes == ("terms that an earlier glossary has too, which counts: 1 (file)",)
    with pytest.raises(DataError, match="one glossary has the language en, and another fr; give those of one pair"):
        joined_glossaries([first, parsed("a,b", ".csv", source="fr")])
