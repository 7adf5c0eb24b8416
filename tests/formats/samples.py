"""A file of each format with something of everything, for properties that all formats share."""

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    """An archive of members in their order; `mimetype` is stored, as EPUB and OpenDocument want it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, (2020, 1, 2, 3, 4, 6))
            info.compress_type = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return out.getvalue()


@dataclass(frozen=True)
class Sample:
    name: str
    text: str = ""
    target: str = "pl"
    encoding: str = "utf-8"
    members: tuple[tuple[str, str], ...] = ()

    def data(self) -> bytes:
        return zipped(dict(self.members)) if self.members else self.text.encode(self.encoding)


_PO = (
    'msgid ""\nmsgstr ""\n"Language: pl\\n"\n'
    '"Plural-Forms: nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 ? 1 : 2);\\n"\n\n'
    '# a\n#: b.c:1\n#, c-format\n#| msgid "old"\nmsgid "%d file"\nmsgid_plural "%d files"\n'
    'msgstr[0] ""\nmsgstr[1] ""\n\n'
    '#, fuzzy\nmsgid ""\n"two\\n"\n"lines"\nmsgstr "x"\n\nmsgctxt "c"\nmsgid "two"\nmsgstr ""\n\n'
    '#~ msgid "gone"\n#~ msgstr "weg"'
)
_XLIFF = """<?xml version='1.0'?>
<xliff version="1.2"><file source-language="en"><body>
 <trans-unit id="1"><source>A <g id="1">b</g></source><note>n</note></trans-unit>
 <trans-unit id="2"><source><![CDATA[A & b]]></source><target state="new"/></trans-unit>
 <trans-unit id="3"><source>A. B.</source>
  <seg-source><mrk mtype="seg" mid="0">A.</mrk> <mrk mtype="seg" mid="1">B.</mrk></seg-source></trans-unit>
 <trans-unit id="4"><source>A</source><target state='needs-l10n'>Z</target></trans-unit>
</body></file></xliff>"""
_XLIFF2 = """<xliff version="2.1" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en"><file id="f"><unit id="u">
<segment><source>A <ph id="1"/></source></segment><ignorable><source> </source></ignorable>
<segment state='initial' subState='x:y'><source>B</source><target>x</target></segment></unit></file></xliff>"""
_TMX = """<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en">
<seg>A</seg></tuv></tu><tu><tuv xml:lang="en"><seg>B</seg></tuv><tuv xml:lang="pl-PL"><seg/></tuv></tu></body></tmx>"""
_ANDROID = r"""<resources>
 <string name="a">It\'s \u00e9 <b>x</b></string><!-- c -->
 <string name="b"/><string name="q">" x "</string><string name="c"><![CDATA[a]]></string>
 <string-array name="d"><item>A</item></string-array>
 <plurals name="e"><item quantity="one">A</item><item quantity="other">B</item></plurals>
</resources>"""
_STRINGSDICT = """<plist><dict><key>k</key><dict><key>n</key><dict>
<key>one</key><string>A</string>
<key>other</key><string>B</string>
</dict></dict></dict></plist>"""
_TS = """<!DOCTYPE TS><TS version="2.1"><context><name>c</name>
<message><source>A</source><translation type="unfinished"></translation></message>
<message><source>B</source></message>
<message numerus="yes"><source>%n</source>
  <translation type='unfinished'><numerusform/></translation></message>
<message><source>C</source><translation type="vanished">Z</translation></message></context></TS>"""

_XCSTRINGS = """{"sourceLanguage": "en", "strings": {"A": {},
"B": {"localizations": {"pl": {"stringUnit": {"state": "new", "value": ""}}}},
"C": {"localizations": {"en": {"variations": {"plural": {"one": {"stringUnit": {"state": "new", "value": "C"}},
"other": {"stringUnit": {"state": "new", "value": "D"}}}}}}}}}"""
_HTML = """<!doctype html><html lang='en'><head><title>T &amp; t</title><meta name=description content=D></head>
<body><p title="p">A <b>b</b> <a href="x" title='h'>c</a>
 d &copy; <code>e</code></p><ul><li>f<li>g</ul><pre>h
 i</pre><script>j</script><input type=submit value=k></body></html>"""
_MARKDOWN = """---
title: 'A: b'
---
# B {#b}

C *d* `e` [f](g "h")
i ![j](k) [l].

> - m\\
>   n

| o | p |
|---|---|
| q \\| | <b>r</b> |

[l]: s (t)

!!! note "u"
    v

<div>w</div>
"""
_YAML = """# c
en:
  a: A
  b: 'B'
  "c": "C \\u00e9"
  d: |
    D
    e

  f: >-
    F
  g:
    one: G
    other: H
  i: [I, :j, 5]
"""
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
_S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_DOCX = (
    ("[Content_Types].xml", "<Types/>"),
    (
        "word/document.xml",
        f"""<w:document {_W}><w:body><w:p><w:pPr/><w:r><w:t>A</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>b</w:t></w:r>
        <w:r><w:tab/><w:t>c</w:t></w:r></w:p><w:p><w:hyperlink><w:r><w:t>d</w:t></w:r></w:hyperlink></w:p></w:body>
        </w:document>""",
    ),
    ("word/styles.xml", f'<w:styles {_W}><w:lang w:val="en-US"/></w:styles>'),
    ("word/footer1.xml", f"<w:ftr {_W}><w:p><w:r><w:t>e</w:t></w:r></w:p></w:ftr>"),
)
_PPTX = (
    ("ppt/presentation.xml", "<p/>"),
    (
        "ppt/slides/slide1.xml",
        f'<p:sld xmlns:p="p" {_A}><a:p><a:r><a:rPr lang="en-US"/><a:t>A</a:t></a:r><a:endParaRPr/></a:p></p:sld>',
    ),
)
_XLSX = (
    ("xl/workbook.xml", "<w/>"),
    (
        "xl/sharedStrings.xml",
        f"<sst {_S}><si><t>A</t></si><si><r><t>B</t></r><r><rPr><b/></rPr><t>c</t></r></si></sst>",
    ),
    ("xl/worksheets/sheet1.xml", f'<worksheet {_S}><c t="inlineStr"><is><t>D</t></is></c></worksheet>'),
)
_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
_ODT = (
    ("mimetype", "application/vnd.oasis.opendocument.text"),
    (
        "content.xml",
        f'<o xmlns:text="{_TEXT}"><text:h>A</text:h><text:p>B <text:span text:style-name="x">c</text:span>'
        "<text:note><text:p>D</text:p></text:note> e</text:p></o>",
    ),
)
_OPF = """<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>A</dc:title>
<dc:language>en</dc:language></metadata><manifest><item id="p" href="p.xhtml" media-type="application/xhtml+xml"/>
<item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest><spine><itemref idref="p"/></spine>
</package>"""
EPUB = (
    ("mimetype", "application/epub+zip"),
    ("META-INF/container.xml", '<container><rootfile full-path="b/c.opf"/></container>'),
    ("b/c.opf", _OPF),
    (
        "b/p.xhtml",
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en"><body><p>B<br/>c</p></body>'
        "</html>",
    ),
    ("b/toc.ncx", "<ncx><docTitle><text>A</text></docTitle><navLabel><text>C</text></navLabel></ncx>"),
)
SAMPLES = (
    Sample("x.html", _HTML),
    Sample("x.html", _HTML.replace("\n", "\r\n"), encoding="utf-16"),
    Sample("x.md", _MARKDOWN),
    Sample("x.md", _MARKDOWN.replace("\n", "\r\n")),
    Sample("x.docx", members=_DOCX),
    Sample("x.pptx", members=_PPTX),
    Sample("x.xlsx", members=_XLSX),
    Sample("x.odt", members=_ODT),
    Sample("x.yml", _YAML),
    Sample("x.yml", _YAML.replace("\n", "\r\n")),
    Sample("x.epub", members=EPUB),
    Sample("x.po", _PO),
    Sample("x.po", _PO.replace("\n", "\r\n")),
    Sample("x.xlf", _XLIFF),
    Sample("x.xlf", _XLIFF.replace("\n", "\r\n"), encoding="utf-16"),
    Sample("x.xliff", _XLIFF2),
    Sample("x.tmx", _TMX),
    Sample("strings.xml", _ANDROID),
    Sample("x.strings", '/* c */ "a" = "A";\n"b" = "B";'),
    Sample("x.strings", '"a" = "A";\r\nb="B";', encoding="utf-16"),
    Sample("x.stringsdict", _STRINGSDICT),
    Sample("x.xcstrings", _XCSTRINGS),
    Sample("x.properties", "# c\na=A\\\n  b\nb : caf\\u00e9\n"),
    Sample("x.resx", '<root><data name="a"><value>A</value></data><data name="b"><value>&lt;</value></data></root>'),
    Sample("x.ts", _TS),
    Sample("x.arb", '{"@@locale": "en", "a": "A", "@a": {}}'),
    Sample("x.json", '{"a": ["A", {"b": "B\\u00e9"}], "k_one": "O", "k_other": "P", "z": 1}'),
    Sample(
        "x.ftl", "# c\na = A { $b }\n    .c = C\nf = { $n ->\n    [one] O\n   *[other] P\n }\n\nl =\n    one\n    two\n"
    ),
    Sample("x.csv", "source,target\nA,\nB\n"),
    Sample("x.tsv", 'source\ttarget\n"A"\t""\n'),
    Sample("x.srt", "1\n00:00:01,000 --> 00:00:02,000\n<i>A</i>\n\n"),
    Sample("x.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nA\n"),
    Sample("x.txt", " A\r\n\r\nB"),
)
