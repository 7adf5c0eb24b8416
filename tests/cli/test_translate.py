import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import torch

from attendo.decoding.backends.native_model import Dtype
from attendo.workflow.engines.translate import load

Command = Callable[..., Any]
LINES = ["one red dogs see us.", "", "some old kings hear them.", "two small birds see here."]
TEXT = "".join(f"{line}\n" for line in LINES).encode()


@pytest.fixture(scope="module")
def expected(model_folder: Path) -> list[str]:
    """What the library says; line ends, which random bytes may spell, as the command line has them."""
    return [t.text.replace("\r", " ").replace("\n", " ") for t in load(model_folder).translate(LINES)]


def test_a_line_in_a_line_out(attendo: Command, model_folder: Path, expected: list[str]) -> None:
    finished = attendo("translate", model_folder, stdin=TEXT)
    assert finished.status == 0
    assert finished.out.split("\n") == [*expected, ""]
    assert finished.err.startswith("translated 4 lines in ")


def test_from_file_to_file(attendo: Command, model_folder: Path, expected: list[str], tmp_path: Path) -> None:
    source, output = tmp_path / "source.txt", tmp_path / "new" / "output.txt"
    source.write_bytes(TEXT)
    finished = attendo("translate", model_folder, source, "-o", output, "--threads", "1")
    assert (finished.status, finished.out) == (0, "")
    assert output.read_text(encoding="utf-8").split("\n") == [*expected, ""]


ENDS = [b"\r\n", b"\n", b"\r\n", b""]
MIXED = b"".join(line.encode() + end for line, end in zip(LINES, ENDS, strict=True))
"""The lines with ends of both kinds, and none at the end."""


def with_ends(lines: list[str]) -> str:
    return "".join(line + end.decode() for line, end in zip(lines, ENDS, strict=True))


def test_each_line_ends_as_it_did(attendo: Command, model_folder: Path, expected: list[str], tmp_path: Path) -> None:
    source, output = tmp_path / "source.txt", tmp_path / "output.txt"
    source.write_bytes(MIXED)
    assert attendo("translate", model_folder, stdin=MIXED).out == with_ends(expected)
    assert attendo("translate", model_folder, source).out == with_ends(expected)
    assert attendo("translate", model_folder, source, "-o", output).status == 0
    assert output.read_bytes() == with_ends(expected).encode()
    source.write_bytes(gzip.compress(MIXED))
    assert attendo("translate", model_folder, source, "-o", output).status == 0
    assert output.read_bytes() == with_ends(expected).encode()


def test_all_translations_of_a_line_end_as_it_did(attendo: Command, model_folder: Path) -> None:
    finished = attendo("translate", model_folder, "--n-best", "2", stdin=MIXED)
    plain = attendo("translate", model_folder, "--n-best", "2", stdin=TEXT).out.split("\n")[:-1]
    # Between the two of the last line, which has no end, stands a line feed: they are two lines of the output.
    ends = ["\r\n", "\r\n", "\n", "\r\n", "\r\n", "\n", ""]
    assert finished.out == "".join(line + end for line, end in zip(plain, ends, strict=True))


def test_json_is_the_same_whatever_ends_a_line(attendo: Command, model_folder: Path) -> None:
    options = ["--json", "--alignment", "--n-best", "2"]
    finished = attendo("translate", model_folder, *options, stdin=MIXED)
    assert finished.out == attendo("translate", model_folder, *options, stdin=TEXT).out
    assert [json.loads(line)["source"] for line in finished.out.splitlines()] == LINES


@pytest.mark.parametrize("where", ["stdin", "file", "output"])
def test_old_macintosh_text_is_refused(attendo: Command, model_folder: Path, tmp_path: Path, where: str) -> None:
    source = tmp_path / "source.txt"
    source.write_bytes(TEXT.replace(b"\n", b"\r"))
    if where == "stdin":
        finished = attendo("translate", model_folder, stdin=source.read_bytes())
    else:
        finished = attendo("translate", model_folder, source, *(["-o", tmp_path / "o"] if where == "output" else []))
    assert (finished.status, finished.out) == (1, "")
    assert "holds carriage returns and no line feed, which alone ends a line; convert it first: tr '\\r' '\\n' <" in (
        finished.err
    )


def test_the_summary_counts_the_time_that_was_waited(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("one red dogs\n")
    for options in ([], ["-o", tmp_path / "output.txt"]):
        finished = attendo("translate", model_folder, tmp_path / "one.txt", *options)
        pattern = r"translated 1 line in ([\d.]+) s \(([\d.]+) s of it translating, [\d.,]+ lines/s\)"
        [found] = re.findall(pattern, finished.err)
        assert float(found[0]) + 0.1 >= float(found[1])
    real = subprocess.run(
        [sys.executable, "-m", "attendo", "translate", model_folder, tmp_path / "one.txt"],
        capture_output=True,
        text=True,
        check=True,
    )
    [found] = re.findall(pattern, real.stderr)
    assert float(found[0]) > float(found[1]), "importing torch and reading the model are waited for too"


@pytest.mark.parametrize("output", [False, True])
def test_quiet_says_only_what_is_wrong(
    attendo: Command, model_folder: Path, expected: list[str], tmp_path: Path, output: bool
) -> None:
    (tmp_path / "source.txt").write_bytes(TEXT)
    command = ["translate", model_folder, tmp_path / "source.txt", *(["-o", tmp_path / "out.txt"] if output else [])]
    longer = ["--set", "search.max_len_offset=60"]
    finished = attendo(*command, "--quiet", *longer)
    assert (finished.status, re.sub(r"^\d translations? (was|were) cut off by .*\n", "", finished.err)) == (0, "")
    finished = attendo(*command, "-q", *longer, "--set", "search.max_source_tokens=2")
    assert "3 lines were too long, and only their beginning was translated" in finished.err
    assert "translated" not in finished.err.replace("was translated;", "")
    assert attendo(*command, "--quiet", "--beam-size", "0").err.startswith("attendo: error: ")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_device_can_be_asked_for(attendo: Command, model_folder: Path, expected: list[str]) -> None:
    assert attendo("translate", model_folder, "--device", "cpu", stdin=TEXT).out.split("\n") == [*expected, ""]
    finished = attendo("translate", model_folder, "--device", "cuda", stdin=TEXT)
    assert (finished.status, finished.out) == (1, "")
    assert 'device = "cuda", but torch sees no GPU here; take "auto" or "cpu"' in finished.err
    assert attendo("translate", model_folder, "--device", "tpu", stdin=TEXT).status == 2


def test_a_cluster_chooses_its_devices(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "source.txt").write_bytes(TEXT)
    command = ["translate", model_folder, tmp_path / "source.txt", "-o", tmp_path / "o", "--ray", "local"]
    finished = attendo(*command, "--device", "cpu")
    assert finished.status == 2
    assert "each machine of a cluster chooses its own" in " ".join(finished.err.replace("│", " ").split())


def test_n_best_and_scores_have_columns(attendo: Command, model_folder: Path) -> None:
    finished = attendo("translate", model_folder, "--n-best", "2", "--scores", stdin=TEXT)
    rows = [line.split("\t", 3) for line in finished.out.removesuffix("\n").split("\n")]
    assert [row[0] for row in rows] == ["1", "1", "2", "3", "3", "4", "4"]  # an empty line has one translation
    translations = load(model_folder, search={"n_best": 2}).translate(LINES)
    candidates = [candidate for translation in translations for candidate in translation.n_best]
    assert [float(row[1]) for row in rows] == pytest.approx([c.score for c in candidates], abs=1e-3)
    assert [float(row[2]) for row in rows] == pytest.approx([c.log_prob for c in candidates], abs=1e-3)
    finished = attendo("translate", model_folder, "--scores", stdin=TEXT)
    assert [len(line.split("\t", 2)) for line in finished.out.removesuffix("\n").split("\n")] == [3] * 4


def test_links_have_a_column_before_the_translation(attendo: Command, model_folder: Path, expected: list[str]) -> None:
    engine = load(model_folder)
    links = [found[0].pharaoh for _, found in engine.stream_aligned(LINES)]
    finished = attendo("translate", model_folder, "--alignment", stdin=TEXT)
    rows = [line.split("\t", 1) for line in finished.out.removesuffix("\n").split("\n")]
    assert rows == [list(row) for row in zip(links, expected, strict=True)]
    assert any(row[0] for row in rows)
    for row in rows:
        assert all(re.fullmatch(r"\d+-\d+", link) for link in row[0].split())
    finished = attendo("translate", model_folder, "--alignment", "--scores", "--n-best", "2", stdin=TEXT)
    rows = [line.split("\t", 4) for line in finished.out.removesuffix("\n").split("\n")]
    assert {len(row) for row in rows} == {5}
    assert rows[0][3] == links[0]


def test_json_has_all_of_a_line_in_a_line(attendo: Command, model_folder: Path) -> None:
    engine = load(model_folder, search={"n_best": 2})
    finished = attendo("translate", model_folder, "--json", "--n-best", "2", "--alignment", stdin=TEXT)
    rows = [json.loads(line) for line in finished.out.split("\n")[:-1]]
    assert len(rows) == len(LINES)
    for row, (translation, alignments) in zip(rows, engine.stream_aligned(LINES), strict=True):
        assert (row["source"], row["text"], row["source_truncated"]) == (translation.source, translation.text, False)
        assert len(row["n_best"]) == len(translation.n_best)
        assert {key: row[key] for key in row["n_best"][0]} == row["n_best"][0]
        for found, candidate, alignment in zip(row["n_best"], translation.n_best, alignments, strict=True):
            assert found["text"] == candidate.text
            assert found["score"] == pytest.approx(candidate.score, abs=1e-4)
            assert found["log_prob"] == pytest.approx(sum(found["token_log_probs"]), abs=1e-4)
            assert tuple(found["tokens"]) == candidate.pieces
            assert [tuple(link) for link in found["alignment"]] == list(alignment.links)
            assert tuple(found["target_words"]) == alignment.target_words
    finished = attendo("translate", model_folder, "--json", stdin=TEXT)
    for line in finished.out.splitlines():
        keys = ["source", "source_truncated", "guards", "problems", "read"]
        keys += ["text", "score", "log_prob", "finished", "tokens", "token_log_probs"]
        assert list(json.loads(line)) == keys


def test_guards_are_told_of_and_can_be_left_out(attendo: Command, model_folder: Path) -> None:
    text = "\U0001f600 one red dogs\nSOME OLD KINGS\n\u4f60\u597d\nsome old kings\n".encode()
    # A model that has learned nothing says the same over and over.
    settings = ["--set", "search.guards.repetition=false", "--set", "search.guards.fragments=false"]
    finished = attendo("translate", model_folder, "--json", "--alignment", *settings, stdin=text)
    emoji, capitals, foreign, plain = (json.loads(line) for line in finished.out.splitlines())
    assert [row["guards"] for row in (emoji, capitals, foreign)] == [["protected"], ["casing"], ["scripts"]]
    assert (emoji["read"], foreign["read"], plain["read"]) == ("one red dogs", "", "some old kings")
    assert emoji["text"].startswith("\U0001f600 ")
    assert emoji["source_words"] == ["\U0001f600", "one", "red", "dogs"]
    assert emoji["target_words"][0] == "\U0001f600"
    assert all(source > 0 and target > 0 for source, target in emoji["alignment"])
    assert capitals["read"] == "Some old kings"
    assert capitals["text"] == capitals["text"].upper()
    assert (foreign["text"], foreign["tokens"]) == ("\u4f60\u597d", [])
    assert "lines on which guards acted: " in finished.err
    assert "scripts 1" in finished.err
    finished = attendo("translate", model_folder, "--json", "--no-guards", stdin=text)
    rows = [json.loads(line) for line in finished.out.splitlines()]
    assert [row["read"] for row in rows] == [row["source"] for row in rows] == text.decode().splitlines()
    assert not any(row["guards"] for row in rows)
    assert "guards" not in finished.err
    settings = ["--no-guards", "--set", "search.guards.scripts=true"]
    finished = attendo("translate", model_folder, "--json", *settings, stdin=text)
    assert [json.loads(line)["guards"] for line in finished.out.splitlines()] == [[], [], ["scripts"], []]


def test_files_say_what_is_wanted_of_each_line(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    prefixes, words = tmp_path / "prefixes.txt", tmp_path / "words.txt"
    prefixes.write_text("su \n\n\nereh\n")
    words.write_text("dlo\tsdrib\n\nsgnik\n\n")
    options = ["--target-prefix", prefixes, "--forced-words", words, "--set", "search.max_len_offset=20"]
    finished = attendo("translate", model_folder, *options, "--beam-size", "8", stdin=TEXT)
    first, second, third, fourth = finished.out.split("\n")[:-1]
    assert first.startswith("su ")
    assert all(word in first for word in ("dlo", "sdrib"))
    assert second == ""
    assert "sgnik" in third
    assert fourth.startswith("ereh")
    for number, text in ((3, "su\n\n\n"), (5, "\n" * 5)):
        prefixes.write_text(text)
        finished = attendo("translate", model_folder, *options, stdin=TEXT)
        assert finished.status == 1
        problem = "has 3 lines, but the text more" if number == 3 else "has more than the 4 lines that were translated"
        assert f"{prefixes}: {problem}; line n of it belongs to line n of the text" in finished.err
        assert finished.out.count("\n") == min(number, 4)


def test_words_are_forbidden_as_a_list_of_toml(attendo: Command, model_folder: Path, expected: list[str]) -> None:
    words = sorted({line.split()[0] for line in expected if line.split() and "\ufffd" not in line.split()[0]} | {"x"})
    setting = f"search.forbidden_words={json.dumps(words, ensure_ascii=False)}"
    finished = attendo("translate", model_folder, "--set", setting, stdin=TEXT)
    assert finished.status == 0
    assert not any(set(words) & set(line.split()) for line in finished.out.split("\n"))
    finished = attendo("translate", model_folder, "--set", "search.forbidden_words=x", stdin=TEXT)
    assert (finished.status, finished.out) == (1, "")
    assert 'search.forbidden_words = "x" is not a list' in finished.err


def test_samples_are_many_and_the_same_again(attendo: Command, model_folder: Path) -> None:
    def sampled(*more: str) -> str:
        options = ["--n-best", "7", "--set", "search.sampling=true", "--set", "search.sample_top_k=20", *more]
        finished = attendo("translate", model_folder, *options, stdin=TEXT)
        assert finished.status == 0
        return str(finished.out)

    first = sampled()
    assert [line.split("\t")[0] for line in first.split("\n")[:-1]] == ["1"] * 7 + ["2"] + ["3"] * 7 + ["4"] * 7
    assert sampled("--set", "search.window_lines=1", "--threads", "2") == first
    assert sampled("--set", "search.seed=1") != first


@pytest.mark.parametrize("dtype", ["int8", "bfloat16"])
def test_other_numbers_translate_too(attendo: Command, model_folder: Path, dtype: Dtype) -> None:
    expected = [candidate.text for candidate in load(model_folder, dtype=dtype).translate(LINES)]
    finished = attendo("translate", model_folder, "--dtype", dtype, stdin=TEXT)
    assert finished.out.split("\n")[:-1] == [text.replace("\r", " ").replace("\n", " ") for text in expected]


def test_settings_reach_the_search(attendo: Command, model_folder: Path) -> None:
    options = ["--beam-size", "1", "--length-penalty", "0", "--set", "search.max_len_offset=0"]
    finished = attendo("translate", model_folder, *options, stdin=TEXT)
    engine = load(model_folder, search={"beam_size": 1, "length_penalty": 0.0, "max_len_offset": 0})
    assert finished.out.splitlines()[0] == engine.translate(LINES)[0].text
    cut_off = "translations were cut off by the length limit, or by constraints that allowed no other token"
    assert cut_off in finished.err
    finished = attendo("translate", model_folder, "--set", "search.max_source_tokens=2", stdin=TEXT)
    assert "3 lines were too long, and only their beginning was translated" in finished.err


def test_n_best_can_be_a_setting_too(attendo: Command, model_folder: Path) -> None:
    by_option = attendo("translate", model_folder, "--n-best", "3", stdin=TEXT)
    by_setting = attendo("translate", model_folder, "--set", "search.n_best=3", stdin=TEXT)
    assert by_option.out == by_setting.out
    assert by_option.out.startswith("1\t")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_read_once(attendo: Command, model_folder: Path, expected: list[str], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    Thread(target=pipe.write_bytes, args=(TEXT,)).start()
    assert attendo("translate", model_folder, pipe).out.split("\n") == [*expected, ""]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--set", "search.alignment_layer=9"], "search.alignment_layer = 9, but the decoder has 2 layers; take 1 to"),
        (["--target-prefix", "no-prefixes.txt"], "no-prefixes.txt: "),
        (["--forced-words", "no-words.txt"], "no-words.txt: "),
        (["--set", "search.beam=3"], "--set: search.beam = 3: there is no such key; did you mean search.beam_size?"),
        (["--set", "model.d_model=3"], "--set model.d_model=3: only keys of search can be set here"),
        (["--n-best", "6"], "search.n_best = 6 is more than beam_size = 3 can hold; take beam_size = 6 or more"),
        (["--set", "search.guards.case=false"], "search.guards.case = false: there is no such key; did you mean "),
        (["--set", "search.guards.casing=3"], "search.guards.casing = 3 is not true or false"),
        (["--beam-size", "0"], "search.beam_size = 0 is too small; take 1 or more"),
        (["--ensemble", "nowhere"], "nowhere: no such model or run folder"),
        (["nowhere.txt"], "nowhere.txt: "),
    ],
)
def test_what_cannot_be_meant_is_refused(
    attendo: Command, model_folder: Path, options: list[str], problem: str
) -> None:
    finished = attendo("translate", model_folder, *options, stdin=TEXT)
    assert (finished.status, finished.out) == (1, "")
    assert problem in finished.err
    assert finished.err.count("\n") == 1


def test_broken_text_is_an_error_after_the_lines_before(attendo: Command, model_folder: Path) -> None:
    finished = attendo("translate", model_folder, stdin=b"us.\nsch\xf6n\n")
    assert finished.status == 1
    assert finished.out.count("\n") == 1
    assert "standard input: line 2 is not UTF-8 at its byte 4" in finished.err


def test_a_pause_of_the_input_brings_what_is_there(model_folder: Path) -> None:
    command = subprocess.Popen(
        [sys.executable, "-m", "attendo.cli.main", "translate", str(model_folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert command.stdin is not None
    assert command.stdout is not None
    for _ in range(2):  # the second line is only written when the first one's translation has come
        command.stdin.write(b"one red dogs see us.\n")
        command.stdin.flush()
        assert command.stdout.readline().endswith(b"\n")
    command.stdin.close()
    command.stdout.close()
    assert command.wait(timeout=300) == 0


@pytest.mark.parametrize(
    "arguments",
    [["--ray", "local"], ["source.txt", "--ray", "local"], ["-o", "output.txt", "--ray", "local"]],
)
def test_a_cluster_needs_two_files(attendo: Command, model_folder: Path, arguments: list[str]) -> None:
    finished = attendo("translate", model_folder, *arguments, stdin=TEXT)
    assert (finished.status, finished.out) == (2, "")
    assert "FILE and --output must both be regular files" in finished.err


def test_without_ray_a_cluster_is_one_line(
    attendo: Command, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, output = tmp_path / "source.txt", tmp_path / "output.txt"
    source.write_bytes(TEXT)
    monkeypatch.setattr("attendo.workflow.extras.find_spec", lambda name: None)
    finished = attendo("translate", model_folder, source, "-o", output, "--ray", "auto")
    assert finished.status == 1
    assert finished.err == (
        'attendo: error: ray, pyarrow, pandas: not installed, and needed here; pip install "attendo[ray]"\n'
    )
