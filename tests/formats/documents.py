"""What tests of documents share: readable sources, and translations that are easy to tell."""

from collections.abc import Callable, Mapping

from attendo.formats.contents import Code, Content
from attendo.formats.file import File, Languages, Result
from attendo.formats.table import read_file

EN_DE = Languages(source="en", target="de")


def read(data: bytes | str, name: str, languages: Languages = EN_DE) -> File:
    return read_file(data.encode() if isinstance(data, str) else data, name, languages)


def shown(content: Content) -> str:
    """A text with its codes as they are written, in guillemets."""
    return "".join(f"«{part.raw}»" if isinstance(part, Code) else part for part in content)


def sources(file: File) -> list[str]:
    return [shown(unit.source) for unit in file.units if unit.is_translatable]


def mapped(content: Content, change: Callable[[str], str]) -> Content:
    return tuple(change(part) if isinstance(part, str) else part for part in content)


def translated(file: File, change: Callable[[str], str] = str.upper) -> bytes:
    """The file with every text changed, its codes where they are."""
    results = {
        unit.id: Result(texts=tuple(mapped(form.source, change) for form in unit.forms))
        for unit in file.units
        if unit.is_translatable
    }
    return file.write(results)


def write(file: File, texts: Mapping[str, Content | str]) -> bytes:
    return file.write(
        {name: Result(texts=((text,) if isinstance(text, str) else text,)) for name, text in texts.items()}
    )
