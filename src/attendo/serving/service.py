"""The services that APIs need to answer: created once, and passed to each module's `router(service)`.

An API is a module with

    def router(service: Service) -> APIRouter      its paths; `app` mounts them below the server's prefix
    ERRORS: ErrorShape                             how it tells errors (`errors.ErrorShape`); not for our own API

A route identifies the caller by `service.caller(request, key)`, checks limits by `service.admit(request, caller,
texts)`, and then uses `service.translating`. Each raises `ServingError`, which `app` turns into the API's own JSON;
routes need not catch it.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from starlette.requests import HTTPConnection

from attendo.serving.access.callers import Callers
from attendo.serving.config import ServingConfig
from attendo.serving.core.text_loop import TextLoop
from attendo.serving.corrections import Corrections
from attendo.serving.metrics import Metrics
from attendo.serving.state import State
from attendo.serving.translating import Caller, Translating

if TYPE_CHECKING:
    from attendo.serving.documents.background import Documents
    from attendo.serving.languages.detection import Detector

DoneT = TypeVar("DoneT")


@dataclass(frozen=True, kw_only=True)
class Service:
    """The services behind the APIs."""

    translating: Translating
    """The models."""
    config: ServingConfig
    """The settings; the APIs mostly need `config.limits`."""
    detector: "Detector"
    """The language detector; call it through `in_thread`."""
    callers: Callers
    """Keys and limits."""
    metrics: Metrics
    """The metrics."""
    documents: "Documents | None"
    """Documents that are translated in the background; None if documents are not accepted."""
    helpers: Executor
    """A few threads for work that is no translating: detection, files, drawings."""
    texts: TextLoop = field(default_factory=TextLoop)
    """The thread in which long texts are cut into sentences and put together."""
    state: State = field(default_factory=State)
    """The state that survives a restart, if the configuration has a folder for it."""

    @cached_property
    def corrections(self) -> Corrections:
        """The corrections sent by callers, which take precedence over the models."""
        return Corrections(self.state, self.config.corrections)

    def caller(self, request: HTTPConnection, key: str | None) -> Caller:
        """Identifies the caller.

        Args:
            request: the HTTP request.
            key: the key given in the request, wherever the API has it; None or empty for none.

        Raises:
            ServingError: 401, 403 or 429; see `Callers.identify`.
        """
        caller = self.callers.identify(request.client.host if request.client else "", key)
        request.state.caller = caller  # for the log
        return caller

    def admit(
        self, request: HTTPConnection, caller: Caller, texts: Sequence[str], *, max_characters: int | None = None
    ) -> int:
        """Counts a request against the caller's limits, or refuses it.

        Args:
            request: the HTTP request.
            caller: the caller.
            texts: the texts to translate, parse or detect.
            max_characters: maximum number of characters of this kind of request; None for the caller's limit.

        Returns:
            The characters of all texts.

        Raises:
            ServingError: 413, 429 or 456; see `Callers.admit`.
        """
        characters = sum(map(len, texts))
        self.callers.admit(caller, characters=characters, items=len(texts), max_characters=max_characters)
        request.state.characters = characters  # for the log and the figures
        if self.config.log.text:
            request.state.texts = tuple(texts)
        return characters

    def deadline(self) -> float:
        """Returns the deadline of a request that arrives now, by `time.monotonic()`."""
        return time.monotonic() + self.config.limits.request_seconds

    async def in_thread(self, work: Callable[..., DoneT], *arguments: object) -> DoneT:
        """Runs work that takes more than a millisecond in a thread, so that other requests are answered meanwhile.

        Args:
            work: a function that uses nothing that another thread changes.
            arguments: its arguments.
        """
        return await asyncio.get_running_loop().run_in_executor(self.helpers, work, *arguments)
