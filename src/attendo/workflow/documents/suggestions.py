"""A file's suggestions, such as `alt-trans` of XLIFF, as a translation memory for its units."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from attendo.formats.contents import plain
from attendo.workflow.documents.opening import Document
from attendo.workflow.engines.engine import Engine
from attendo.workflow.extras import is_installed


@contextmanager
def with_suggestions(engine: Engine, document: Document) -> Iterator[Engine]:
    """An engine whose translation memories include the document's suggestions for its own units during translation.

    Args:
        engine: the engine, which stays unchanged.
        document: the document. Without suggestions, or if rapidfuzz is not installed, the result is the engine itself.
    """
    languages = engine.source_language, engine.target_language
    usable = (each for each in document.file.suggestions() if plain(each.source).strip() and plain(each.target).strip())
    first = next(usable, None) if document.units and all(languages) and is_installed("rapidfuzz") else None
    if first is None or engine.description.task != "translate":
        yield engine
        return
    from attendo.memory.building import build_index_of

    with TemporaryDirectory(prefix="attendo-") as folder:
        path = Path(folder) / "suggestions"
        build_index_of(path, chain([first], usable), languages, sha256(document.content).hexdigest())
        extended = engine.with_aids(replace(engine.aids, memory=(path, *engine.aids.memory_files)))
        try:
            yield extended
        finally:
            if extended.memory is not None:
                extended.memory.close()
