import bz2
import dataclasses
import gzip
import json
import lzma
import multiprocessing
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

import attendo.text.parts
import attendo.workflow.preparation.stages
from attendo.errors import AttendoError, DataError
from attendo.text.corpora import CorpusConfig, DataConfig
from attendo.text.pair_rules import CleaningConfig
from attendo.text.prepared import PreparedData, Vocabulary
from attendo.text.shards import PairShards
from attendo.text.subwords.tokenization import TokenizerConfig
from attendo.workers import InProcess, WorkerProcesses, Workers
from attendo.workflow.preparation.prepare import Progress, prepare

VOCABULARY = TokenizerConfig(vocab_size=340)
SYLLABLES = ["ka", "lo", "mi", "nu", "re", "so", "ti", "wu", "be", "zi"]


def pairs(number: int, seed: int) -> list[tuple[str, str]]:
    """Distinct sentences of made-up words, and the same with every word spelled backwards."""
    rng = random.Random(seed)
    found: dict[str, str] = {}
    while len(found) < number:
        words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(rng.randint(2, 8))]
        found[" ".join(words)] = " ".join(word[::-1] for word in words)
    return list(found.items())


def write_lines(path: Path, lines: list[str] | list[bytes]) -> str:
    path.write_bytes(b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines))
    return path.name


def corpus(folder: Path, name: str, content: list[tuple[str, str]], weight: float = 1.0) -> CorpusConfig:
    return CorpusConfig(
        name=name,
        source=write_lines(folder / f"{name}.en", [source for source, _ in content]),
        target=write_lines(folder / f"{name}.de", [target for _, target in content]),
        weight=weight,
    )


def run(data: DataConfig, folder: Path, vocabulary: TokenizerConfig = VOCABULARY) -> PreparedData:
    return prepare(data, vocabulary, folder / "prepared", base_folder=folder)


def texts(prepared: PreparedData, shards: PairShards) -> list[tuple[str, str]]:
    source, target = prepared.source_tokenizer, prepared.target_tokenizer
    return [(source.decode(shards.source(i)), target.decode(shards.target(i))) for i in range(len(shards))]


def dropped_rows(prepared: PreparedData) -> list[list[str]]:
    header, *rows = (prepared.folder / "dropped.tsv").read_text(encoding="utf-8").split("\n")[:-1]
    assert header.split("\t") == ["corpus", "files", "line", "reason", "source", "target"]
    assert all(len(row.split("\t")) == 6 for row in rows)
    return [row.split("\t") for row in rows]


def test_the_kept_pairs_are_in_the_shards_and_the_others_accounted_for(tmp_path: Path) -> None:
    good = pairs(300, seed=1)
    lines: list[tuple[bytes, bytes]] = [(source.encode(), target.encode()) for source, target in good]
    bad: dict[int, tuple[tuple[bytes, bytes], str]] = {
        1: ((b"", b"ka"), "empty"),
        5: ((b"ka \xff lo", b"ka"), "encoding"),
        6: (lines[2], "duplicate"),
        100: ((b"x" * 1_000_000, b"y"), "too_long"),
        101: ((b"a" * 95, b"b"), "ratio"),
        102: ((b"ka lo " * 100, b"lo ka " * 100), "too_many_tokens"),
        308: (lines[299], "duplicate"),
    }
    content = list(lines)
    for line, (pair, _) in sorted(bad.items()):
        content.insert(line - 1, pair)
    assert len(content) == 307
    first = CorpusConfig(
        name="lines",
        source=write_lines(tmp_path / "a.en", [source for source, _ in content]),
        target=write_lines(tmp_path / "a.de", [target for _, target in content]),
        weight=2.0,
        tags=("mine",),
    )
    table = [f"{source}\t{target}\tCC0" for source, target in [*pairs(50, seed=2), good[7]]]
    second = CorpusConfig(name="table", tsv=write_lines(tmp_path / "b.tsv", ["no tab", *table]))

    prepared = run(DataConfig(corpora=(first, second), cleaning=CleaningConfig(max_tokens=100)), tmp_path)

    assert texts(prepared, prepared.corpora["lines"]) == good
    assert texts(prepared, prepared.corpora["table"]) == pairs(50, seed=2)
    expected = [["lines", "a.en a.de", str(line), reason] for line, (_, reason) in sorted(bad.items())]
    expected[-1][2] = "307"  # the last one was put at the end
    expected += [["table", "b.tsv", "1", "no_tab"], ["table", "b.tsv", "52", "duplicate"]]
    assert [row[:4] for row in dropped_rows(prepared)] == expected
    assert dropped_rows(prepared)[1][4] == r"ka \xff lo"
    reports = prepared.report.corpora
    assert [(report.read, report.kept, sum(report.dropped.values())) for report in reports] == [
        (307, 300, 7),
        (52, 50, 2),
    ]
    assert (prepared.report.read, prepared.report.kept, prepared.report.dropped["duplicate"]) == (359, 350, 3)
    assert reports[0].tags == ("mine",)
    for report in reports:
        shards = prepared.corpora[report.name]
        assert (report.source_tokens, report.target_tokens) == (
            shards.source_lengths.sum(),
            shards.target_lengths.sum(),
        )
        assert report.unknown_tokens == 0
    written = json.loads((prepared.folder / "report.json").read_text(encoding="utf-8"))
    assert written["total"] == {"read": 359, "kept": 350, "dropped": prepared.report.dropped}


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_compression_and_line_ends_change_nothing(tmp_path: Path, suffix: str) -> None:
    compressions: dict[str, Callable[[bytes], bytes]] = {
        "": bytes,
        ".gz": gzip.compress,
        ".bz2": bz2.compress,
        ".xz": lzma.compress,
        ".zst": zstandard.compress,
    }
    content = [*pairs(200, seed=1), ("ka\u2028lo\x85mi", "mi\u2029lo\x0bka")]
    for side, language in enumerate(("en", "de")):
        text = "\ufeff" + "\r\n".join(pair[side] for pair in content)  # and no line end at the end
        (tmp_path / f"a.{language}{suffix}").write_bytes(compressions[suffix](text.encode()))
    data = DataConfig(corpora=(CorpusConfig(name="a", source=f"a.en{suffix}", target=f"a.de{suffix}"),))
    prepared = run(data, tmp_path)
    assert texts(prepared, prepared.corpora["a"]) == content


def test_the_validation_set_is_whole_and_as_it_is(tmp_path: Path) -> None:
    content = pairs(200, seed=1)
    held_out = [content[3], ("ka  lo ", "ol\u2028ak"), content[3], ("x" * 3000, "y"), content[9]]
    valid = CorpusConfig(
        source=write_lines(tmp_path / "v.en", [source for source, _ in held_out]),
        target=write_lines(tmp_path / "v.de", [target for _, target in held_out]),
    )
    prepared = run(DataConfig(corpora=(corpus(tmp_path, "a", content),), valid=valid), tmp_path)
    assert list(zip(prepared.valid_source, prepared.valid_target, strict=True)) == held_out
    assert prepared.valid is not None
    assert texts(prepared, prepared.valid) == held_out
    assert prepared.report.valid is not None
    assert (prepared.report.valid.read, prepared.report.valid.kept) == (5, 5)
    assert prepared.report.corpora[0].in_valid == 2


def test_without_a_validation_set_there_is_none(tmp_path: Path) -> None:
    prepared = run(DataConfig(corpora=(corpus(tmp_path, "a", pairs(200, seed=1)),)), tmp_path)
    assert (prepared.valid, prepared.valid_source, prepared.report.valid) == (None, (), None)


def test_two_vocabularies(tmp_path: Path) -> None:
    content = [(source, target.upper()) for source, target in pairs(300, seed=1)]
    vocabulary = dataclasses.replace(VOCABULARY, joint=False, type="unigram", vocab_size=300)
    prepared = run(DataConfig(corpora=(corpus(tmp_path, "a", content),)), tmp_path, vocabulary)
    assert (prepared.folder / "target.spm").is_file()
    assert texts(prepared, prepared.corpora["a"]) == content
    learned = [
        "".join(tokenizer.pieces(range(258, 300)))
        for tokenizer in (prepared.source_tokenizer, prepared.target_tokenizer)
    ]
    assert learned[0] == learned[0].lower()
    assert learned[1] == learned[1].upper()


def test_a_vocabulary_from_a_sample_is_of_the_pairs_kept(tmp_path: Path) -> None:
    content = [*pairs(400, seed=1), ("Q" * 2500, "Q" * 2500)]
    vocabulary = dataclasses.replace(VOCABULARY, sample_pairs=150, vocab_size=300)
    prepared = run(DataConfig(corpora=(corpus(tmp_path, "a", content),)), tmp_path, vocabulary)
    assert prepared.report.sampled_pairs == 150
    assert "Q" not in "".join(prepared.source_tokenizer.pieces(range(258, 300)))
    assert len(prepared.corpora["a"]) == 400


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a prepared folder; the report without its seconds, the manifest without the report's checksum."""
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    report, manifest = json.loads(files["report.json"]), json.loads(files["manifest.json"])
    del report["seconds"], manifest["files"]["report.json"]
    return files | {"report.json": json.dumps(report).encode(), "manifest.json": json.dumps(manifest).encode()}


def test_the_number_of_workers_and_of_parts_changes_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = pairs(700, seed=1)
    lines = [*content[:300], ("", "x"), ("y", "z" * 2500), *content[300:], *content[100:250], *pairs(40, seed=4)]
    table = [f"{source}\t{target}" for source, target in [*pairs(120, seed=2), *content[50:90]]]
    (tmp_path / "b.tsv.gz").write_bytes(gzip.compress("\n".join([*table, "no tab"]).encode()))
    translated = [*content[:60], *pairs(30, seed=6)]
    back = [json.dumps({"source": t, "text": s, "finished": True, "source_truncated": False}) for s, t in translated]
    data = DataConfig(
        corpora=(
            corpus(tmp_path, "a", lines),
            CorpusConfig(name="b", tsv="b.tsv.gz"),
            CorpusConfig(
                name="c", back_translations=write_lines(tmp_path / "c.jsonl", [*back, "{}"]), source_tag="<bt>"
            ),
            corpus(tmp_path, "d", pairs(90, seed=5)),
        ),
        valid=corpus(tmp_path, "v", [*pairs(9, 2), *content[200:204]]),
        cleaning=CleaningConfig(max_tokens=60),
    )
    vocabulary = dataclasses.replace(VOCABULARY, seed=3, sample_pairs=200, vocab_size=320, joint=False)

    def prepared(name: str, workers: Workers) -> dict[str, bytes]:
        prepare(data, vocabulary, tmp_path / name, base_folder=tmp_path, workers=workers)
        return contents(tmp_path / name)

    whole = prepared("whole", InProcess())
    # Corpora so small are not cut, and no process is started for them, unless a part is said to be smaller yet.
    monkeypatch.setattr(attendo.text.parts, "_BLOCK_BYTES", 1 << 10)
    monkeypatch.setattr(attendo.workflow.preparation.stages, "PART_BYTES", 1 << 12)
    monkeypatch.setattr(attendo.workflow.preparation.stages, "_BUCKET_PAIRS", 200)
    assert prepared("cut", InProcess()) == whole
    with WorkerProcesses(2) as workers:
        assert prepared("two", workers) == whole
    with WorkerProcesses(3) as workers:
        assert prepared("three", workers) == whole
    report = json.loads(whole["report.json"])
    assert [entry["dropped"]["duplicate"] for entry in report["corpora"]] == [150, 40, 60, 0]
    assert [entry["in_valid"] for entry in report["corpora"]] == [4, 9, 0, 0]


@pytest.mark.parametrize("stage", ["scanning", "cleaning", "learning", "encoding"])
def test_a_worker_that_is_killed_is_told_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    monkeypatch.setattr(attendo.workflow.preparation.stages, "PART_BYTES", 1 << 12)
    data = DataConfig(corpora=(corpus(tmp_path, "a", pairs(3000, seed=1)), corpus(tmp_path, "b", pairs(900, seed=2))))
    before = sorted(tmp_path.iterdir())
    killed: list[int] = []

    def kill(progress: Progress) -> None:
        if progress.stage == stage and not killed:
            for process in multiprocessing.active_children():
                assert process.pid is not None
                os.kill(process.pid, signal.SIGKILL)
                killed.append(process.pid)

    # What is under way when a worker is killed, and which comes first, nobody knows.
    works = rf"lines \d+ to \d+ of {tmp_path}/[ab]\.en and {tmp_path}/[ab]\.de|{tmp_path}/.+|the vocabulary source\.spm"
    with (
        WorkerProcesses(2) as workers,
        pytest.raises(AttendoError, match=rf"^a worker process ended before its work on ({works}) was done"),
    ):
        prepare(data, VOCABULARY, tmp_path / "ready", base_folder=tmp_path, workers=workers, progress=kill)
    assert killed
    assert not multiprocessing.active_children()
    assert sorted(tmp_path.iterdir()) == before


def test_no_process_is_started_for_little(tmp_path: Path) -> None:
    data = DataConfig(corpora=(corpus(tmp_path, "a", pairs(200, seed=1)),))
    with WorkerProcesses(2) as workers:
        prepare(data, VOCABULARY, tmp_path / "p", base_folder=tmp_path, workers=workers)
        assert not multiprocessing.active_children()


def test_preparing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    data = DataConfig(corpora=(corpus(tmp_path, "a", pairs(300, seed=1)),), valid=corpus(tmp_path, "v", pairs(9, 2)))
    vocabulary = dataclasses.replace(VOCABULARY, seed=3, sample_pairs=100, vocab_size=300)
    for name in ("one", "two"):
        prepare(data, vocabulary, tmp_path / name, base_folder=tmp_path)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert len(contents(tmp_path / "one")) == 14


def test_duplicates_are_kept_on_request(tmp_path: Path) -> None:
    content = [*pairs(200, seed=1), *pairs(10, seed=1)]
    data = DataConfig(
        corpora=(corpus(tmp_path, "a", content),), cleaning=CleaningConfig(drop_duplicates=False, max_tokens=300)
    )
    assert texts(run(data, tmp_path), run(data, tmp_path).corpora["a"]) == content


def test_progress_goes_through_the_readings(tmp_path: Path) -> None:
    data = DataConfig(
        corpora=(corpus(tmp_path, "a", pairs(5000, seed=1)), corpus(tmp_path, "b", pairs(100, seed=2))),
    )
    seen: list[Progress] = []
    prepare(data, VOCABULARY, tmp_path / "p", base_folder=tmp_path, progress=seen.append)
    total = sum(path.stat().st_size for path in tmp_path.iterdir() if path.is_file())
    assert list(dict.fromkeys(progress.stage for progress in seen)) == ["scanning", "cleaning", "learning", "encoding"]
    for stage in ("scanning", "cleaning", "learning", "encoding"):
        done = [progress.done_bytes for progress in seen if progress.stage == stage]
        assert done == sorted(done)
        assert (len(done), done[-1]) == (4 if stage == "scanning" else 2, total)  # files, then parts
    assert {progress.total_bytes for progress in seen} == {total}


def test_a_failure_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    data = DataConfig(corpora=(corpus(tmp_path, "a", pairs(200, seed=1)),))
    run(data, tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DataError, match="vocab_size = 9000"):
        run(data, tmp_path, TokenizerConfig(vocab_size=9000))
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("number", "message"),
    [(0, r"a\.en has 200 lines and .*a\.de has 199"), (1, r"corpus empty .* none of its 0 pairs is kept")],
)
def test_broken_corpora_are_refused(tmp_path: Path, number: int, message: str) -> None:
    good = corpus(tmp_path, "a", pairs(200, seed=1))
    if number == 0:
        write_lines(tmp_path / "a.de", [target for _, target in pairs(199, seed=1)])
    data = DataConfig(corpora=(good,) if number == 0 else (good, corpus(tmp_path, "empty", [])))
    with pytest.raises(DataError, match=message):
        run(data, tmp_path)
    assert not (tmp_path / "prepared").exists()


def test_no_corpus_and_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"data\.corpora names no corpus"):
        run(DataConfig(), tmp_path)
    with pytest.raises(DataError, match="2 of the files"):
        run(DataConfig(corpora=(CorpusConfig(name="a", source="a.en", target="a.de"),)), tmp_path)


def test_a_folder_that_is_not_ours_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "prepared").mkdir()
    (tmp_path / "prepared" / "thesis.txt").write_text("years of work")
    data = DataConfig(corpora=(corpus(tmp_path, "a", pairs(200, seed=1)),))
    with pytest.raises(DataError, match="exists and is not a prepared folder"):
        run(data, tmp_path)
    assert (tmp_path / "prepared" / "thesis.txt").read_text() == "years of work"


def test_a_corpus_written_to_meanwhile_is_noticed(tmp_path: Path) -> None:
    data = DataConfig(corpora=(corpus(tmp_path, "a", pairs(200, seed=1)),))

    def meddle(progress: Progress) -> None:
        if progress.stage == "encoding":
            with (tmp_path / "a.en").open("a") as source, (tmp_path / "a.de").open("a") as target:
                source.write("late\n")
                target.write("etal\n")

    with pytest.raises(DataError, match=r"a\.en: was written to while it was being prepared"):
        prepare(data, VOCABULARY, tmp_path / "p", base_folder=tmp_path, progress=meddle)
    assert not (tmp_path / "p").exists()


def test_preparing_needs_no_torch() -> None:
    code = "import sys, attendo.workflow.preparation.prepare; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_tag_is_a_piece_of_its_own_before_the_sources_of_its_corpus(tmp_path: Path) -> None:
    tagged = dataclasses.replace(corpus(tmp_path, "b", pairs(60, seed=2)), source_tag="<bt>")
    valid = dataclasses.replace(corpus(tmp_path, "v", pairs(9, seed=3)), source_tag="<v>")
    data = DataConfig(corpora=(corpus(tmp_path, "a", pairs(200, seed=1)), tagged), valid=valid)
    prepared = run(data, tmp_path)
    assert texts(prepared, prepared.corpora["a"]) == pairs(200, seed=1)
    assert texts(prepared, prepared.corpora["b"]) == [(f"<bt> {source}", target) for source, target in pairs(60, 2)]
    for index in range(60):
        pieces = prepared.source_tokenizer.pieces(prepared.corpora["b"].source(index))
        assert pieces.count("<bt>") == 1
        assert "<bt>" in pieces[:2]
    assert prepared.valid_source == tuple(f"<v> {source}" for source, _ in pairs(9, seed=3))
    assert prepared.source_tokenizer.vocab_size == VOCABULARY.vocab_size
    # The symbols shift the bytes; nothing of this text is spelled in them, and a character it lacks is.
    assert [report.source_byte_tokens for report in prepared.report.corpora] == [0, 0]
    euro = prepared.source_tokenizer.encode("€")
    assert [i for i in euro if i in prepared.source_tokenizer.byte_ids] == euro[-4:-1]


def test_a_tag_counts_among_the_tokens_and_not_among_the_duplicates(tmp_path: Path) -> None:
    content = pairs(200, seed=1)
    tagged = dataclasses.replace(corpus(tmp_path, "b", [*pairs(50, seed=2), content[7]]), source_tag="<bt>")
    prepared = run(DataConfig(corpora=(corpus(tmp_path, "a", content), tagged)), tmp_path)
    assert prepared.report.corpora[1].dropped["duplicate"] == 1
    lengths = [len(prepared.source_tokenizer.encode(source)) for source, _ in pairs(50, seed=2)]
    assert prepared.report.corpora[1].source_tokens >= sum(lengths) + 50


def test_a_models_vocabulary_is_kept_to_the_byte(tmp_path: Path) -> None:
    first = run(DataConfig(corpora=(corpus(tmp_path, "a", pairs(200, seed=1)),)), tmp_path)
    vocabulary = Vocabulary.of_model(first.folder)
    new = dataclasses.replace(corpus(tmp_path, "b", pairs(20, seed=5)), source_tag="<bt>")
    data = DataConfig(corpora=(new,))
    # Twenty pairs could not fill this vocabulary; its settings are not looked at.
    kept = prepare(
        data, TokenizerConfig(vocab_size=9000), tmp_path / "kept", base_folder=tmp_path, vocabulary=vocabulary
    )
    assert (kept.folder / "source.spm").read_bytes() == (first.folder / "source.spm").read_bytes()
    assert kept.target_tokenizer is kept.source_tokenizer
    assert texts(kept, kept.corpora["b"]) == [(f"<bt> {source}", target) for source, target in pairs(20, seed=5)]
    assert (kept.report.sampled_pairs, kept.report.vocabulary_from) == (0, str(first.folder))
    manifest = json.loads((kept.folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["vocabulary"] == {"from": str(first.folder), "sha256": list(vocabulary.checksums)}


def test_two_vocabularies_of_a_model_are_kept(tmp_path: Path) -> None:
    content = [(source, target.upper()) for source, target in pairs(300, seed=1)]
    settings = dataclasses.replace(VOCABULARY, joint=False, vocab_size=300)
    first = run(DataConfig(corpora=(corpus(tmp_path, "a", content),)), tmp_path, settings)
    data = DataConfig(corpora=(corpus(tmp_path, "b", content[:30]),))
    kept = prepare(
        data, VOCABULARY, tmp_path / "kept", base_folder=tmp_path, vocabulary=Vocabulary.of_model(first.folder)
    )
    assert texts(kept, kept.corpora["b"]) == content[:30]
    assert kept.target_tokenizer.serialized == first.target_tokenizer.serialized != kept.source_tokenizer.serialized


def test_translations_are_a_corpus_without_what_was_not_finished(tmp_path: Path) -> None:
    content = pairs(200, seed=1)
    lines = [
        json.dumps({"source": target, "text": source, "finished": number != 3, "source_truncated": number == 5})
        for number, (source, target) in enumerate(content, start=1)
    ]
    lines[7] = lines[7].replace(json.dumps(content[7][0]), '""')
    write_lines(tmp_path / "back.jsonl", [*lines, "no JSON"])
    data = DataConfig(corpora=(CorpusConfig(name="back", back_translations="back.jsonl"),))
    prepared = run(data, tmp_path)
    kept = [pair for number, pair in enumerate(content, start=1) if number not in (3, 5, 8)]
    assert texts(prepared, prepared.corpora["back"]) == kept
    assert [row[2:4] for row in dropped_rows(prepared)] == [
        ["3", "unfinished"], ["5", "unfinished"], ["8", "empty"], ["201", "no_json"]
    ]  # fmt: skip


def test_pairs_whose_sides_do_not_agree_are_dropped_on_request(tmp_path: Path) -> None:
    doubtful = {
        "numbers": ("ka lo mi 1998", "ol ak 1989 98"),
        "copied": ("ka lo mi nu re", "ka lo mi nu er"),
        "language": ("ka lo you are not in the mi", "ol ak sie sind nicht in der im und das"),
        "duplicate": ("kalomi nurelo mikalo sotiwu 12", "imolak olerun olakim uwitos 12"),
    }
    near = ("Kalomi, nurelo mikalo sotiwu 77!", "Imolak olerun olakim uwitos 77!")
    content = [doubtful["duplicate"], *pairs(300, seed=1), *list(doubtful.values())[:3], near]
    data = DataConfig(
        source_language="de",
        target_language="de",
        corpora=(corpus(tmp_path, "a", content),),
        valid=corpus(tmp_path, "v", [near, *pairs(3, seed=5)]),
        cleaning=CleaningConfig(numbers_agree=True, max_copied=0.7, check_languages=True, near_duplicates=True),
    )
    prepared = run(data, tmp_path)
    rows = [(int(row[2]), row[3]) for row in dropped_rows(prepared)]
    assert rows == [(302, "numbers"), (303, "copied"), (304, "language"), (305, "duplicate")]
    assert prepared.report.corpora[0].in_valid == 1
    usual = prepare(
        dataclasses.replace(data, cleaning=CleaningConfig()), VOCABULARY, tmp_path / "b", base_folder=tmp_path
    )
    assert dropped_rows(usual) == []
