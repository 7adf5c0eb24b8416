"""Our own API: `/api/...`, JSON in and out, with every detail of a translation."""

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, StreamingResponse

from attendo import __version__
from attendo.attention_maps.page import to_html
from attendo.attention_maps.weights import to_json
from attendo.attention_maps.words import joined
from attendo.markup.sentences import Plan, plan_of
from attendo.markup.splitting import sentence_spans
from attendo.markup.text_types import (
    Confidence,
    FindCorrections,
    TextRequest,
    TranslatedLine,
    TranslatedText,
    TranslateLines,
)
from attendo.markup.texts import stream_text, translate_text
from attendo.markup.together import gathered
from attendo.model.weights.parameters import num_weights
from attendo.parsing.drawing import to_svg
from attendo.serving.apis.answers import unserved_notes
from attendo.serving.apis.native_json import number, segment_json, translation_json
from attendo.serving.apis.native_types import (
    AttentionRequest,
    DetectAnswer,
    DetectRequest,
    ErrorAnswer,
    ModelsAnswer,
    ParseAnswer,
    ParseRequest,
    TranslateAnswer,
    TranslateRequest,
)
from attendo.serving.apis.requests import StrictRoute, detected_pair, find_pair, shown_key
from attendo.serving.core.text_loop import FromHere
from attendo.serving.documents.options import ENDINGS
from attendo.serving.errors import bad_request, unknown_pair
from attendo.serving.glossaries import Glossaries, own_glossary
from attendo.serving.http.events import event_stream
from attendo.serving.service import Service
from attendo.serving.translating import Caller, Options, Pair
from attendo.terms.glossary import Glossary
from attendo.workflow.engines.parse import Parse

Note = tuple[str, ...]
"""Problems of a text other than those of its translation."""
_DESCRIPTIONS = {
    400: "The request cannot be meant, or nothing served fits.",
    401: "A key is needed.",
    403: "The key is not known.",
    408: "The body was too slow.",
    413: "More than a request may have.",
    429: "More than a caller may have; see Retry-After.",
    456: "The key's characters are used up.",
    500: "A fault of the server.",
    503: "The server is busy, or it took too long; see Retry-After.",
}
ERRORS: dict[int | str, dict[str, Any]] = {
    **{status: {"model": ErrorAnswer, "description": text} for status, text in _DESCRIPTIONS.items()},
    "4XX": {"model": ErrorAnswer, "description": "The request cannot be answered."},
}
"""Errors of every route."""
_EVENTS = {
    "text/event-stream": {
        "schema": {
            "type": "object",
            "description": "Each of the server-sent events; `data` is JSON.",
            "properties": {
                "event": {"type": "string", "enum": ["segment", "done", "error"]},
                "data": {"type": "string", "contentMediaType": "application/json"},
            },
            "required": ["event", "data"],
        }
    }
}
"""A stream's description: OpenAPI 3.1 has no type for events, so each is described as an object."""


def router(service: Service, glossaries: Glossaries) -> APIRouter:
    """The routes of our own API.

    Args:
        service: the models and everything else that requests need.
        glossaries: the callers' glossaries.
    """
    routes = APIRouter(prefix="/api", route_class=StrictRoute, responses=ERRORS, tags=["attendo"])

    @routes.post(
        "/translate", responses={200: {"model": TranslateAnswer, "content": _EVENTS}}, summary="Translate texts"
    )
    async def translate(request: Request, body: TranslateRequest) -> Response:
        """Translates one text or several, which are worked on together.

        With `stream`, or `Accept: text/event-stream`, the answer is server-sent events: `segment` with
        `{"text": INDEX, "segment": {...}}` as soon as it and those before it are ready, then `done` with the whole
        answer, or `error`.
        """
        return await _Translation(service, glossaries, request).answer(body)

    @routes.post("/detect", responses={200: {"model": DetectAnswer}}, summary="Detect a text's language")
    async def detect(request: Request, body: DetectRequest) -> Response:
        """Which of the served languages a text is in."""
        service.admit(request, service.caller(request, shown_key(request)), [body.text])
        if not service.translating.pairs():
            raise unknown_pair("this server has no model that translates, so no language is known")
        guesses = await service.in_thread(service.detector.detect, body.text)
        detected = [{"language": guess.language, "confidence": round(guess.confidence, 4)} for guess in guesses]
        return JSONResponse({"detected": detected})

    @routes.post("/attention", summary="Show where a model looks", responses={200: {"content": {"text/html": {}}}})
    async def attention(request: Request, body: AttentionRequest) -> Response:
        """Every head's attention weights, as `attendo attention -o FILE.json` writes them.

        With `Accept: text/html` the answer is a page to explore them.
        """
        return await _attention(service, request, body)

    @routes.post("/parse", responses={200: {"model": ParseAnswer}}, summary="Parse sentences")
    async def parse(request: Request, body: ParseRequest) -> Response:
        """A constituency tree a sentence, in brackets and drawn; only where a parsing model is served."""
        return await _parse(service, request, body)

    @routes.get("/models", responses={200: {"model": ModelsAnswer}}, summary="List the models")
    async def models() -> Response:
        """What is served. Needs no key."""
        return JSONResponse({"models": _models(service)})

    @routes.get("/settings", summary="What a client should know")
    async def settings() -> Response:
        """Languages and limits, as the page needs them. Needs no key."""
        return JSONResponse(_settings(service))

    return routes


# --- translating ------------------------------------------------------------------------------------------------------


class _Translation:
    """A request to translate."""

    def __init__(self, service: Service, glossaries: Glossaries, request: Request) -> None:
        self._service, self._glossaries, self._request = service, glossaries, request
        self._started = time.monotonic()

    async def answer(self, body: TranslateRequest) -> Response:
        """Translates, all at once or as events."""
        service, request = self._service, self._request
        texts = [body.text] if isinstance(body.text, str) else body.text
        caller = service.caller(request, shown_key(request))
        self._check(body)
        self._characters = service.admit(request, caller, texts)
        detected = None
        if body.source == "auto":
            pair, detected = await detected_pair(service, texts, body.target, body.model)
        else:
            pair = find_pair(service, body.source, body.target, body.model)
        request.state.model = pair.model
        service.metrics.characters.labels(pair.model).inc(self._characters)
        glossary = await own_glossary(self._glossaries, caller, body.glossary, pair)
        work = _Work(pair=pair, caller=caller, body=body, detected=detected, glossary=glossary)
        if body.stream or "text/event-stream" in request.headers.get("accept", ""):
            return StreamingResponse(
                event_stream(self._events(work, texts)),
                media_type="text/event-stream",
                headers={"x-accel-buffering": "no"},
            )
        lines = _Lines(service, work, service.deadline())

        async def answered(from_here: FromHere) -> Response:
            notes = unserved_notes(service, [self._text_request(work, text) for text in texts])
            coroutines = [
                self._text(work, text, note, from_here(lines)) for text, note in zip(texts, notes, strict=True)
            ]
            return JSONResponse(self._whole(work, await gathered(coroutines)))

        return await service.texts.work_on(self._characters, answered)

    def _check(self, body: TranslateRequest) -> None:
        limits = self._service.config.limits
        if body.n_best > limits.n_best:
            raise bad_request(f"n_best = {body.n_best} is more than the {limits.n_best} of this server")
        if body.beam_size is not None and body.beam_size > limits.beam_size:
            raise bad_request(f"beam_size = {body.beam_size} is more than the {limits.beam_size} of this server")

    def _text_request(self, work: "_Work", text: str) -> TextRequest:
        return TextRequest(
            text=text,
            format=work.body.format,
            split=work.body.split,
            n_best=work.body.n_best,
            alignment=work.body.alignment,
            source_language=work.pair.source,
            target_language=work.pair.target,
            glossary=work.glossary,
        )

    async def _read(self, asked: TextRequest, _: FromHere) -> tuple[Note, Plan]:
        [note] = unserved_notes(self._service, [asked])
        return note, plan_of(asked)

    async def _text(self, work: "_Work", text: str, note: Note, lines: TranslateLines) -> TranslatedText:
        confidence, corrections = self._confidence(work), self._corrections(work)
        text_request = self._text_request(work, text)
        translated = await translate_text(text_request, lines, confidence=confidence, corrections=corrections)
        return replace(translated, problems=(*note, *translated.problems))

    def _confidence(self, work: "_Work") -> Confidence:
        return self._service.translating.confidence(work.pair.model)

    def _corrections(self, work: "_Work") -> FindCorrections:
        return self._service.corrections.answering(work.caller, work.pair)

    async def _events(self, work: "_Work", texts: Sequence[str]) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        translated = []
        confidence, corrections = self._confidence(work), self._corrections(work)
        for place, text in enumerate(texts):
            # A long text may take longer than a request may: each part of it has the full time.
            lines = _Lines(self._service, work, None)
            text_request = self._text_request(work, text)
            note, plan = await self._service.texts.work_on(len(text), partial(self._read, text_request))
            stream = stream_text(text_request, plan, lines, confidence=confidence, corrections=corrections)
            async for part in stream:
                if isinstance(part, TranslatedText):
                    translated.append(replace(part, problems=(*note, *part.problems)))
                else:
                    yield "segment", {"text": place, "segment": segment_json(part)}
        yield "done", self._whole(work, translated)

    def _whole(self, work: "_Work", translated: Sequence[TranslatedText]) -> dict[str, Any]:
        return {
            "model": work.pair.model,
            "source": work.pair.source,
            "target": work.pair.target,
            "detected": work.detected,
            "translations": [translation_json(text) for text in translated],
            "characters": self._characters,
            "seconds": round(time.monotonic() - self._started, 4),
        }


@dataclass(frozen=True, kw_only=True)
class _Work:
    """The requested work."""

    pair: Pair
    caller: Caller
    body: TranslateRequest
    detected: dict[str, Any] | None
    glossary: Glossary | None

    @property
    def options(self) -> Options:
        body = self.body
        penalty = None if body.length_penalty is None else float(body.length_penalty)
        return Options(n_best=body.n_best, beam_size=body.beam_size, length_penalty=penalty)


class _Lines:
    """Translates lines with the options of a request.

    Args:
        service: the models and everything else that requests need.
        work: the requested work.
        deadline: the time by which all lines must be translated; None for a new one for each call.
    """

    def __init__(self, service: Service, work: _Work, deadline: float | None) -> None:
        self._service, self._work, self._deadline = service, work, deadline

    async def __call__(
        self, lines: Sequence[str], constraints: Any = None, *, alignment: bool = False
    ) -> list[TranslatedLine]:
        work = self._work
        deadline = self._service.deadline() if self._deadline is None else self._deadline
        return await self._service.translating.translate(
            work.pair,
            lines,
            work.options,
            work.caller,
            deadline=deadline,
            constraints=constraints,
            alignment=alignment,
        )


# --- the others -------------------------------------------------------------------------------------------------------


async def _attention(service: Service, request: Request, body: AttentionRequest) -> Response:
    caller = service.caller(request, shown_key(request))
    limit = service.config.limits.max_attention_characters
    service.admit(request, caller, [body.text + (body.target or "")], max_characters=limit)
    pair = find_pair(service, body.source, body.target_lang, body.model)
    weights = await service.translating.attention(pair, body.text, body.target, caller, deadline=service.deadline())
    request.state.model = pair.model
    if "text/html" in request.headers.get("accept", ""):
        return _page(await service.in_thread(to_html, weights))
    return Response(await service.in_thread(lambda: to_json(joined(weights))), media_type="application/json")


async def _parse(service: Service, request: Request, body: ParseRequest) -> Response:
    caller = service.caller(request, shown_key(request))
    parsers = service.translating.parsers()
    model = body.model or (parsers[0] if parsers else "")
    if model not in parsers:
        raise unknown_pair(f"no parser is called {model!r:.80}; there are {', '.join(parsers) or 'none'}")
    if body.n_best > service.config.limits.n_best:
        raise bad_request(f"n_best = {body.n_best} is more than the {service.config.limits.n_best} of this server")
    texts = [body.text] if isinstance(body.text, str) else body.text
    service.admit(request, caller, texts)
    request.state.model = model
    if isinstance(body.text, str):
        spans = sentence_spans(body.text, "sentences", "auto")
        texts = [body.text[start:end] for start, end in spans]
    parses = await service.translating.parse(model, texts, body.n_best, caller, deadline=service.deadline())
    trees = await service.in_thread(lambda: [_tree(parse) for parse in parses])
    return JSONResponse({"model": model, "trees": trees})


def _tree(parse: Parse) -> dict[str, Any]:
    best = parse.n_best[0] if parse.n_best else None
    return {
        "words": list(parse.words),
        "tree": None if best is None else str(best.tree),
        "svg": None if best is None else to_svg(best.tree),
        "score": None if best is None else number(best.score),
        "problem": "no words" if parse.is_empty else parse.problem,
        "n_best": [{"tree": str(other.tree), "score": number(other.score)} for other in parse.n_best[1:]],
    }


def _page(page: str) -> Response:
    """The page of `attendo attention`, which contains its own content security policy."""
    inline = "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
    policy = f"default-src 'none'; {inline}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    return HTMLResponse(page, headers={"content-security-policy": policy, "x-frame-options": "SAMEORIGIN"})


def _models(service: Service) -> list[dict[str, Any]]:
    translating = service.translating
    models = []
    for name in translating.names():
        description = translating.description(name)
        sizes = description.src_vocab_size, description.tgt_vocab_size
        models.append(
            {
                "name": name,
                "task": description.task,
                "source": description.source_language,
                "target": description.target_language,
                "loaded": translating.is_loaded(name),
                "parameters": num_weights(description.model, *sizes),
                "dtype": description.dtype,
                "beam_size": description.search.get("beam_size"),
            }
        )
    return models


def _settings(service: Service) -> dict[str, Any]:
    config, limits = service.config, service.config.limits
    pairs = service.translating.pairs()
    documents = None
    if service.documents is not None:
        documents = {
            "formats": list(ENDINGS),
            "max_bytes": config.documents.max_bytes,
            "max_characters": config.documents.max_characters,
        }
    return {
        "version": __version__,
        "pairs": [{"source": pair.source, "target": pair.target, "model": pair.model} for pair in pairs],
        "parsers": list(service.translating.parsers()),
        "detect": len({pair.source for pair in pairs}) > 1,
        "key_required": service.callers.key_required,
        "limits": {
            "max_characters": limits.max_characters,
            "max_attention_characters": limits.max_attention_characters,
            "max_items": limits.max_items,
            "n_best": limits.n_best,
            "beam_size": limits.beam_size,
            "request_seconds": limits.request_seconds,
        },
        "documents": documents,
        "corrections": config.corrections.enabled,
    }
