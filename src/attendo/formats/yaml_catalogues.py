"""Distinction of YAML files with messages from configuration, which a translation would break."""

import re
from pathlib import PurePath

from attendo.formats.file import base_language
from attendo.formats.language_codes import LANGUAGES

_TOP_KEY = re.compile(r"^(['\"]?)([\w.@-]+)\1[ \t]*:(?=\s|\Z)", re.M)
_SEPARATOR = re.compile(r"[._-]")
_OF_MESSAGES = frozenset(
    "locale locales lang langs language languages i18n l10n translation translations messages strings".split()  # noqa: SIM905
)
"""Words in names of files and folders of messages."""
_CONFIGURATION = (
    (
        r"(?:.*/)?\.(?:github|circleci|gitlab|azure|buildkite|config|devcontainer|vscode|woodpecker|forgejo)/.*",
        "a tool",
    ),
    (r"(?:.*/)?\.[^/]*", "a tool"),
    (r"(?:.*/)?(?:docker-)?compose[^/]*", "Docker Compose"),
    (
        r"(?:.*/)?(?:azure-pipelines|appveyor|bitbucket-pipelines|cloudbuild|codecov|action|renovate|dependabot)[^/]*",
        "CI",
    ),
    (
        r"(?:.*/)?(?:mkdocs|_config|antora|book|crowdin|openapi|swagger|pubspec|chart|values|environment)\.ya?ml",
        "a tool",
    ),
)
"""Patterns of paths that are always configuration, with the program that it belongs to."""


def refusal(name: str, text: str) -> str | None:
    """Returns why a YAML file is not accepted as messages; None if it is.

    Messages have a language at the top, or a file name or folder that indicates messages or their language.

    Args:
        name: the path of the file.
        text: its content.
    """
    path = PurePath(name.replace("\\", "/"))
    for pattern, owner in _CONFIGURATION:
        if re.fullmatch(pattern, path.as_posix(), re.IGNORECASE):
            return f"is a configuration of {owner} by its name"
    keys = {found[2] for found in _TOP_KEY.finditer(text)}
    if len(keys) == 1 and _is_language(next(iter(keys))):
        return None
    words = _SEPARATOR.split(path.stem.lower())
    folders = [folder.lower() for folder in path.parts[-3:-1]]
    if any(_is_language(name) for name in (path.stem, words[-1], *folders)):
        return None
    if not _OF_MESSAGES.isdisjoint([*words, *(word for folder in folders for word in _SEPARATOR.split(folder))]):
        return None
    return "has no language at the top, as 'en:', and none in its name, as en.yml, messages.en.yml or locales/app.yml"


def _is_language(word: str) -> bool:
    is_code = re.fullmatch(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*", word) is not None
    return is_code and base_language(word) in LANGUAGES
