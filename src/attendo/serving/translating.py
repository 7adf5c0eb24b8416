"""The interface between the APIs and the core: lines in, translations out. No HTTP."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from attendo.attention_maps.weights import AttentionMap
from attendo.checkpoint.model_folder import ModelDescription
from attendo.decoding.constraints.line_constraints import Constraints
from attendo.markup.text_types import Confidence, TranslatedLine
from attendo.serving.access.keys import Key
from attendo.workflow.engines.parse import Parse


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A direction that can be translated."""

    source: str
    """The code of the source's language as in `config.json`, ISO 639-1."""
    target: str
    """The code of the target's language."""
    model: str
    """The name of the model that does it."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of a translation; lines with equal options share a batch. None stands for the model's own settings."""

    n_best: int = 1
    """Translations of each line; a narrower beam is widened to it."""
    beam_size: int | None = None
    """Hypotheses kept at each step."""
    length_penalty: float | None = None
    """Exponent of the length penalty."""


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Whom fairness and limits are about."""

    name: str
    """The key's id or, without one, the address."""
    key: Key | None = None
    """The given key, if any."""
    background: bool = False
    """Whether no caller waits for an answer, as with documents, which are translated between requests."""


class Translating(Protocol):
    """The core, as the APIs see it."""

    def pairs(self) -> tuple[Pair, ...]:
        """Lists the language pairs that can be translated now, in the order in which the models were named."""

    def parsers(self) -> tuple[str, ...]:
        """The names of the models that parse, in the same order."""

    def names(self) -> tuple[str, ...]:
        """The names of all models, in the same order."""

    def folder(self, model: str) -> Path:
        """The folder that a served model is read from.

        Raises:
            ServingError: no such model.
        """

    def description(self, model: str) -> ModelDescription:
        """Returns the `config.json` of a served model.

        Raises:
            ServingError: no such model.
        """

    def is_loaded(self, model: str) -> bool:
        """Whether a served model is in memory.

        Raises:
            ServingError: no such model.
        """

    def confidence(self, model: str) -> Confidence:
        """Returns a model's confidence function, which returns None if the model is not calibrated.

        Raises:
            ServingError: no such model.
        """

    async def translate(
        self,
        pair: Pair,
        lines: Sequence[str],
        options: Options,
        caller: Caller,
        *,
        deadline: float | None = None,
        constraints: Sequence[Constraints] | None = None,
        alignment: bool = False,
    ) -> list[TranslatedLine]:
        """Translates lines, each a sentence, together with other waiting lines.

        Cancelling it removes the waiting lines from the queue, and stops the others at the next step.

        Args:
            pair: one of `pairs`.
            lines: the sentences, in Unicode without lone surrogates.
            options: the search options.
            caller: the caller; callers take turns.
            deadline: a time of `time.monotonic()`; None for no deadline.
            constraints: the constraints of each line.
            alignment: whether the candidates are aligned with their lines.

        Returns:
            One for each line, in order, independent of other work at the time.

        Raises:
            ServingError: the queue is full, the time is over, the model is gone or the constraints cannot be met.
        """

    async def attention(
        self, pair: Pair, source: str, target: str | None, caller: Caller, *, deadline: float | None = None
    ) -> AttentionMap:
        """Computes the attention of every head and layer for a sentence and its translation.

        Args:
            pair: one of `pairs`.
            source: the sentence.
            target: its translation; None for the model's own.
            caller: the caller.
            deadline: a time of `time.monotonic()`.

        Raises:
            ServingError: as for `translate`; a side is empty or too long to be drawn.
        """

    async def parse(
        self, model: str, sentences: Sequence[str], n_best: int, caller: Caller, *, deadline: float | None = None
    ) -> list[Parse]:
        """Parses sentences.

        Args:
            model: one of `parsers`.
            sentences: the sentences as plain text.
            n_best: number of trees for each.
            caller: the caller.
            deadline: a time of `time.monotonic()`.

        Raises:
            ServingError: as for `translate`.
        """
