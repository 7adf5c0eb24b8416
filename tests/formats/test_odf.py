"""OpenDocument. Content is written by hand after OpenDocument 1.3, in the way of LibreOffice."""

from tests.formats.documents import read, sources, translated, write
from tests.formats.samples import zipped

from attendo.formats.zip_parts import ZipParts

NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "table", "style")
)
NAMES += ' xmlns:o="http://openoffice.org/2009/office"'
STYLES = (
    '<office:automatic-styles><style:style style:name="T1" style:family="text"><style:text-properties '
    'o:rsid="001"/></style:style>'
    + "".join(
        f'<style:style style:name="T{number}" style:family="text">'
        f'<style:text-properties weight="bold" o:rsid="{number}"/>'
        "</style:style>"
        for number in (2, 3)
    )
    + "</office:automatic-styles>"
)


def odt(body: str) -> bytes:
    inner = f"{STYLES}<office:body>{body}</office:body>"
    content = f'<?xml version="1.0"?><office:document-content {NAMES}>{inner}</office:document-content>'
    return zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})


def body_of(data: bytes) -> str:
    content = ZipParts(data).read("content.xml").decode()
    return content.partition("<office:body>")[2].partition("</office:body>")[0]


def span(style: str, text: str) -> str:
    return f'<text:span text:style-name="{style}">{text}</text:span>'


def test_spans_that_look_alike_are_one_and_plain_ones_are_text() -> None:
    spans = f"{span('T1', 'plain')} {span('T2', 'bo')}{span('T3', 'ld')}{span('Strong', 'x')}"
    body = f"<text:p>A {spans}<text:tab/>b</text:p>"
    file = read(odt(body), "x.odt")
    assert sources(file) == [
        'A plain «<text:span text:style-name="T2">»bold«</text:span>»'
        '«<text:span text:style-name="Strong">»x«</text:span>»«<text:tab/>»b'
    ]
    assert body_of(translated(file)) == (
        f"<text:p>A PLAIN {span('T2', 'BOLD')}{span('Strong', 'X')}<text:tab/>B</text:p>"
    )


def test_white_space_is_one_space_and_more_is_written_as_elements() -> None:
    file = read(odt("<text:h>\n  A\n  b <text:s/>c</text:h>"), "x.odt")
    assert sources(file) == ["A b «<text:s/>»c"]
    written = write(file, {"content.xml/1": "X   y\nz"})
    assert body_of(written) == '<text:h>\n  X <text:s text:c="2"/>y z<text:s/></text:h>'


def test_notes_and_boxes_are_units_of_their_own() -> None:
    note = "<text:note><text:note-body><text:p>Note</text:p></text:note-body></text:note>"
    file = read(odt(f"<text:p>A{note} b</text:p>"), "x.odt")
    assert sources(file) == [f"A«{note}» b", "Note"]
    assert body_of(translated(file)) == f"<text:p>A{note.replace('Note', 'NOTE')} B</text:p>"


def test_deletions_annotations_fields_and_computed_cells_stay() -> None:
    kept = (
        "<text:tracked-changes><text:deletion><text:p>gone</text:p></text:deletion></text:tracked-changes>"
        "<office:annotation><text:p>comment</text:p></office:annotation>"
        '<table:table table:name="Sheet1"><table:table-cell table:formula="of:=1"><text:p>1</text:p></table:table-cell>'
        '<table:table-cell office:value-type="float"><text:p>2</text:p></table:table-cell></table:table>'
        '<text:section text:display="none"><text:p>hidden</text:p></text:section>'
    )
    file = read(
        odt(kept + "<table:table-cell><text:p><text:page-number>3</text:page-number> page</text:p></table:table-cell>"),
        "x.ods",
    )
    assert sources(file) == ["«<text:page-number>3</text:page-number>» page"]
    assert body_of(translated(file)).startswith(kept)


def test_the_type_of_a_document_stays_the_first_member_and_stored() -> None:
    data = odt("<text:p>A</text:p>")
    out = translated(read(data, "x.odp"))
    assert out[:38] == data[:38]
    assert out[30:38] == b"mimetype"
    assert out[38 : 38 + 39] == b"application/vnd.oasis.opendocument.text"
