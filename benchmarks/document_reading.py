"""Measures what it costs to read files that people translate: hostile ones, a long message, a large XLIFF.

    python benchmarks/document_reading.py
    python benchmarks/document_reading.py --size 100000 --kind "md brackets" "html unclosed"
    python benchmarks/document_reading.py --xliff 50
    python benchmarks/document_reading.py --docx 18

Each kind is read, and written with every text changed, at a size and at twice that size, by processor time. A growth
of 2 is linear, one of 4 quadratic. `--xliff` makes an XLIFF of so many megabytes in place of these, `--docx` a document
with so many megabytes of XML, and tells the memory that reading and writing it take too.
"""

import argparse
import cProfile
import io
import pstats
import resource
import sys
import time
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the kinds, which are part of the tests

from tests.hostile.documents import HTML, MARKDOWN

from attendo.errors import DataError
from attendo.formats.file import File, Languages, Result
from attendo.formats.table import read_file

LANGUAGES = Languages(source="en", target="de")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=50_000, help="characters; each kind is read at twice the size too")
    parser.add_argument("--kind", nargs="+", default=[])
    parser.add_argument("--xliff", type=int, help="megabytes of an XLIFF to be read and profiled")
    parser.add_argument("--docx", type=int, help="megabytes of XML of a document to be read and written")
    arguments = parser.parse_args()
    if arguments.xliff:
        profile_xliff(arguments.xliff)
        return
    if arguments.docx:
        measure_docx(arguments.docx)
        return
    kinds = {f"html {name}": ("x.html", make) for name, make in HTML.items()}
    kinds |= {f"md {name}": ("x.md", make) for name, make in MARKDOWN.items()}
    kinds["po message"] = ("x.po", lambda size: f'msgid "{"Some words. " * (size // 12)}"\nmsgstr ""\n')
    kinds["xliff codes"] = ("x.xlf", lambda size: XLIFF.format('<x id="1"/>a ' * (size // 13)))
    kinds["srt cue"] = ("x.srt", lambda size: "1\n00:00:01,000 --> 00:00:02,000\n" + "word " * (size // 5) + "\n")
    rows = []
    for kind, (name, make) in kinds.items():
        if not arguments.kind or kind in arguments.kind:
            first, second = (seconds(make(size).encode(), name) for size in (arguments.size, 2 * arguments.size))
            rows.append((second, second / max(first, 1e-3), kind))
    for second, growth, kind in sorted(rows, reverse=True):
        print(f"{kind:<24} {second:7.3f} s  growth {growth:5.2f}")


XLIFF = (
    '<xliff version="1.2"><file source-language="en" target-language="de"><body><trans-unit id="1"><source>{}</source>'
    "</trans-unit></body></file></xliff>"
)


def seconds(data: bytes, name: str) -> float:
    """Processor time of reading a file and of writing it with every text twice."""
    started = time.process_time()
    try:
        file = read_file(data, name, LANGUAGES)
    except DataError:
        return time.process_time() - started
    file.write(doubled(file))
    return time.process_time() - started


def doubled(file: File) -> dict[str, Result]:
    """Results that have the strings of every text twice."""
    return {
        unit.id: Result(
            texts=tuple(
                tuple(part + part if isinstance(part, str) else part for part in form.source) for form in unit.forms
            )
        )
        for unit in file.units
        if unit.is_translatable
    }


def profile_xliff(megabytes: int) -> None:
    """Reads and writes an XLIFF of many units, and shows where the time goes."""
    unit = (
        '      <trans-unit id="{0}" xml:space="preserve">\n        <source>Open the file <x id="INTERPOLATION"/> in a '
        'new window &amp; close the other {0}</source>\n        <context-group purpose="location">\n          <context '
        'context-type="sourcefile">src/app/some/folder/component-{0}.html</context>\n          <context '
        'context-type="linenumber">{0}</context>\n        </context-group>\n      </trans-unit>\n'
    )
    head, tail = XLIFF.split('<trans-unit id="1"><source>{}</source></trans-unit>')
    count = megabytes * 1_000_000 // len(unit)
    data = f"{head}\n{''.join(map(unit.format, range(count)))}{tail}".encode()
    profile = cProfile.Profile()
    started = time.process_time()
    file = read_file(data, "x.xlf", LANGUAGES)
    read = time.process_time()
    file.write(doubled(file))
    print(
        f"{len(data):,} bytes, {len(file.units):,} units: {read - started:.1f} s read, "
        f"{time.process_time() - read:.1f} s written"
    )
    profile.runcall(
        read_file, data[: len(head) + 10_000_000].rpartition(b"      <trans-unit")[0] + tail.encode(), "x.xlf"
    )
    pstats.Stats(profile).sort_stats("tottime").print_stats(15)


def measure_docx(megabytes: int) -> None:
    """Reads and writes a document whose paragraphs have runs of several formattings."""
    data = docx(megabytes)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    file = read_file(data, "x.docx", LANGUAGES)
    read, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    file.write(doubled(file))
    written, most = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{len(file.units):,} paragraphs: {read - started:.1f} s and {(memory - before) >> 10} MiB read, "
        f"{written - read:.1f} s and {(most - before) >> 10} MiB in all written"
    )


def docx(megabytes: int) -> bytes:
    """A document with so many megabytes of XML."""
    names = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    looks = ("", "<w:b/>", "<w:i/>", '<w:rFonts w:ascii="Arial" w:hAnsi="Arial"/><w:sz w:val="22"/>')
    paragraphs, size, number = [], 0, 0
    while size < megabytes * 1_000_000:
        number += 1
        runs = "".join(
            f'<w:r w:rsidRPr="00{(number * run) % 97:06X}">'
            f'<w:rPr>{looks[number * run % 4]}<w:lang w:val="en-US"/></w:rPr>'
            f'<w:t xml:space="preserve">Some words of sentence {number} \u2019 part {run} </w:t></w:r>'
            '<w:proofErr w:type="spellStart"/>'
            for run in range(1, 2 + number % 7)
        )
        paragraphs.append(f'<w:p w:rsidR="00{number % 89:06X}"><w:pPr><w:jc w:val="both"/></w:pPr>{runs}</w:p>')
        size += len(paragraphs[-1])
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("word/document.xml", f"<w:document {names}><w:body>{''.join(paragraphs)}</w:body></w:document>")
    return archive.getvalue()


if __name__ == "__main__":
    main()
