"""Usual names of translated files in each format: `values-de-rAT`, `de.lproj`, `messages_de.arb`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from attendo.errors import DataError
from attendo.formats.file import base_language, is_same_language
from attendo.formats.known import FORMATS, format_by_ending
from attendo.formats.language_codes import LANGUAGES
from attendo.formats.yaml_catalogues import refusal

_CODE = r"([A-Za-z]{2,3}(?:[-_](?:[A-Z][a-z]{3}|[A-Z]{2}|\d{3}))*)"
_VALUES = re.compile(r"values(?:-(?P<code>[a-z]{2,3}(?:-r[A-Z]{2})?|b\+[\w+]+))?(?P<rest>(?:-[\w]+)*)")
_LPROJ = re.compile(r"(?P<code>Base|[\w-]+)\.lproj")
# Formats with the language after an underscore in a file's name; the others have a point before it.
_WITH_UNDERSCORE = frozenset(("properties", "ts", "arb"))
_HEAD_BYTES = 1 << 20
"""Number of bytes of a YAML file that are examined to recognize its content."""
_GETTEXT_STYLE = frozenset(("po", "properties", "ts", "arb"))


@dataclass(frozen=True, slots=True)
class Names:
    """The languages in names of files."""

    source: str
    target: str

    def translated(self, path: Path) -> Path:
        """Returns the path of a file's translation, next to it or in the folder of its language.

        A file with both languages that is named after the target keeps its name.
        """
        if (named := named_language(path)) and is_same_language(named, self.target) and _is_bilingual(path):
            return path
        for rename in (self._android, self._apple, self._folder, self._stem):
            found = rename(path)
            if found is not None:
                return found
        return self._added(path)

    def _android(self, path: Path) -> Path | None:
        found = _VALUES.fullmatch(path.parent.name)
        if not found or _format(path) != "android":
            return None
        parts = _styled(self.target, "-").split("-")
        is_region = len(parts) == 2 and len(parts[1]) == 2
        code = "-r".join(parts) if len(parts) == 1 or is_region else "b+" + "+".join(parts)
        rest = found["rest"] if not found["code"] or _codes(found["code"]) else f"-{found['code']}{found['rest']}"
        return path.parent.with_name(f"values-{code}{rest}") / path.name

    def _apple(self, path: Path) -> Path | None:
        if not _LPROJ.fullmatch(path.parent.name):
            return None
        return path.parent.with_name(f"{_styled(self.target, '-')}.lproj") / path.name

    def _folder(self, path: Path) -> Path | None:
        """Replaces a folder that is named after the source language by one for the target."""
        parts = list(path.parts)
        for place in range(len(parts) - 2, -1, -1):
            if re.fullmatch(_CODE, parts[place]) and is_same_language(parts[place], self.source):
                parts[place] = self._like(parts[place], path)
                return Path(*parts)
        return None

    def _stem(self, path: Path) -> Path | None:
        """Replaces the source language in the file's own name by the target."""
        stem, ending = _split(path)
        if re.fullmatch(_CODE, stem) and is_same_language(stem, self.source):
            return path.with_name(self._like(stem, path) + ending)
        found = re.fullmatch(rf"(.+)([._-]){_CODE}", stem)
        if found and is_same_language(found[3], self.source):
            return path.with_name(f"{found[1]}{found[2]}{self._like(found[3], path)}{ending}")
        return None

    def _added(self, path: Path) -> Path:
        stem, ending = _split(path)
        separator = "_" if _format(path) in _WITH_UNDERSCORE else "."
        return path.with_name(f"{stem}{separator}{self._like('', path)}{ending}")

    def _like(self, source: str, path: Path) -> str:
        """Returns the target language in the style of a name."""
        if "_" in source or "-" in source:
            return _styled(self.target, "_" if "_" in source else "-")
        is_gettext = _format(path) in _GETTEXT_STYLE or "LC_MESSAGES" in path.parts
        return _styled(self.target, "_" if is_gettext else "-")


def named_language(path: Path) -> str | None:
    """Returns the language in a file's name or its folders; None if there is none."""
    if (found := _VALUES.fullmatch(path.parent.name)) and _format(path) == "android":
        code = found["code"]
        return code.removeprefix("b+").replace("-r", "-").replace("+", "-") if code in _codes(code) else None
    if found := _LPROJ.fullmatch(path.parent.name):
        return None if found["code"] == "Base" else found["code"]
    stem, _ = _split(path)
    marked = re.fullmatch(rf".+\.{_CODE}" if _format(path) not in _WITH_UNDERSCORE else rf".+_{_CODE}", stem)
    names = [stem, marked[1] if marked else "", *reversed(path.parts[:-1])]
    return next((name for name in names if re.fullmatch(_CODE, name) and base_language(name) in LANGUAGES), None)


def found_files(folder: Path, names: Names) -> Iterator[Path]:
    """Yields the files of known formats below a folder that are to be translated, ordered by name.

    Hidden folders and files of other languages are left out, and so are plain text, configuration in YAML, and
    translations that have a file of their own.

    Raises:
        DataError: there are no such files.
    """
    is_any = False
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        if any(part.startswith(".") for part in inner.parts) or not path.is_file():
            continue
        if _format(path) in ("", "text") or (_format(path) == "yaml" and not _holds_messages(path, inner)):
            continue
        named = named_language(inner)
        is_target = named is not None and is_same_language(named, names.target) and _is_bilingual(path)
        if named is None or is_same_language(named, names.source) or is_target:
            is_any = True
            yield path
    if not is_any:
        endings = ", ".join(ending for known in FORMATS for ending in known.endings if known.name != "text")
        raise DataError(
            f"{folder}: is a folder; name a file in it, or a folder with files of known formats ({endings})"
        )


def _holds_messages(path: Path, inner: Path) -> bool:
    """Whether a YAML file below a folder holds messages rather than configuration."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES).decode("utf-8", "replace")
    return refusal(str(inner), head) is None


def _codes(code: str | None) -> tuple[str, ...]:
    """Returns a name that is a known language code by itself."""
    is_known = code is not None and re.split(r"[-+]", code.removeprefix("b+"))[0] in LANGUAGES
    return (code,) if code is not None and is_known else ()


def _format(path: Path) -> str:
    found = format_by_ending(path.name)
    return "" if found is None else found.name


def _is_bilingual(path: Path) -> bool:
    found = format_by_ending(path.name)
    return found is not None and found.layout == "bilingual"


def _split(path: Path) -> tuple[str, str]:
    """Splits a name into its stem and its ending."""
    return path.name.removesuffix(path.suffix), path.suffix


def _styled(language: str, separator: str) -> str:
    return re.sub("[-_]", separator, language)
