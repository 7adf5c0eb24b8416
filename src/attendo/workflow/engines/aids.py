"""Translation aids: the terms of a glossary, and earlier human translations."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from attendo.terms.glossary import Glossary
from attendo.workflow.extras import need_packages

if TYPE_CHECKING:
    from attendo.memory.lookup import Memory


@dataclass(frozen=True, kw_only=True)
class Aids:
    """Translation aids: a glossary and translation memories that a model uses.

    Raises:
        TypeError: `glossary` is not a glossary but, for example, the name of its file.
    """

    glossary: Glossary | None = None
    """Terms that the translations use, as `read_glossary` returns them."""
    memory: str | Path | Sequence[str | Path] = ()
    """Translation memories, as TMX, XLIFF, PO or TSV, or indexes of `attendo memory build`: texts that they have are
    taken from them, similar ones guide the search."""
    memory_threshold: int = 75
    """The minimum similarity of a text, in per cent of its words."""

    def __post_init__(self) -> None:
        """Refuses the name of a file in place of a glossary."""
        if self.glossary is not None and not isinstance(self.glossary, Glossary):
            kind = type(self.glossary).__name__
            raise TypeError(f"Aids takes a Glossary, not a {kind}; attendo.read_glossary(FILE) gives one")

    @property
    def memory_files(self) -> tuple[Path, ...]:
        """The files of the translation memories."""
        files = [self.memory] if isinstance(self.memory, str | Path) else self.memory
        return tuple(map(Path, files))

    def has_memory_of(self, other: "Aids") -> bool:
        """Whether the translation memories are those of other aids, used in the same way."""
        return (self.memory_files, self.memory_threshold) == (other.memory_files, other.memory_threshold)

    def open_memory(self, languages: tuple[str, str]) -> "Memory | None":
        """Opens the translation memories; returns None if there are none.

        Args:
            languages: the codes of source and target.

        Raises:
            AttendoError: rapidfuzz is not installed.
            DataError: a memory cannot be read, or is of other languages.
            RecipeError: the threshold is out of range.
        """
        if not self.memory_files:
            return None
        need_packages(["rapidfuzz"], "memory")
        from attendo.memory.opening import open_memory

        return open_memory(self.memory_files, languages, threshold=self.memory_threshold)


NO_AIDS = Aids()
