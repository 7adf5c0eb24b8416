"""A made-up translator: each word from a small dictionary or in capitals, in reverse order, exactly aligned."""

import asyncio
import io
import re
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from attendo.attention_maps.weights import AttentionMap
from attendo.checkpoint.model_folder import ModelDescription
from attendo.decoding.constraints.line_constraints import Constraints
from attendo.decoding.lines.alignment import alignment
from attendo.decoding.lines.translation import Candidate, Translation
from attendo.markup.text_types import Confidence, TranslatedLine, no_confidence
from attendo.serving.access.callers import Callers
from attendo.serving.access.keys import KeyRing
from attendo.serving.app import Server, create_app
from attendo.serving.config import ServingConfig
from attendo.serving.core.text_loop import TextLoop
from attendo.serving.documents.background import Documents
from attendo.serving.documents.workers import DocumentWorkers
from attendo.serving.errors import ServingError
from attendo.serving.languages.detection import Detector
from attendo.serving.logs import Log
from attendo.serving.metrics import Metrics
from attendo.serving.service import Service
from attendo.serving.status import Status
from attendo.serving.translating import Caller, Options, Pair
from attendo.workflow.engines.parse import Parse

WORDS = {"the": "das", "old": "alte", "house": "Haus", "dog": "Hund", "sleeps": "schläft", "red": "rote", "car": "Auto"}


class MadeUp:
    """Translates lines, and remembers what it was asked.

    Args:
        reverse: whether the words come in reverse order; a final mark stays at the end.
        loses: words that it leaves out, such as a symbol.
        keeps_symbols: whether it knows `⟦1⟧` as something to be copied; if not it writes nothing for it.
        same: whether words stay as they are.
    """

    def __init__(
        self, *, reverse: bool = False, loses: Sequence[str] = (), keeps_symbols: bool = True, same: bool = False
    ) -> None:
        self._reverse, self._loses, self._keeps_symbols = reverse, tuple(loses), keeps_symbols
        self._same = same
        self.lines: list[str] = []
        self.constraints: list[Constraints] = []
        self.aligned: list[str] = []

    async def __call__(
        self, lines: Sequence[str], constraints: Sequence[Constraints] | None = None, *, alignment: bool = False
    ) -> list[TranslatedLine]:
        """One a line."""
        await asyncio.sleep(0)
        self.lines += lines
        self.constraints += constraints or ()
        self.aligned += lines if alignment else ()
        return [self._line(line, alignment) for line in lines]

    def _line(self, line: str, aligned: bool) -> TranslatedLine:
        words = line.split(" ")
        mark = words[-1][-1] if words[-1][-1:] in set(".!?") and words[-1] != words[-1][-1] else ""
        places = [place for place in range(len(words)) if words[place] not in self._loses]
        if self._reverse:
            places.reverse()
        written = []
        for place in places:
            word = words[place].removesuffix(mark) if place == len(words) - 1 else words[place]
            written.append(self._word(word))
        kept = [(place, word) for place, word in zip(places, written, strict=True) if word]
        text = " ".join(word for _, word in kept) + (mark if kept else "")
        candidate = Candidate(
            text=text, ids=(), pieces=(), log_prob=-1.0, score=-0.5, token_log_probs=(), finished=True
        )
        other = Candidate(
            text=text.lower() if text.lower() != text else text + " !",
            ids=(),
            pieces=(),
            log_prob=-2.0,
            score=-1.0,
            token_log_probs=(),
            finished=True,
        )
        translation = Translation(
            source=line, text=text, score=-0.5, log_prob=-1.0, n_best=(candidate, other), read=line
        )
        if not aligned:
            return TranslatedLine(translation=translation)
        weights = np.zeros((len(kept) + 1, len(words) + 1), np.float32)
        for row, (place, _) in enumerate(kept):
            weights[row, place] = 1
        weights[-1, -1] = 1
        source = [f"\u2581{word}" for word in words]
        target = [f"\u2581{word}" for word in text.split(" ")] if kept else []
        found = alignment([*source, "</s>"], [*target, "</s>"], weights)
        return TranslatedLine(translation=translation, alignments=(found, found))

    def _word(self, word: str) -> str:
        if re.search("\u27e6\\d+\u27e7", word):
            return word if self._keeps_symbols else ""
        if self._same:
            return word
        match = re.fullmatch(r"(\W*)(.*?)(\W*)", word, re.DOTALL)
        assert match is not None
        before, core, behind = match.groups()
        return before + WORDS.get(core.lower(), core.upper()) + behind


class MadeUpModels:
    """The core as APIs see it, with made-up models.

    Args:
        pairs: that it serves, `en-de` each.
        translate: what translates, for every pair.
        delay_s: that it takes.
    """

    def __init__(
        self, pairs: Sequence[str] = ("en-de", "de-en"), translate: MadeUp | None = None, *, delay_s: float = 0.0
    ) -> None:
        self._pairs = tuple(Pair(source=name.split("-")[0], target=name.split("-")[1], model=name) for name in pairs)
        self.translate_lines = translate or MadeUp()
        self.delay_s = delay_s
        self.failures: list[ServingError] = []
        """Raised one after the other before anything is translated."""
        self.callers: list[Caller] = []
        self.options: list[Options] = []

    def pairs(self) -> tuple[Pair, ...]:
        return self._pairs

    def parsers(self) -> tuple[str, ...]:
        return ()

    def names(self) -> tuple[str, ...]:
        return tuple(pair.model for pair in self._pairs)

    def folder(self, model: str) -> Path:
        raise ServingError(400, "unknown-pair", model)

    def description(self, model: str) -> ModelDescription:
        raise ServingError(400, "unknown-pair", model)

    def is_loaded(self, model: str) -> bool:
        return model in self.names()

    def confidence(self, model: str) -> Confidence:
        del model
        return no_confidence

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
        del pair, deadline
        self.callers.append(caller)
        self.options.append(options)
        if self.failures:
            raise self.failures.pop(0)
        await asyncio.sleep(self.delay_s)
        return await self.translate_lines(lines, constraints, alignment=alignment)

    async def attention(
        self, pair: Pair, source: str, target: str | None, caller: Caller, *, deadline: float | None = None
    ) -> AttentionMap:
        raise NotImplementedError

    async def parse(
        self, model: str, sentences: Sequence[str], n_best: int, caller: Caller, *, deadline: float | None = None
    ) -> list[Parse]:
        raise NotImplementedError


def made_up_service(
    models: MadeUpModels | None = None,
    config: ServingConfig | None = None,
    *,
    keys: KeyRing | None = None,
    documents_folder: Path | None = None,
    helpers: Executor | None = None,
    workers: DocumentWorkers | None = None,
) -> Service:
    """A service of made-up models."""
    models, config = models or MadeUpModels(), config or ServingConfig()
    helpers = helpers or ThreadPoolExecutor(2)
    detector = Detector([pair.source for pair in models.pairs()])
    documents, texts = None, TextLoop()
    if documents_folder is not None:
        documents = Documents(
            models, detector, config.documents, helpers, texts, folder=documents_folder, workers=workers
        )
    return Service(
        translating=models,
        config=config,
        detector=detector,
        callers=Callers(keys or KeyRing(), config.limits, config.keys),
        metrics=Metrics(),
        documents=documents,
        helpers=helpers,
        texts=texts,
    )


class Asked:
    """The application of a service, asked without a network; one loop for all requests, as a server has.

    Args:
        service: what answers.
    """

    def __init__(self, service: Service) -> None:
        self.service = service
        parts: Any = {"core": None, "pool": None, "keeping": None, "app": None}
        app = create_app(Server(service=service, status=Status(), log=Log(io.StringIO()), **parts))
        self._loop = asyncio.new_event_loop()
        self._client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost")

    def __call__(self, method: str, path: str, **sent: Any) -> httpx.Response:
        """Asks; for what can be sent see `httpx.AsyncClient.request`."""
        return self._loop.run_until_complete(self._client.request(method, path, **sent))

    def wait(self, seconds: float) -> None:
        """Lets what goes on in the background go on."""
        self._loop.run_until_complete(asyncio.sleep(seconds))

    def close(self) -> None:
        """Ends it."""
        self._loop.run_until_complete(self._client.aclose())
        if self.service.documents is not None:
            self._loop.run_until_complete(self.service.documents.close())
        self._loop.close()
        self.service.state.close()
        self.service.helpers.shutdown()
