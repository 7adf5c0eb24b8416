"""What a command has imported when its work is done: nothing that takes long and that this work does not need."""

import json
import subprocess
import sys

import pytest

from attendo.cli.commands import COMMANDS
from attendo.native.library import find_kernels

LATER = {
    "torch": "for training, GPUs and models that the native kernels cannot run",
    "pydantic": "for settings that are not exactly what they should be, and recipes",
    "matplotlib": "for pictures",
    "sacrebleu": "for scores",
    "sacremoses": "for scores",
    "fastapi": "for the server",
    "uvicorn": "for the server",
    "asyncio": "for the server and its client",
    "nltk": "to split text into a treebank's words",
    "rich": "for --help, wrong usage and a terminal's progress",
    "importlib.metadata": "for `attendo info` of a machine",
    "numpy.random": "for sampling and training",
    "multiprocessing": "for preparing corpora",
    "zstandard": "for files compressed with it",
}
"""Packages, and what they are needed for."""
OF_TRANSLATORS = {
    "attendo.recipe": "the schema of recipes, which pydantic checks",
    "attendo.settings.toml": "TOML, with its patterns",
    "attendo.parsing.tree": "trees",
    "attendo.workflow.engines.parse": "parsers",
    "attendo.text.corpora": "corpora",
    "attendo.text.subwords.sampling": "random segmentations, for training",
}
"""Our own, which the others bring or need."""

REPORT = "import json, sys; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
COMMAND = f"import sys; from attendo.cli.main import run; status = run(sys.argv[1:]); {REPORT}; sys.exit(status)"
"""Runs a command, and says on standard error what has been imported."""

pytestmark = pytest.mark.skipif(find_kernels().kernels is None, reason=find_kernels().reason)


def imported(code: str, *arguments: str, given: str = "") -> set[str]:
    """The modules that a process has imported at its end."""
    finished = subprocess.run(
        [sys.executable, "-c", code, *arguments], check=False, input=given, capture_output=True, text=True
    )
    assert finished.returncode == 0, finished.stderr
    return set(json.loads(finished.stderr.splitlines()[-1]))


def test_translating_a_line() -> None:
    found = imported(COMMAND, "translate", "en-de", "--quiet", given="Where is the train station?\n")
    assert not found & (LATER.keys() | OF_TRANSLATORS.keys())
    assert not found & {f"attendo.cli.{name}" for name in COMMANDS.keys() - {"translate"}}


def test_reading_a_file_of_one_format() -> None:
    catalogue = 'b\'msgid "a"\\nmsgstr ""\\n\''
    found = imported(f"from attendo.formats.table import read_file; read_file({catalogue}, 'a.po'); {REPORT}")
    assert "attendo.formats.po" in found
    others = {"android", "epub", "html", "markdown", "office", "odf", "rails_yaml", "xliff", "yaml_catalogues"}
    assert not found & {f"attendo.formats.{name}" for name in others}


def test_loading_a_translator_from_python() -> None:
    found = imported(f"import attendo; attendo.load('en-de').translate('The dog.'); {REPORT}")
    assert not found & (LATER.keys() | OF_TRANSLATORS.keys() | {"typer"})


def test_parsing_words() -> None:
    found = imported(COMMAND, "parse", "craft", "--input", "words", "--quiet", given="The protein binds .\n")
    assert not found & LATER.keys()
    assert not found & {"attendo.recipe", "attendo.text.corpora"}


def test_what_a_model_is() -> None:
    found = imported(COMMAND, "info", "en-de")
    assert not found & (LATER.keys() - {"importlib.metadata"})


def test_the_server_before_it_has_a_model() -> None:
    pytest.importorskip("uvicorn")
    found = imported(f"import attendo.serving.run; {REPORT}")
    assert not found & {"torch", "matplotlib", "sacrebleu", "sacremoses", "nltk", "rich"}
