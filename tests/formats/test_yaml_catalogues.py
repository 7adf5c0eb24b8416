"""Which YAML files are taken for messages: configuration is refused with its name and the way out."""

from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.formats.table import read_file
from attendo.workflow.documents.names import Names, found_files

WORKFLOW = "name: CI\non: [push]\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: make test\n"
MESSAGES = "en:\n  hello: Hello\n"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        (".github/workflows/en.yml", WORKFLOW, "is a configuration of a tool by its name"),
        (".travis.yml", "language: python\n", "is a configuration of a tool by its name"),
        ("docker-compose.yml", "services:\n  web:\n    image: x\n", "is a configuration of Docker Compose by its name"),
        ("build.yaml", WORKFLOW, "has no language at the top"),
        ("conf/settings.yml", "title: My site\n", "has no language at the top"),
    ],
)
def test_configuration_is_refused(name: str, text: str, reason: str) -> None:
    with pytest.raises(DataError, match=f"{name}: {reason}.*: --format yaml"):
        read_file(text.encode(), name)
    assert read_file(text.encode(), name, wanted="yaml").units


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("app.yml", MESSAGES),
        ("config/app.yml", "# messages\n---\n'pt-BR':\n  a: b\n"),
        ("en.yml", "hello: Hello\n"),
        ("messages.en_GB.yaml", "hello: Hello\nbye: Bye\n"),
        ("translations/app.yaml", "hello: Hello\n"),
        ("web/en/app.yaml", "hello: Hello\n"),
    ],
)
def test_messages_are_read(name: str, text: str) -> None:
    assert read_file(text.encode(), name).units


def test_a_folder_has_its_messages_alone(tmp_path: Path) -> None:
    for name, text in (("locales/en.yml", MESSAGES), ("mkdocs.yml", "nav: x\n"), ("ci/build.yml", WORKFLOW)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert list(found_files(tmp_path, Names("en", "de"))) == [tmp_path / "locales/en.yml"]
