"""A recipe that a module's run is made by."""

from pathlib import Path

import pytest
from tests.conftest import Corpus


@pytest.fixture(scope="session")
def corpus_recipe(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """6 steps, a checkpoint every 2, a validation at the 4th; a model of some thousand weights."""
    path = tmp_path_factory.mktemp("recipe") / "mine.toml"
    path.write_text(
        f"[data]\nfolder = '{corpus.source.parent}'\nsource_language = 'en'\ntarget_language = 'de'\n"
        "[[data.corpora]]\nname = 'mine'\nsource = 'source.txt'\ntarget = 'target.txt'\n"
        "[data.valid]\nsource = 'source.txt'\ntarget = 'target.txt'\n"
        "[tokenizer]\nvocab_size = 300\n[model]\nd_model = 16\nd_ff = 32\nnum_layers = 1\nnum_heads = 2\n"
        "[training]\nmax_steps = 6\nmax_tokens = 300\nwarmup_steps = 3\ncheckpoint_steps = 2\neval_steps = 4\n"
        "log_steps = 2\n[search]\nbeam_size = 1\nmax_len_offset = 0\n",
        encoding="utf-8",
    )
    return path
