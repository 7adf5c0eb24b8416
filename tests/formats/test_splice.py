"""What holds for every format: bytes outside of the declared spans stay, and what is written is read again."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.formats.samples import SAMPLES, Sample

from attendo.formats.archive import ArchiveFile
from attendo.formats.contents import Code, Content, joined, plain
from attendo.formats.file import File, Languages, Mark, Result, WriteOptions
from attendo.formats.known import FORMATS
from attendo.formats.table import read_file
from attendo.formats.zip_parts import ZipParts

DOCUMENTS = ("html", "markdown", "docx", "pptx", "xlsx", "odf", "epub")
MONOLINGUAL = (
    *("android", "strings", "stringsdict", "properties", "resx", "arb", "json", "fluent", "yaml", "srt", "vtt", "text"),
    *DOCUMENTS,
)
# Line ends other than \n, and characters that XML cannot say, have tests of their own.
TEXTS = st.text(
    st.one_of(
        st.sampled_from("a\\'\"<>&]{}@?=:;,#%\n\t é\u00a0漢😀-"),
        st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]),
    ),
    min_size=1,
    max_size=24,
).filter(lambda text: bool(text.strip()) and not any(one in text for one in "\ufffe\uffff\x85\u2028\u2029"))


def read(data: bytes, sample: Sample) -> File:
    return read_file(data, sample.name, Languages(source="en", target=sample.target))


def replaced(source: Content, text: str) -> Content:
    """A translation: the text in place of the strings, the codes where they were."""
    first = next(number for number, part in enumerate(source) if isinstance(part, str))
    return joined(
        [part if isinstance(part, Code) else text if number == first else "" for number, part in enumerate(source)]
    )


def is_cut_out_equal(before: bytes, spans: list[tuple[int, int]], after: bytes) -> bool:
    """Whether what stands outside of the spans of the input stands in the output, in the same order."""
    ends = [0, *[edge for span in spans for edge in span], len(before)]
    kept = [before[start:stop] for start, stop in list(pairwise(ends))[::2]]
    if not after.startswith(kept[0]) or not after.endswith(kept[-1]):
        return False
    position = len(kept[0])
    for piece in kept[1:-1]:
        position = after.find(piece, position)
        if position < 0:
            return False
        position += len(piece)
    return position <= len(after) - len(kept[-1])


def line_of(text: str) -> str:
    """A text for formats whose syntax is lines, and in which braces and angle brackets are tags."""
    return " ".join(text.split()).translate(dict.fromkeys(map(ord, "{}<>\ufeff"))).strip() or "x"


def one_line(text: str) -> str:
    """A text for documents, in which white space counts as one space."""
    return " ".join(text.split())


def changed_texts(file: File, before: bytes, after: bytes) -> list[tuple[bytes, list[tuple[int, int]], bytes]]:
    """What writing has changed: the file, or each member of an archive, with the spans that were declared."""
    if not isinstance(file, ArchiveFile):
        return [(before, file.byte_spans(), after)]
    old, new = ZipParts(before), ZipParts(after)
    assert new.names == old.names
    spans = {name: member.byte_spans() for name, member in file.members.items()}
    assert all(new.read(name) == old.read(name) for name in old.names if not spans.get(name))
    return [(old.read(name), declared, new.read(name)) for name, declared in spans.items() if declared]


def texts_of(file: File, *, is_monolingual: bool) -> dict[str, dict[str, str]]:
    """What stands in each unit, by the names of its forms."""
    return {
        unit.id: {form.name: plain(form.source if is_monolingual else form.target or ()) for form in unit.forms}
        for unit in file.units
    }


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: f"{sample.name}-{sample.encoding}")
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_only_spans_change_and_what_is_written_is_read_again(sample: Sample, data: st.DataObject) -> None:
    before = sample.data()
    file = read(before, sample)
    assert file.write({}) == before
    units = [unit for unit in file.units if unit.is_translatable]
    chosen = data.draw(st.lists(st.sampled_from(units), min_size=1, unique_by=lambda unit: unit.id))
    mark: Mark = data.draw(st.sampled_from(["review", "problems", "none"]))
    drawn = TEXTS.map(line_of) if file.format in ("srt", "vtt", "text") else TEXTS
    drawn = TEXTS.map(one_line) if file.format in DOCUMENTS else drawn
    texts = {unit.id: {form.name: data.draw(drawn) for form in unit.forms} for unit in chosen}
    results = {
        unit.id: Result(texts=tuple(replaced(form.source, texts[unit.id][form.name]) for form in unit.forms))
        for unit in chosen
    }
    after = file.write(results, WriteOptions(mark=mark))
    assert all(is_cut_out_equal(*changed) for changed in changed_texts(file, before, after))
    is_monolingual = file.format in MONOLINGUAL
    languages = Languages() if is_monolingual else Languages(source="en", target=sample.target)
    there = texts_of(read_file(after, sample.name, languages), is_monolingual=is_monolingual)
    assert {name: there[name] for name in texts} == texts


def test_every_format_has_a_sample() -> None:
    assert {known.name for known in FORMATS} == {read(one.data(), one).format for one in SAMPLES}
