"""A file of each format with something of everything, for properties that all formats share."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    name: str
    text: str
    target: str = "pl"
    encoding: str = "utf-8"


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
SAMPLES = (
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
