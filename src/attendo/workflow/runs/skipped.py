"""`RUN/skipped.jsonl`: the pairs of batches that are skipped because training diverged, for inspection."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attendo.files import write_text
from attendo.text.prepared import PreparedData
from attendo.training.batches import BatchStream, Place
from attendo.training.divergence import Divergence, UsedBatch

SKIPPED = "skipped.jsonl"


def name_skipped(run: Path, found: Divergence, stream: BatchStream, prepared: PreparedData) -> None:
    """Adds the pairs of the batches at fault, a JSON object a line; those that are named already stay.

    Args:
        run: the run folder.
        found: the skipped batches.
        stream: the stream of the batches.
        prepared: their corpora and vocabularies.

    Raises:
        OSError: the file cannot be written.
    """
    path = run / SKIPPED
    lines = dict.fromkeys(path.read_text(encoding="utf-8").splitlines() if path.exists() else ())
    for used in found.suspects:
        for record in _records(used, stream, prepared):
            lines[json.dumps({**record, "why": found.what}, ensure_ascii=False)] = None
    write_text(path, "".join(line + "\n" for line in lines))


def _records(used: UsedBatch, stream: BatchStream, prepared: PreparedData) -> Iterator[dict[str, Any]]:
    names = list(prepared.corpora)
    _, pairs = next(stream.from_place(Place(epoch=used.epoch, batch=used.batch - 1)))
    for source, target, members in zip(pairs.source, pairs.target, pairs.members, strict=True):
        origins = [stream.origin(int(member)) for member in members]
        yield {
            "step": used.step,
            "epoch": used.epoch + 1,
            "batch": used.batch,
            "pairs": [f"{names[corpus]} {number + 1}" for corpus, number in origins],
            "source": prepared.source_tokenizer.decode(source),
            "target": prepared.target_tokenizer.decode(target),
        }
