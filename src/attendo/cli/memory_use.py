"""Translation memories in commands: preparing them before a model is loaded, and their summary at the end."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from attendo.checkpoint.finding import find_model
from attendo.cli.progress import counted, notes

if TYPE_CHECKING:
    from attendo.decoding.lines.translation import MatchKind
    from attendo.memory.building import BuiltIndex
    from attendo.workflow.engines.aids import Aids


def prepare_memory(aids: "Aids", model: str, *, quiet: bool) -> None:
    """Builds the index of the translation memories if it is missing, and rejects files that are none.

    Args:
        aids: the settings that name the memories.
        model: the model that determines the languages.
        quiet: whether to suppress the note.
    """
    from attendo.workflow.documents.opening import model_languages
    from attendo.workflow.extras import need_packages

    need_packages(["rapidfuzz"], "memory")
    from attendo.memory.opening import open_memory

    say = notes(quiet=quiet)

    def built(found: "BuiltIndex", path: Path) -> None:
        say(f"{built_line(found)}; the index is kept as {path}")

    open_memory(
        aids.memory_files,
        model_languages(find_model(model)),
        threshold=aids.memory_threshold,
        built=built,
    ).close()


def built_line(found: "BuiltIndex") -> str:
    """A summary of a built index: `read 1,204 pairs of translation memory, 1,180 different; left out: fuzzy 12`."""
    left_out = ", ".join(f"{reason} {count:,}" for reason, count in found.left_out.most_common())
    line = f"read {counted(found.num_pairs, 'pair')} of translation memory, {found.num_entries:,} different"
    return f"{line}; left out: {left_out}" if left_out else line


def memory_line(matches: "Mapping[MatchKind, int]") -> str:
    """A summary of translation memory matches: `memory: 120 as they were, 14 with their numbers changed, 61 close`."""
    kinds: dict[MatchKind, str] = {"exact": "as they were", "changed": "with their numbers changed", "fuzzy": "close"}
    return "memory: " + ", ".join(f"{matches.get(kind, 0):,} {name}" for kind, name in kinds.items())
