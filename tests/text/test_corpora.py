import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import attendo.text.files.formats
from attendo.errors import DataError
from attendo.text.cleaning import DROP_REASONS, Dropped, SentencePair, clean, read_valid
from attendo.text.corpora import CorpusConfig, DataConfig, epoch_weights
from attendo.text.files.formats import MAX_LINE_BYTES, RawPair
from attendo.text.pair_rules import CleaningConfig
from attendo.text.text_check import check_files


def only(source: bytes, target: bytes | None, cleaning: CleaningConfig | None = None) -> SentencePair | Dropped:
    raw = RawPair(line=7, source=source, target=target)
    (item,) = clean(iter([raw]), "mine", cleaning or CleaningConfig())
    return item


def write(folder: Path, name: str, content: bytes) -> str:
    (folder / name).write_bytes(content)
    return name


def test_a_good_pair_is_kept_and_trimmed() -> None:
    assert only(b"Good day.", "Grüß  Gott.".encode()) == SentencePair(
        source="Good day.", target="Grüß  Gott.", corpus="mine", line=7, trimmed=False
    )
    assert only(b" Good day.\t", b"Guten Tag.") == SentencePair(
        source="Good day.", target="Guten Tag.", corpus="mine", line=7, trimmed=True
    )


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        (b"", b"Tag", "empty"),
        (b"day", b" \t ", "empty"),
        ("\u3000".encode(), b"Tag", "empty"),
        (b"", b"", "empty"),
        (b"caf\xe9", b"Kaffee", "encoding"),  # Latin-1
        (b"day", b"\xed\xa0\x80", "encoding"),  # a surrogate
        (b"day", b"\xc0\xaf", "encoding"),  # an overlong form
        (b"d\0a\0y\0", b"Tag", "encoding"),  # UTF-16 without a mark
        (b"day", None, "no_tab"),
        (b"x" * 2001, b"y" * 2001, "too_long"),
        (b"y" * 2000, b"x" * 2001, "too_long"),
        (b"\xff" * (MAX_LINE_BYTES + 1), b"y", "too_long"),
        (b"w " * 251, b"x" * 500, "too_long"),
        (b"x" * 1_000_000, b"y" * 1_000_000, "too_long"),
        (b"x" * 91, b"y", "ratio"),
        (b"y" * 11, b"x" * 100, "ratio"),
    ],
)
def test_each_fault_has_its_reason(source: bytes, target: bytes | None, reason: str) -> None:
    item = only(source, target)
    assert isinstance(item, Dropped)
    assert (item.line, item.reason) == (7, reason)
    assert reason in DROP_REASONS
    assert max(len(item.source), len(item.target)) <= 4 * 201  # an excerpt, where a byte can be \xff


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (b"x" * 2000, b"y" * 2000),
        (b"w " * 250, b"x" * 499),
        (b"x" * 90, b"y"),  # 10 is the least that a side counts
        (b"y" * 11, b"x" * 99),
        ("\U0001f600".encode() * 2000, b"x" * 2000),  # characters count, not bytes
    ],
)
def test_the_limits_themselves_are_kept(source: bytes, target: bytes) -> None:
    assert isinstance(only(source, target), SentencePair)


def test_the_limits_are_settings() -> None:
    assert isinstance(only(b"a b c", b"d"), SentencePair)
    assert getattr(only(b"a b c", b"d", CleaningConfig(max_words=2)), "reason", "") == "too_long"
    assert getattr(only(b"a b c", b"d", CleaningConfig(max_characters=4)), "reason", "") == "too_long"
    assert getattr(only(b"x" * 21, b"d", CleaningConfig(max_ratio=2.0)), "reason", "") == "ratio"


def test_an_excerpt_is_one_field_of_one_line() -> None:
    item = only(b"a\tb\rc\xff\xe2\x80\xa8" + b"x" * 300, b"")
    assert isinstance(item, Dropped)
    assert item.source.startswith(r"a\tb\rc\xff\u2028xxx")
    assert item.source.endswith("x…")


@given(st.lists(st.tuples(st.binary(max_size=12), st.one_of(st.none(), st.binary(max_size=12)))))
def test_every_pair_is_kept_or_dropped_in_order(content: list[tuple[bytes, bytes | None]]) -> None:
    raws = [RawPair(line=i, source=s, target=t) for i, (s, t) in enumerate(content, start=1)]
    items = list(clean(iter(raws), "mine", CleaningConfig()))
    assert [item.line for item in items] == [raw.line for raw in raws]
    for raw, item in zip(raws, items, strict=True):
        if isinstance(item, SentencePair):
            assert item.source == raw.source.decode().strip()
            assert item.target == (raw.target or b"").decode().strip()


def test_all_missing_files_are_named_at_once(tmp_path: Path) -> None:
    data = DataConfig(
        folder="corpora",
        corpora=(CorpusConfig(name="a", source="a.en", target="a.de"), CorpusConfig(name="b", tsv="b.tsv")),
        valid=CorpusConfig(source="v.en", target="v.de"),
    )
    (tmp_path / "corpora").mkdir()
    write(tmp_path / "corpora", "a.de", b"")
    with pytest.raises(DataError, match="4 of the files") as raised:
        check_files(data, tmp_path)
    listed = str(raised.value).splitlines()[1:]
    assert [line.strip() for line in listed] == [
        f"{tmp_path / 'corpora' / name}: there is no such file" for name in ("a.en", "b.tsv", "v.en", "v.de")
    ]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_file_is_named_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    names = ("folder", "pipe", "gone", "/dev/zero")
    data = DataConfig(corpora=tuple(CorpusConfig(name=f"c{n}", tsv=name) for n, name in enumerate(names)))
    with pytest.raises(DataError, match=r"^4 of the files") as raised:
        check_files(data, tmp_path)
    assert [line.rpartition(": ")[2] for line in str(raised.value).split("\n")[1:]] == [
        "is a folder; name a file in it",
        "is a pipe or a device, which can be read only once; write what comes from it to a file",
        "is a link to a file that is not there",
        "is a pipe or a device, which can be read only once; write what comes from it to a file",
    ]


def test_a_validation_set_too_large_to_hold_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "v.tsv", b"one\ttwo\n" * 1000)
    valid = CorpusConfig(tsv="v.tsv")
    assert len(read_valid(valid, tmp_path)[0]) == 1000
    with monkeypatch.context() as context:
        context.setattr(attendo.text.files.formats, "MAX_HELD_PAIRS", 999)
        with pytest.raises(DataError, match=r"v.tsv: more than 999 pairs or 256 MB, which is no"):
            read_valid(valid, tmp_path)
    monkeypatch.setattr(attendo.text.files.formats, "MAX_HELD_BYTES", 5999)
    with pytest.raises(DataError, match=r"v.tsv: more than 1,000,000 pairs or"):
        read_valid(valid, tmp_path)


def test_a_validation_set_is_read_as_it_is(tmp_path: Path) -> None:
    valid = CorpusConfig(
        source=write(tmp_path, "s", b"a \nb" + b"x" * 5000 + b"\na \n"), target=write(tmp_path, "t", b"x\ny\nx\n")
    )
    assert read_valid(valid, tmp_path) == (["a ", "b" + "x" * 5000, "a "], ["x", "y", "x"])


def test_bad_lines_of_a_validation_set_are_an_error_that_names_them(tmp_path: Path) -> None:
    valid = CorpusConfig(
        source=write(tmp_path, "s", b"a\n\xff\nc\n\nd\n"), target=write(tmp_path, "t", b"x\ny\nz\nw\n \n")
    )
    with pytest.raises(DataError, match=r"line 2 \(encoding\), line 4 \(empty\), line 5 \(empty\) cannot be used"):
        read_valid(valid, tmp_path)
    many = CorpusConfig(tsv=write(tmp_path, "v.tsv", b"a\n" * 13))
    with pytest.raises(DataError, match=r"line 10 \(no_tab\) and 3 more cannot"):
        read_valid(many, tmp_path)


def test_an_empty_validation_set_is_an_error(tmp_path: Path) -> None:
    valid = CorpusConfig(source=write(tmp_path, "s", b""), target=write(tmp_path, "t", b""))
    with pytest.raises(DataError, match="there is no pair"):
        read_valid(valid, tmp_path)


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "a"},
        {"name": "a", "source": "s"},
        {"name": "a", "source": "s", "target": "t", "tsv": "p"},
        {"name": "a/b", "tsv": "p"},
        {"name": "../a", "tsv": "p"},
        {"name": "a", "tsv": "p", "weight": 0.0},
        {"name": "a", "tsv": "p", "weight": float("nan")},
    ],
)
def test_impossible_corpora_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"^name = |^has .*; give source and target|^weight = "):
        CorpusConfig(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("names", [("a", "a"), ("a", "A"), ("valid",), ("",)])
def test_corpora_that_cannot_be_told_apart_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="corpora: "):
        DataConfig(corpora=tuple(CorpusConfig(name=name, tsv="p") for name in names))


def test_limits_that_drop_everything_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"^max_words = 0 is less than 1; take 1 or more; max_ratio = nan is less than 1"
    ):
        CleaningConfig(max_words=0, max_ratio=float("nan"))


@pytest.mark.parametrize("name", ["a\0", "a\nb", "\x1b[2J", "\u2028"])
def test_names_with_control_characters_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"^tsv = '.*' is no file's name; leave out its control characters$"):
        CorpusConfig(tsv=name)
    for key in ("folder", "source_language", "target_language"):
        with pytest.raises(ValueError, match=rf"^{key} = '.*' has control characters; leave them out$"):
            DataConfig(**{key: name})  # type: ignore[arg-type]


def test_very_many_corpora_are_told_apart_quickly() -> None:
    corpora = tuple(CorpusConfig(name=f"n{number}", tsv="p") for number in range(30_000))
    started = time.process_time()
    DataConfig(corpora=corpora)
    assert time.process_time() - started < 5, "each was compared with all before it"


def named(name: str, **keys: Any) -> CorpusConfig:
    return CorpusConfig(name=name, tsv=f"{name}.tsv", **keys)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, "give source and target, or tsv, translations, back_translations or trees alone"),
        ({"source": "a"}, "give source and target"),
        ({"tsv": "a", "translations": "b"}, "give source and target"),
        ({"translations": "a", "back_translations": "a"}, "give source and target"),
        ({"tsv": "a", "share": 1.0}, r"share = 1\.0 is not within 0 and 1 \(excluded\)"),
        ({"tsv": "a", "share": -0.1}, "is not within 0 and 1"),
        ({"tsv": "a", "share": 0.5, "weight": 2.0}, "share and weight say the same in two ways"),
        ({"tsv": "a", "source_tag": ""}, "has 0 characters, and a tag 3 to 32; take one such as <bt>"),
        ({"tsv": "a", "source_tag": "x" * 33}, "has 33 characters"),
        ({"tsv": "a", "source_tag": "back translated"}, "is not one word of printable characters"),
        ({"tsv": "a", "source_tag": "<a\u2581>"}, "is not one word"),
        ({"tsv": "a", "source_tag": "<a\n>"}, "is not one word"),
        ({"tsv": "a", "source_tag": "back"}, "has no marks around it that keep it apart from text"),
        ({"tsv": "a", "source_tag": "</s>"}, "is a symbol that every vocabulary uses for something else"),
        ({"tsv": "a", "source_tag": "<0x41>"}, "is a symbol"),
        ({"tsv": "a", "source_tag": "\u27e61\u27e7"}, "is a symbol"),
    ],
)
def test_a_corpus_that_cannot_be_meant_is_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CorpusConfig(name="a", **keys)


def test_a_share_is_one_of_the_epochs_pairs() -> None:
    # By hand: 900 pairs are three quarters of an epoch, so that it has 1,200; the other quarter is 300 of 5,000 pairs.
    assert epoch_weights([named("new"), named("old", share=0.25)], [900, 5000]) == pytest.approx([1.0, 0.06])
    # 2 * 100 + 0.5 * 400 = 400 pairs are half an epoch of 800; 0.3 of it is 240 of 60 pairs, 0.2 is 160 of 1,600.
    corpora = [named("a", share=0.3), named("b", weight=2.0), named("c", weight=0.5), named("d", share=0.2)]
    assert epoch_weights(corpora, [60, 100, 400, 1600]) == pytest.approx([4.0, 2.0, 0.5, 0.1])
    assert epoch_weights([named("a"), named("b", share=0.0)], [10, 20]) == [1.0, 0.0]


def test_shares_leave_something_for_the_rest() -> None:
    DataConfig(corpora=(named("a"), named("b", share=0.6), named("c", share=0.3)))
    for corpora in ((named("a", share=0.5),), (named("a"), named("b", share=0.6), named("c", share=0.4))):
        with pytest.raises(ValueError, match=r"the shares \(.*\) leave nothing for the others"):
            DataConfig(corpora=corpora)


def test_a_tag_stands_before_the_source() -> None:
    assert named("a", source_tag="<bt>").tagged("Good day.") == "<bt> Good day."
    assert named("a", tags=("label",)).tagged("Good day.") == "Good day."
    corpora = (named("a", source_tag="<bt>"), named("b"), named("c", source_tag="<x>"), named("d", source_tag="<bt>"))
    assert DataConfig(corpora=corpora, valid=named("v", source_tag="<v>")).source_tags == ("<bt>", "<x>", "<v>")


def test_a_fault_of_the_file_is_the_reason() -> None:
    raw = RawPair(line=3, source=b"a long way", target=b"ein langer", fault="unfinished")
    assert list(clean(iter([raw]), "mine", CleaningConfig())) == [
        Dropped(line=3, reason="unfinished", source="a long way", target="ein langer")
    ]
    assert {"unfinished", "no_json"} <= set(DROP_REASONS)
