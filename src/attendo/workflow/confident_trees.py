"""Self-training: the trees of raw text of which a parser is most confident, as training data."""

import math
import tempfile
from array import array
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import numpy as np

from attendo.destinations import find_destination
from attendo.errors import DataError
from attendo.files import text_stream
from attendo.workflow.engines.parse import Parse


class ConfidentTrees:
    """Collects parses one by one and writes, at the end, the most confident of them, in order.

    The confidence of a tree is the mean log-probability of its symbols, including `</s>`. Repaired trees are excluded.
    The trees are kept on disk until then, in the folder of an output that is a file, and their scores in memory.

    Args:
        output: the treebank to write: one tree per line; comment lines begin with `#`.
        share: the share of trees to write, above 0 up to 1.
        scores: whether each tree is preceded by its line number and score.

    Raises:
        DataError: the share is invalid.
        OSError: the output's folder cannot be written to.
    """

    def __init__(self, output: Path, share: float, *, scores: bool = False) -> None:
        if not 0 < share <= 1:
            raise DataError(f"a share of {share} cannot be kept; take one above 0 up to 1, such as 0.5")
        destination = find_destination(output)
        beside = destination.path.parent if destination.is_file else None
        if beside is not None:
            beside.mkdir(parents=True, exist_ok=True)
        self._output, self._share, self._scores = output, share, scores
        self._waiting: IO[str] = tempfile.TemporaryFile(  # noqa: SIM115  # __exit__ closes it
            "w+", encoding="utf-8", newline="\n", dir=beside
        )
        self._sureness, self._numbers, self._lengths = array("d"), array("q"), array("q")

    def add(self, parse: Parse, number: int) -> None:
        """Adds the parse of a sentence.

        Args:
            parse: repaired parses, and those without a tree, are skipped.
            number: the sentence's number, from 1.
        """
        for found in parse.n_best[:1]:
            if not found.faults and math.isfinite(found.log_prob):
                self._waiting.write(f"{found.tree}\n")
                self._sureness.append(found.log_prob / (len(found.symbols) + 1))
                self._numbers.append(number)
                self._lengths.append(len(parse.words))

    def write(self) -> str:
        """Writes the surest trees.

        Returns:
            A summary of the output, as one line.

        Raises:
            DataError: there is no tree to choose from.
            OSError: the disk is full, or cannot be written to.
        """
        if not self._sureness:
            raise DataError("no sentence has a tree, so there is none to keep")
        sureness, lengths = np.array(self._sureness), np.array(self._lengths)
        num_kept = max(1, math.floor(self._share * len(sureness)))
        # Among equal scores the earlier one.
        chosen = np.zeros(len(sureness), dtype=bool)
        chosen[np.argsort(-sureness, kind="stable")[:num_kept]] = True
        summary = (
            f"{num_kept:,} of {len(sureness):,} trees, log-probability {sureness[chosen].min():.4f} a symbol and more; "
            f"{lengths[chosen].mean():.1f} words on the average, {lengths.mean():.1f} of all"
        )
        self._waiting.seek(0)
        with text_stream(self._output) as file:
            file.write(f"# automatic, the surest {self._share:.0%}: {summary}\n")
            for tree, is_chosen, number, score in zip(self._waiting, chosen, self._numbers, sureness, strict=True):
                if is_chosen:
                    file.write(f"# {number} {score:.6f}\n{tree}" if self._scores else tree)
        return f"kept {summary}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._waiting.close()
