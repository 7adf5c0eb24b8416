"""Pairs that change each time they occur: augmented text, and other pieces by BPE-dropout."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from attendo.text.augmentation import Augmentation, AugmentationConfig
from attendo.text.shards import TokenRows
from attendo.text.subwords.tokenization import EOS_ID, Tokenizer

_IDS = np.dtype(np.int32)


class RewrittenLines(NamedTuple):
    """Both sides of some lines, as int32 ids."""

    source: TokenRows
    target: TokenRows


class Rewriting:
    """The way pairs change each time they occur: by augmentation of their text, or by BPE-dropout.

    It can be sent to other processes; each creates it only once, however often it is sent.

    Args:
        source_tokenizer: the tokenizer of the sources.
        target_tokenizer: the tokenizer of the targets.
        dropout: the probability of skipping a merge; 0 for the usual pieces.
        augmentation: the changes of the text.
        max_tokens: maximum number of tokens of a side; pairs are joined only up to it, and a line that would grow
            longer is taken unchanged from the shards.
        source_tags: words that may precede a source; they stay unchanged, and first in their line.
        target_symbols: whether targets are symbols, which have one segmentation only.
        languages: the codes of source and target, for an augmentation with names; `und`, undetermined.

    Raises:
        ValueError: the augmentation needs names, and there are none for these languages.
    """

    def __init__(
        self,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        *,
        dropout: float,
        augmentation: AugmentationConfig,
        max_tokens: int,
        source_tags: Sequence[str] = (),
        target_symbols: bool = False,
        languages: tuple[str, str] = ("und", "und"),
    ) -> None:
        self.joined, self.max_tokens = augmentation.joined, max_tokens
        self._tokenizers = source_tokenizer, target_tokenizer
        self._dropout, self._augmentation = dropout, augmentation
        self._source_tags, self._target_symbols = tuple(source_tags), target_symbols
        self._tags = [f"{tag} " for tag in source_tags]
        self._dropouts = dropout, 0.0 if target_symbols else dropout
        symbols = [symbol for symbol in source_tokenizer.placeholders if symbol in target_tokenizer.placeholders]
        self._languages = languages
        self._augment = Augmentation(augmentation, symbols, languages)

    def __reduce__(self) -> tuple[Any, ...]:
        """The arguments that recreate it in another process."""
        models = tuple(tokenizer.serialized for tokenizer in self._tokenizers)
        lines = (self.max_tokens, self._source_tags, self._target_symbols, self._languages)
        settings = (self._dropout, self._augmentation, *lines)
        return _made_once, (*models, *settings)

    def rewrite(self, task: "RewritingTask") -> RewrittenLines:
        """Rewrites the lines of a task; equal tasks yield equal lines."""
        rng = random.Random(task.seed)
        changed = []
        bounds = task.starts.tolist()
        for first, behind in pairwise(bounds):
            pairs = range(first, behind)
            tags, texts = zip(*(self._untagged(self._tokenizers[0].decode(task.source[i])) for i in pairs), strict=True)
            target = " ".join(self._tokenizers[1].decode(task.target[i]) for i in pairs)
            source, target = self._augment(" ".join(texts), target, rng)
            changed.append((tags[0] + source, target))
        sides = (
            tokenizer.encode_sampled([pair[side] for pair in changed], dropout, task.seed ^ side)
            for side, (tokenizer, dropout) in enumerate(zip(self._tokenizers, self._dropouts, strict=True))
        )
        rows = [
            pair if max(map(len, pair)) <= self.max_tokens else (task.line(task.source, i), task.line(task.target, i))
            for i, pair in enumerate(zip(*sides, strict=True))
        ]
        source_rows, target_rows = ([row[side] for row in rows] for side in (0, 1))
        return RewrittenLines(TokenRows.of(source_rows, _IDS), TokenRows.of(target_rows, _IDS))

    def _untagged(self, source: str) -> tuple[str, str]:
        """The tag before a source, with its space, and the source; an empty tag if there is none."""
        tag = next((tag for tag in self._tags if source.startswith(tag)), "")
        return tag, source[len(tag) :]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RewritingTask:
    """Lines to rewrite for one occurrence."""

    rewriting: Rewriting
    source: TokenRows
    """The sources of the lines' pairs, each with its `</s>`."""
    target: TokenRows
    starts: npt.NDArray[np.int64]
    """The beginning of each line's pairs, and the end, `(num_lines + 1,)`."""
    seed: int

    def line(self, rows: TokenRows, number: int) -> list[int]:
        """The ids of a line's pairs, unchanged, as one sentence with one `</s>`."""
        pairs = range(int(self.starts[number]), int(self.starts[number + 1]))
        return [*(int(i) for pair in pairs for i in rows[pair][:-1]), EOS_ID]


@lru_cache(maxsize=1)
def _made_once(
    source_model: bytes,
    target_model: bytes,
    dropout: float,
    augmentation: AugmentationConfig,
    max_tokens: int,
    source_tags: tuple[str, ...],
    target_symbols: bool,
    languages: tuple[str, str],
) -> Rewriting:
    """The object unpickled in a process: the same each time, since its tokenizers cache segmentations."""
    source = Tokenizer(source_model)
    return Rewriting(
        source,
        source if target_model == source_model else Tokenizer(target_model),
        dropout=dropout,
        augmentation=augmentation,
        max_tokens=max_tokens,
        source_tags=source_tags,
        target_symbols=target_symbols,
        languages=languages,
    )
