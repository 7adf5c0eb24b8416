"""What several test files need: a few invented sentence pairs, and models with random weights."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
import torch
from tests.plain_curves import draw_nothing

from attendo.checkpoint.model_folder import ModelDescription
from attendo.checkpoint.saving import save_model
from attendo.checkpoint.weights import named_weights
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.text.subwords.learning import learn_tokenizer
from attendo.text.subwords.tokenization import TokenizerConfig
from attendo.workflow.runs import estimate

# Models of a few thousand weights: a second thread only waits, and much longer so where the machine is busy.
os.environ["OMP_NUM_THREADS"] = "1"  # for the processes that tests start
torch.set_num_threads(1)

# A shell that starts the suite in the background has it, and all it starts, ignore Ctrl-C; tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[1]
MODEL = ModelConfig(d_model=16, d_ff=32, num_layers=2, num_heads=2)


@pytest.fixture(autouse=True, scope="session")
def _plain_curves() -> Iterator[None]:
    """In this process runs draw no learning curves; `tests/demo` and what is started from nothing do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attendo.workflow.runs.train.draw_curves", draw_nothing)
        yield


@pytest.fixture(autouse=True, scope="session")
def _nothing_waits_for_the_disk() -> Iterator[None]:
    """In this process files are not flushed, as no test takes the power away; they would wait for milliseconds each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda fd: None)
        yield


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Whatever a test has set, the next one begins with one thread, in whatever order they come."""
    yield
    if torch.get_num_threads() != 1:
        torch.set_num_threads(1)


@pytest.fixture
def quick_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has an estimate measure two updates on one sentence each, not seconds of large ones."""
    for name, value in (("_FEW_TOKENS", 25), ("_MANY_TOKENS", 25), ("_TRIAL_S", 0.0)):
        monkeypatch.setattr(estimate, name, value)


@dataclass(frozen=True)
class Corpus:
    """Two files of lines that translate each other."""

    source: Path
    target: Path
    pairs: tuple[tuple[str, str], ...]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """216 pairs of a language whose words are English ones read backwards."""
    words = product(("one", "two", "some"), ("red", "old", "small"), ("dogs", "birds", "men", "kings"), ("see", "hear"))
    subjects = [" ".join(parts) for parts in words]
    sentences = [f"{subject} {place}." for subject, place in product(subjects, ("us", "them", "here"))]
    pairs = tuple((sentence, sentence.rstrip(".")[::-1] + ".") for sentence in sentences)
    folder = tmp_path_factory.mktemp("corpus")
    for name, side in (("source.txt", 0), ("target.txt", 1)):
        (folder / name).write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    return Corpus(source=folder / "source.txt", target=folder / "target.txt", pairs=pairs)


@pytest.fixture
def recipe_path(tmp_path: Path, corpus: Corpus) -> Path:
    """A recipe, `mine.toml`, for the corpus and a model of some thousand weights: 6 steps, 2 validations."""
    path = tmp_path / "mine.toml"
    path.write_text(
        f"[data]\nfolder = '{corpus.source.parent}'\nsource_language = 'en'\ntarget_language = 'de'\n"
        "[[data.corpora]]\nname = 'mine'\nsource = 'source.txt'\ntarget = 'target.txt'\n"
        "[data.valid]\nsource = 'source.txt'\ntarget = 'target.txt'\n"
        "[tokenizer]\nvocab_size = 300\n[model]\nd_model = 16\nd_ff = 32\nnum_layers = 1\nnum_heads = 2\n"
        "[training]\nmax_steps = 6\nmax_tokens = 300\nwarmup_steps = 3\ncheckpoint_steps = 2\neval_steps = 4\n"
        "[search]\nbeam_size = 1\nmax_len_offset = 0\n",
        encoding="utf-8",
    )
    return path


@pytest.fixture(scope="session")
def model_folders(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Models with random weights: two of one vocabulary, and one of another."""
    folder = tmp_path_factory.mktemp("models")
    text = [sentence for pair in corpus.pairs for sentence in pair]
    for number, vocab_size in enumerate((300, 300, 290)):
        config = TokenizerConfig(vocab_size=vocab_size)
        tokenizer = learn_tokenizer(text, config, folder / f"{vocab_size}.spm")
        torch.manual_seed(number)
        transformer = Transformer(MODEL, tokenizer.vocab_size, tokenizer.vocab_size)
        description = ModelDescription(
            source_language="en",
            target_language="de",
            src_vocab_size=tokenizer.vocab_size,
            tgt_vocab_size=tokenizer.vocab_size,
            model=MODEL,
            search={"beam_size": 3, "max_len_offset": 5},
            training={
                "recipe": "random",
                "steps": 0,
                "valid": {"perplexity": 12.5, "bleu": 3.25, "bleu_signature": "nrefs:1|case:mixed"},
            },
        )
        save_model(folder / str(number), description, named_weights(transformer), tokenizer, tokenizer, "# Random\n")
    return folder / "0", folder / "1", folder / "2"


@pytest.fixture(scope="session")
def model_folder(model_folders: tuple[Path, Path, Path]) -> Path:
    """A model folder with random weights, beam 3 and at most 5 tokens more than the source."""
    return model_folders[0]


@pytest.fixture(scope="session")
def run_together() -> Callable[..., None]:
    """Runs a script with arguments in `size` processes that train together, as torchrun would start them."""

    def run(size: int, script: Path, *arguments: object) -> None:
        command = [sys.executable, "-W", "error", "-m", "tests.forked_together", size, script, *arguments]
        path = os.pathsep.join(part for part in (os.environ.get("PYTHONPATH", ""), str(ROOT)) if part)
        ended = subprocess.run(
            list(map(str, command)), env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.PIPE, text=True,
            timeout=300, check=False,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr

    return run


@pytest.fixture(scope="session")
def parser_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A parser that has learned a little of a small language, in-order, beam 4."""
    from tests.tiny_parser import train_parser  # all that training takes, which few tests need

    return train_parser(tmp_path_factory.mktemp("parser"))
