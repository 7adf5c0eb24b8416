"""An endpoint for OmegaT's plugins such as FakeMT and OPUS-CAT, whose address and parameters the user enters.

    GET /omegat?source=en-US&target=de-DE&text=...    {"translation": "..."}

OmegaT's plugin for LibreTranslate needs none of this: it asks `/translate`.
"""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from attendo.markup.text_types import TextRequest
from attendo.serving.apis.answers import no_words, pair_of, problem_fields, translated
from attendo.serving.apis.requests import shown_key
from attendo.serving.errors import ErrorShape, ServingError, bad_request
from attendo.serving.http.parameters import check_characters, parameters_of
from attendo.serving.languages.names import served_code, sources, targets
from attendo.serving.service import Service


def _error_body(error: ServingError) -> dict[str, Any]:
    return {"error": error.message}


ERRORS = ErrorShape(paths=("/omegat",), body=_error_body)


def router(service: Service) -> APIRouter:
    """The endpoint."""
    routes = APIRouter(tags=["OmegaT"])

    async def translate(request: Request) -> Response:
        """Translates a segment with OmegaT's tags: `source`, `target`, `text`, and `api_key` where one is needed."""
        sent = await parameters_of(request)
        caller = service.caller(request, sent.text("api_key") or shown_key(request))
        text = sent.text("text")
        if text is None:
            raise bad_request("text is missing: ?source=en-US&target=de-DE&text=...")
        check_characters([text])
        pairs = service.translating.pairs()
        source = served_code(sent.text("source") or "", sources(pairs))
        target = served_code(sent.text("target") or "", targets(pairs))
        pair = pair_of(pairs, source, target) if source and target else None
        if pair is None:
            raise bad_request(f"no model here translates from {sent.text('source')} into {sent.text('target')}")
        service.admit(request, caller, [text])
        wanted = TextRequest(text=text, source_language=pair.source, target_language=pair.target)
        found = await translated(service, request, caller, [(None if no_words(text) else pair, wanted)])
        return JSONResponse({"translation": found[0].text} | problem_fields(found))

    routes.add_api_route("/omegat", translate, methods=["GET"], response_model=None)
    return routes
