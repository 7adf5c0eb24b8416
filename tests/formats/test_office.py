"""Office Open XML. Files are made and read back by python-docx, or written by hand after ECMA-376."""

import io
import re
from typing import Any

import docx
import pytest
from tests.formats.documents import read, shown, sources, translated, write
from tests.formats.samples import zipped

from attendo.errors import DataError
from attendo.formats.contents import plain
from attendo.formats.file import result
from attendo.formats.zip_parts import ZipParts

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def word(body: str, **members: str) -> bytes:
    head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
    document = f"{head}<w:document {W}><w:body>{body}</w:body></w:document>"
    others = {f"word/{name}.xml": content for name, content in members.items()}
    return zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": document, **others})


def body_of(data: bytes) -> str:
    found = re.search("<w:body>(.*)</w:body>", ZipParts(data).read("word/document.xml").decode(), re.S)
    assert found is not None
    return found[1]


def run(text: str, properties: str = "") -> str:
    return f"<w:r>{properties}<w:t>{text}</w:t></w:r>"


BOLD = "<w:rPr><w:b/></w:rPr>"


def made_by_python_docx() -> bytes:
    document: Any = docx.Document()
    paragraph = document.add_paragraph("Plain ")
    paragraph.add_run("bold").bold = True
    paragraph.add_run(" a").add_tab()
    paragraph.runs[-1].add_text("b")
    document.add_heading("Heading", 1)
    document.add_table(1, 2).cell(0, 1).text = "Cell"
    document.sections[0].header.paragraphs[0].text = "Header"
    document.sections[0].footer.paragraphs[0].text = "Footer"
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def test_another_library_reads_the_translation_with_its_formatting() -> None:
    data = made_by_python_docx()
    file = read(data, "x.docx")
    assert file.write({}) == data
    out: Any = docx.Document(io.BytesIO(translated(file)))
    runs = [(run.text, run.bold) for run in out.paragraphs[0].runs]
    assert runs == [("PLAIN ", None), ("BOLD", True), (" A", None), ("\t", None), ("B", None)]
    assert out.paragraphs[1].text == "HEADING"
    assert out.paragraphs[1].style.name == "Heading 1"
    assert out.tables[0].cell(0, 1).text == "CELL"
    assert [part.paragraphs[0].text for part in (out.sections[0].header, out.sections[0].footer)] == [
        "HEADER",
        "FOOTER",
    ]


def test_members_without_text_are_copied_as_they_are_packed() -> None:
    data = made_by_python_docx()
    out = translated(read(data, "x.docx"))
    old, new = ZipParts(data), ZipParts(out)
    assert new.names == old.names
    changed = {name for name in old.names if old.read(name) != new.read(name)}
    assert changed == {"word/document.xml", "word/header1.xml", "word/footer1.xml", "word/styles.xml"}
    styles = old.read("word/styles.xml").replace(b'w:val="en-US"', b'w:val="de"')
    assert new.read("word/styles.xml") == styles


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (run("wo") + "<w:proofErr/>" + run("rd", '<w:rPr><w:lang w:val="en-US"/></w:rPr>'), ["word"]),
        (run("aaa ") + run("b", BOLD) + run(" ", "<w:rPr><w:i/></w:rPr>") + run("c", BOLD), ["aaa «<b>»b c«</b>»"]),
        (run("a") + f"<w:del>{run('gone')}</w:del><w:ins>{run('new')}</w:ins>", None),
        (run("a", "<w:rPr><w:vanish/></w:rPr>") + run("b"), ["b"]),
        (run("a") + "<w:r><w:noBreakHyphen/></w:r>" + run("b"), ["a\u2011b"]),
        ("<w:r><w:drawing/></w:r>" + run(" a &amp; b ") + "<w:bookmarkEnd/>", [" a & b "]),
        ("<w:r><w:tab/></w:r>", []),
    ],
)
def test_runs_become_text_and_codes(body: str, expected: list[str] | None) -> None:
    file = read(word(f"<w:p><w:pPr><w:jc/></w:pPr>{body}</w:p>"), "x.docx")
    found = [text.replace(f"<w:r>{BOLD}", "<b>").replace("«</w:r>»", "«</b>»") for text in sources(file)]
    if expected is None:
        expected = [f"a«<w:del>{run('gone')}</w:del>»«<w:ins>»new«</w:ins>»"]
    assert found == expected


def test_fields_stay_with_their_results_and_links_are_translated() -> None:
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>' + run("7") + '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    simple = f'<w:fldSimple w:instr="DATE">{run("today")}</w:fldSimple>'
    body = f'<w:p>{run("Page ")}{field}{run(" of ")}{simple}<w:hyperlink r="1">{run("link")}</w:hyperlink></w:p>'
    file = read(word(body), "x.docx")
    assert sources(file) == [f'Page «{field}» of «{simple}»«<w:hyperlink r="1">»link«</w:hyperlink>»']
    expected = body.replace(">Page <", ' xml:space="preserve">PAGE <').replace("> of <", ' xml:space="preserve"> OF <')
    assert body_of(translated(file)) == expected.replace("link</w:t>", "LINK</w:t>")


def test_a_translation_moves_codes_and_lost_ones_stay_well_formed() -> None:
    body = f"<w:p>{run('a ')}{run('b', BOLD)}<w:r><w:tab/></w:r></w:p>"
    file = read(word(body + body.replace("<w:r><w:tab/></w:r>", f"<w:r><w:tab/></w:r>{run('c')}")), "x.docx")
    first, second = (unit.source for unit in file.units)
    assert shown(first) == f"a «<w:r>{BOLD}»b«</w:r>»"
    moved = write(file, {file.units[0].id: (first[1], "B", first[3], " A")})
    space = ' xml:space="preserve"'
    assert body_of(moved).startswith(f"<w:p>{run('B', BOLD)}<w:r><w:t{space}> A</w:t></w:r><w:r><w:tab/></w:r></w:p>")
    lost = file.write({file.units[1].id: result("X")})
    assert body_of(lost).endswith(f"<w:p>{run('X')}<w:r><w:tab/></w:r></w:p>")
    assert len(second) == 6


def test_text_boxes_within_paragraphs_are_units_of_their_own() -> None:
    box = f"<w:r><w:pict><w:txbxContent><w:p>{run('Box')}</w:p></w:txbxContent></w:pict></w:r>"
    body = f"<w:p>{run('Before ')}{box}{run(' after')}</w:p>"
    file = read(word(body), "x.docx")
    assert [plain(unit.source) for unit in file.units] == ["Before  after", "Box"]
    out = body_of(translated(file))
    assert "BEFORE " in out
    assert "<w:txbxContent><w:p><w:r><w:t>BOX</w:t></w:r></w:p></w:txbxContent>" in out
    assert body_of(write(file, {file.units[1].id: "K"})) == body.replace("Box", "K")


def test_notes_are_read_and_comments_and_entities_are_not() -> None:
    part = f"<w:x {W}><w:p>{run('Note')}</w:p></w:x>"
    file = read(word("", footnotes=part, comments=part, header3=part), "x.docx")
    assert [unit.id for unit in file.units] == ["word/footnotes.xml/1", "word/header3.xml/1"]
    hostile = f'<!DOCTYPE x [<!ENTITY a "b">]><w:x {W}><w:p>{run("&a;")}</w:p></w:x>'
    with pytest.raises(DataError, match=r"x\.docx: word/footnotes\.xml: line 1 declares an entity"):
        read(word("", footnotes=hostile), "x.docx")
    with pytest.raises(DataError, match=r"x\.docx: word/footer1\.xml: line 1 is not well-formed XML"):
        read(word("", footer1="<a>"), "x.docx")


def test_a_result_for_no_unit_is_refused() -> None:
    file = read(word(f"<w:p>{run('a')}</w:p>"), "x.docx")
    for name in ("1", "word/other.xml/1", "word/document.xml/2"):
        with pytest.raises(ValueError, match="is not a unit of the file that may be translated"):
            write(file, {name: "x"})


SLIDE = (
    '<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:p><a:pPr/>'
    '<a:r><a:rPr lang="en-US" dirty="0"/><a:t>Big </a:t></a:r><a:r><a:rPr lang="en-GB"/><a:t>title</a:t></a:r><a:br/>'
    '<a:r><a:rPr b="1"/><a:t>now</a:t></a:r><a:fld type="slidenum"><a:t>3</a:t></a:fld><a:endParaRPr/></a:p></p:sld>'
)


def test_slides_and_their_notes() -> None:
    members = {"ppt/presentation.xml": "<p/>"}
    members |= {f"ppt/slides/slide{number}.xml": SLIDE for number in (10, 2)}
    members |= {"ppt/notesSlides/notesSlide1.xml": SLIDE, "ppt/slideMasters/slideMaster1.xml": SLIDE}
    file = read(zipped(members), "x.pptx")
    assert [unit.id.split("/")[2] for unit in file.units] == ["slide2.xml", "slide10.xml", "notesSlide1.xml"]
    assert sources(file)[0] == 'Big title«<a:br/>»«<a:r><a:rPr b="1"/>»now«</a:r>»'
    new = ZipParts(translated(file)).read("ppt/slides/slide2.xml").decode()
    assert '<a:r><a:rPr lang="de" dirty="0"/><a:t>BIG TITLE</a:t></a:r><a:br/><a:r><a:rPr b="1"/><a:t>NOW' in new
    assert new.endswith('<a:fld type="slidenum"><a:t>3</a:t></a:fld><a:endParaRPr/></a:p></p:sld>')


S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
WORKBOOK = {
    "xl/workbook.xml": f'<workbook {S}><sheets><sheet name="Sheet one"/></sheets></workbook>',
    "xl/sharedStrings.xml": f'<sst {S}><si><t xml:space="preserve"> a &lt;</t></si><si><t>Header</t></si>'
    "<si><r><t>x </t></r><r><rPr><b/></rPr><t>y</t></r><rPh><t>kana</t></rPh></si><si><t/></si></sst>",
    "xl/worksheets/sheet1.xml": f'<worksheet {S}><c t="inlineStr"><is><t>In</t></is></c>'
    '<c><f>A1&amp;"t"</f><v>5</v></c></worksheet>',
    "xl/worksheets/sheet2.xml": f"<worksheet {S}><c><v>1</v></c></worksheet>",
    "xl/tables/table1.xml": f'<table {S}><tableColumn name="Header"/></table>',
}


def test_cells_are_translated_and_headers_of_tables_formulas_and_names_stay() -> None:
    file = read(zipped(WORKBOOK), "x.xlsx")
    assert sources(file) == [" a <", "x «<r><rPr><b/></rPr>»y«</r>»", "In"]
    parts = ZipParts(translated(file))
    assert parts.read("xl/sharedStrings.xml").decode() == (
        WORKBOOK["xl/sharedStrings.xml"]
        .replace(" a &", " A &")
        .replace(">x <", ' xml:space="preserve">X <')
        .replace(">y<", ">Y<")
    )
    assert parts.read("xl/worksheets/sheet1.xml").decode() == WORKBOOK["xl/worksheets/sheet1.xml"].replace(
        ">In<", ">IN<"
    )
    assert parts.read("xl/workbook.xml").decode() == WORKBOOK["xl/workbook.xml"]


@pytest.mark.parametrize("name", ["x.docx", "x.pptx", "x.xlsx", "x.odt", "x.epub"])
def test_another_archive_is_refused(name: str) -> None:
    ending = name.partition(".")[2]
    with pytest.raises(DataError, match=rf"{name}: the document is no \.{ending}.*: it has no "):
        read(zipped({"a": "b"}), name)
    with pytest.raises(DataError, match=rf"{name}: the document is no ZIP archive"):
        read(b"text", name)
