"""A process without torch, and what else an extra brings: what only decodes works as ever, what needs them says so.

What decodes in it is compared with plain torch, which this process has.
"""

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

from attendo.checkpoint.finding import find_model
from attendo.checkpoint.model_folder import LoadedModel, load_model
from attendo.decoding.backends.models import DecodingModel, decoding_model
from attendo.decoding.lines.translator import Translator
from attendo.native.library import find_kernels
from attendo.workflow.engines.attention import attention_map
from attendo.workflow.engines.model_search import own_search
from attendo.workflow.engines.parse import Parser

pytestmark = pytest.mark.skipif(find_kernels().kernels is None, reason=find_kernels().reason)

LINES = ["Where is the train station?", "I have never seen such a big dog."]
TREES = ["The protein binds to DNA ."]
BLOCKED = "import sys; sys.modules.update(dict.fromkeys(('torch', 'safetensors', 'matplotlib', 'zstandard'))); "
COMMANDS = """
import contextlib, io, json
from types import SimpleNamespace
from attendo.cli.main import run

def told(arguments, given):
    sys.stdin = SimpleNamespace(buffer=io.BytesIO(given.encode()), isatty=lambda: False)
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run(arguments)
    return [status, *(stream.buffer.getvalue().decode() for stream in (out, err) if stream.flush() is None)]

read = json.loads(sys.argv[1])
results = [told(*command) for command in read]
loaded = sorted(name for name, module in sys.modules.items() if module is not None and name.startswith("torch"))
print(json.dumps([results, loaded]))
"""


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str


def run_all(*commands: tuple[list[str], str], environment: dict[str, str] | None = None) -> list[Ran]:
    """Runs command lines, each with its input, in one process without torch."""
    finished = subprocess.run(
        [sys.executable, "-c", BLOCKED + COMMANDS, json.dumps(commands)],
        check=False, capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    results, loaded = json.loads(finished.stdout.splitlines()[-1])
    assert loaded == []
    return [Ran(*result) for result in results]


def succeeded(ran: Ran) -> str:
    assert ran.status == 0, ran.err
    return ran.out


def in_torch(name: str) -> tuple[LoadedModel, DecodingModel]:
    loaded = load_model(find_model(name))
    return loaded, decoding_model(loaded.transformer, native=False)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "source").write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    (folder / "target").write_text("Wo ist der Bahnhof?\nIch habe nie einen Hund gesehen.\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def ran(files: Path) -> dict[str, Ran]:
    """What each command came to."""
    text, source, target = "".join(f"{line}\n" for line in LINES), str(files / "source"), str(files / "target")
    commands: dict[str, tuple[list[str], str]] = {
        "int8": (["translate", "en-de", "--json", "--alignment"], text),
        "float32": (["translate", "en-de", "--dtype", "float32"], text),
        "bfloat16": (["translate", "en-de", "--dtype", "bfloat16"], text),
        "ensemble": (["translate", "en-de", "--ensemble", "en-de", "--dtype", "float32"], text),
        "file": (["translate", "en-de", source, "-o", str(files / "out"), "--dtype", "float32"], ""),
        "document": (["translate", "en-de", str(files / "messages.po"), "-o", str(files / "de.po")], ""),
        "check": (["check", str(files / "de.po")], ""),
        "greedy": (["translate", "en-de", "--beam-size", "1", "--set", "search.draft=true"], text),
        "forced": (["translate", "en-de", "--target-prefix", str(files / "prefixes")], text),
        "score": (
            ["score", "en-de", "--source", source, "--target", target, "--dtype", "float32", "--json"], ""
        ),
        "parse": (["parse", "craft", "--input", "words"], "".join(f"{line}\n" for line in TREES)),
        "attention": (["attention", "en-de", LINES[0], "-o", str(files / "drawn.json"), "--pieces"], ""),
        "parser's attention": (["attention", "craft", TREES[0], "-o", str(files / "tree.json"), "--pieces"], ""),
        "info": (["info", "en-de", "--verify"], ""),
        "machine": (["info"], ""),
        "train": (["train", "base", "-o", str(files / "run")], ""),
        "average": (["average", str(files), "--last", "2", "-o", str(files / "mean")], ""),
        "export": (["export", "en-de", "--format", "ctranslate2", "-o", str(files / "ct2")], ""),
        "demo": (["demo", "-o", str(files / "demo")], ""),
        "draw": (["draw", "architecture", "base", "-o", str(files / "drawn.svg")], ""),
        "chart": (["draw", "schedule", "tiny", "-o", str(files / "schedule.svg")], ""),
        "picture": (["attention", "en-de", LINES[0], "-o", str(files / "drawn.png")], ""),
        "compressed": (["translate", "en-de", str(files / "source.zst")], ""),
        "gpu": (["translate", "en-de", "--device", "cuda"], text),
    }  # fmt: skip
    (files / "source.zst").write_bytes(zstandard.compress(text.encode()))
    messages = "".join(f'msgid "{line}"\nmsgstr ""\n\n' for line in LINES)
    (files / "messages.po").write_text(messages, encoding="utf-8")
    (files / "prefixes").write_text("Und wo\nUnd ich\n", encoding="utf-8")
    return dict(zip(commands, run_all(*commands.values()), strict=True))


@pytest.mark.parametrize("way", ["float32", "ensemble", "file"])
def test_float32_translates_as_torch_does(ran: dict[str, Ran], files: Path, way: str) -> None:
    loaded, model = in_torch("en-de")
    sides = (loaded.source_tokenizer, loaded.target_tokenizer)
    search = own_search(loaded.folder, loaded.description)
    translator = Translator([model], *sides, search, languages=("en", "de"))
    expected = [each.n_best[0].text for each in translator.translate(LINES)]
    found = succeeded(ran[way]) if way != "file" else (files / "out").read_text(encoding="utf-8")
    assert found.splitlines() == expected


def test_files_of_known_formats_are_translated_and_checked(ran: dict[str, Ran], files: Path) -> None:
    succeeded(ran["document"])
    succeeded(ran["check"])
    written = (files / "de.po").read_text(encoding="utf-8")
    assert "Bahnhof" in written
    assert 'msgstr ""' not in written


@pytest.mark.parametrize("way", ["int8", "bfloat16", "greedy", "forced"])
def test_the_other_numbers_and_searches_give_translations(ran: dict[str, Ran], way: str) -> None:
    lines = succeeded(ran[way]).splitlines()
    texts = [json.loads(line)["text"] for line in lines] if way == "int8" else lines
    assert len(texts) == len(LINES)
    assert "Bahnhof" in texts[0]
    assert "Hund" in texts[1]
    if way == "forced":
        assert [text[:6] for text in texts] == ["Und wo", "Und ic"]


def test_scores_are_those_of_torch(ran: dict[str, Ran], files: Path) -> None:
    loaded, model = in_torch("en-de")
    sides = (loaded.source_tokenizer, loaded.target_tokenizer)
    translator = Translator([model], *sides, own_search(loaded.folder, loaded.description))
    pairs = list(zip(LINES, (files / "target").read_text(encoding="utf-8").splitlines(), strict=True))
    found = [json.loads(line) for line in succeeded(ran["score"]).splitlines()]
    for one, expected in zip(found, translator.score_pairs(pairs), strict=True):
        assert one["token_log_probs"] == pytest.approx(expected.token_log_probs, abs=1e-4)


def test_parses_are_those_of_torch(ran: dict[str, Ran]) -> None:
    loaded, model = in_torch("craft")
    parsing = loaded.description.parsing
    assert parsing is not None
    sides = (loaded.source_tokenizer, loaded.target_tokenizer)
    parser = Parser(
        [model], *sides, own_search(loaded.folder, loaded.description), parsing,
        word_tags=loaded.description.word_tags,
    )  # fmt: skip
    [expected] = parser.parse([TREES[0].split()])
    assert succeeded(ran["parse"]).strip() == str(expected.tree)


@pytest.mark.parametrize(("way", "name", "file"), [
    ("attention", "en-de", "drawn.json"), ("parser's attention", "craft", "tree.json"),
])  # fmt: skip
def test_attention_is_that_of_torch(ran: dict[str, Ran], files: Path, way: str, name: str, file: str) -> None:
    succeeded(ran[way])
    drawn: dict[str, Any] = json.loads((files / file).read_text(encoding="utf-8"))
    loaded, model = in_torch(name)
    ids = []
    for side, tokenizer in (("source", loaded.source_tokenizer), ("target", loaded.target_tokenizer)):
        numbers = {piece: number for number, piece in enumerate(tokenizer.pieces(range(tokenizer.vocab_size)))}
        ids.append([numbers[piece] for piece in drawn[side]])
    expected = attention_map(model, loaded.source_tokenizer, loaded.target_tokenizer, *ids)
    for kind in expected.kinds:
        np.testing.assert_allclose(np.array(drawn[kind]["weights"]), expected.weights(kind), atol=1e-4)


def test_info_says_what_a_model_is_and_which_kernels_decode(ran: dict[str, Ran]) -> None:
    parameters = sum(weight.numel() for weight in load_model(find_model("en-de")).transformer.parameters())
    assert f"{parameters:,}" in succeeded(ran["info"])
    kernels = find_kernels().kernels
    assert kernels is not None
    rows = dict(line.split(maxsplit=1) for line in succeeded(ran["machine"]).splitlines())
    assert rows["decoding"].startswith(f"native {kernels.variant}")
    assert rows["float32"] == 'no torch, which training needs: pip install "attendo[train]"'


@pytest.mark.parametrize("way", ["train", "average", "export", "demo", "gpu"])
def test_what_needs_torch_says_so_before_it_does_anything(ran: dict[str, Ran], way: str) -> None:
    message = 'attendo: error: torch: not installed, and needed here; pip install "attendo[train]"\n'
    assert (ran[way].status, ran[way].out, ran[way].err) == (1, "", message)


def test_what_is_found_out_later_is_said_in_a_line_too(ran: dict[str, Ran]) -> None:
    message = 'attendo: error: attendo draw needs torch, which is not installed; pip install "attendo[train]"\n'
    assert (ran["draw"].status, ran["draw"].out, ran["draw"].err) == (1, "", message)


def test_what_needs_another_extra_names_it(ran: dict[str, Ran], files: Path) -> None:
    assert (ran["chart"].status, ran["picture"].status, ran["compressed"].status) == (1, 1, 1)
    plot = 'pip install "attendo[plot]"'
    assert ran["chart"].err == f"attendo: error: attendo draw needs matplotlib, which is not installed; {plot}\n"
    assert ran["picture"].err == f"attendo: error: matplotlib: not installed, and needed here; {plot}\n"
    assert ran["compressed"].err == (
        f"attendo: error: {files / 'source.zst'}: is compressed with zstd, which the package zstandard reads, and it "
        'is not installed; pip install "attendo[zstd]", or decompress the file: zstd -d\n'
    )


def test_without_kernels_either_a_model_says_what_it_needs() -> None:
    [plain] = run_all((["translate", "en-de"], "x\n"), environment={**os.environ, "ATTENDO_KERNELS": "plain"})
    assert (plain.status, plain.out) == (1, "")
    assert plain.err == (
        "attendo: error: en-de: ATTENDO_KERNELS=plain, so that it needs torch, which is not installed; "
        'pip install "attendo[train]"\n'
    )


def test_the_python_interface() -> None:
    code = BLOCKED + (
        "import attendo; engine = attendo.load('en-de')\n"
        "print(engine.translate('Where is the train station?').text)\n"
        "[(translation, [alignment])] = engine.stream_aligned(['The dog.'])\n"
        "print(alignment.pharaoh)\n"
        "print([score.num_tokens for score in engine.score([('a dog', 'ein Hund')])])\n"
        "print(sys.modules['torch'])\n"
        "try: engine.device\n"
        "except attendo.AttendoError as error: print(error)\n"
    )
    finished = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    text, links, scored, torch, device = finished.stdout.splitlines()
    assert "Bahnhof" in text
    assert {"0-0", "1-1"} <= set(links.split())
    assert json.loads(scored)[0] > 2
    assert (torch, device) == ("None", 'torch: not installed, and needed here; pip install "attendo[train]"')


def test_a_server_translates_parses_and_shows_attention() -> None:
    pytest.importorskip("uvicorn")
    code = f"{BLOCKED}sys.argv = ['attendo', 'serve', '--port', '0']; from attendo.cli.main import main; main()"
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        address = next((found[1] for line in process.stderr if (found := re.search(r"listening on (\S+)", line))), None)
        assert address is not None, "the server did not start"
        wait_until_ready(address)
        pair = {"text": LINES[0], "source": "en"}
        translated = ask(address, "api/translate", {**pair, "target": "de", "alignment": True})
        drawn = ask(address, "api/attention", {**pair, "target_lang": "de"})
        parsed = ask(address, "api/parse", {"text": TREES[0]})
        process.terminate()
        assert "Traceback" not in process.stderr.read()
    assert "Bahnhof" in json.dumps(translated)
    assert drawn["source"]
    assert "protein" in json.dumps(parsed)


def wait_until_ready(address: str) -> None:
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"{address.rstrip('/')}/ready", timeout=60):
                return
        except urllib.error.HTTPError as error:
            with error:
                time.sleep(0.1)
    raise AssertionError("the models were never loaded")


def ask(address: str, path: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        f"{address.rstrip('/')}/{path}", json.dumps(body).encode(), headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)
