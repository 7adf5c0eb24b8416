"""Corrections in our own API: sent one by one or as corrected documents, exported, removed."""

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from attendo.errors import AttendoError
from attendo.formats.pairs.table import has_both_sides
from attendo.serving.apis.corrections_types import CorrectionsAnswer, CorrectionsRequest, KeptAnswer
from attendo.serving.apis.requests import StrictRoute, find_pair, shown_key
from attendo.serving.corrections import SentCorrection, as_tmx
from attendo.serving.errors import bad_request, forbidden
from attendo.serving.http.parameters import parameters_of
from attendo.serving.service import Service
from attendo.workflow.pair_files import CORRECTION_RULES, pairs_of

_FORM = {
    "requestBody": {
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "source": {"type": "string"},
                        "target": {"type": "string"},
                    },
                }
            }
        },
        "required": True,
    }
}
_TMX = "application/x-tmx+xml"


def router(service: Service) -> APIRouter:
    """The paths.

    Args:
        service: the services of the server.
    """
    api = _Api(service)
    routes = APIRouter(prefix="/api/corrections", tags=["corrections"])
    routes.add_api_route(
        "",
        api.keep,
        methods=["POST"],
        responses={200: {"model": KeptAnswer}},
        response_model=None,
        route_class_override=StrictRoute,
    )
    kept: dict[str, Any] = {"model": CorrectionsAnswer, "content": {_TMX: {}}}
    routes.add_api_route("", api.export, methods=["GET"], responses={200: kept}, response_model=None)
    routes.add_api_route("", api.remove_all, methods=["DELETE"], status_code=204, response_class=Response)
    routes.add_api_route("/{id_}", api.remove, methods=["DELETE"], status_code=204, response_class=Response)
    routes.add_api_route(
        "/document",
        api.keep_document,
        methods=["POST"],
        responses={200: {"model": KeptAnswer}},
        response_model=None,
        openapi_extra=_FORM,
    )
    return routes


class _Api:
    """The handlers of the paths."""

    def __init__(self, service: Service) -> None:
        self._service, self._corrections = service, service.corrections

    async def keep(self, request: Request, body: CorrectionsRequest) -> Response:
        """Keeps corrections of one's own; the same text is answered with them from now on."""
        self._check_enabled()
        caller = self._service.caller(request, shown_key(request))
        texts = [part for item in body.corrections for part in (item.text, item.translation)]
        self._service.admit(request, caller, texts)
        pair = find_pair(self._service, body.source, body.target, body.model)
        sent = [
            SentCorrection(
                source_language=pair.source,
                target_language=pair.target,
                source=item.text.strip(),
                target=item.translation.strip(),
                machine=item.machine,
                model=pair.model,
            )
            for item in body.corrections
        ]
        if any(not one.source or not one.target for one in sent):
            raise bad_request("corrections: a text or its translation is white space alone; leave it out")
        total = await self._corrections.keep(caller.name, sent)
        return JSONResponse({"kept": len(sent), "dropped": {}, "total": total})

    async def keep_document(self, request: Request) -> Response:
        """Keeps the translated units of a corrected document: TMX, XLIFF, PO, CSV, TSV or JSON lines."""
        self._check_enabled()
        sent = await parameters_of(request)
        caller = self._service.caller(request, shown_key(request))
        upload = sent.file("file")
        if upload is None:
            raise bad_request("file is missing; send the document as multipart/form-data, its field is called file")
        pair = find_pair(self._service, sent.text("source"), sent.text("target"), None)
        content = upload.content.read()
        dropped: Counter[str] = Counter()
        languages = (pair.source, pair.target)
        pairs = await self._service.in_thread(_pairs_of, upload.name, content, languages, dropped)
        most = self._service.config.documents.max_characters
        self._service.admit(request, caller, ["".join(s + t for s, t in pairs)], max_characters=most)
        kept = [
            SentCorrection(source_language=pair.source, target_language=pair.target, source=source, target=target)
            for source, target in pairs
        ]
        total = await self._corrections.keep(caller.name, kept)
        return JSONResponse({"kept": len(kept), "dropped": dict(dropped), "total": total})

    async def export(self, request: Request, format: str = "json") -> Response:
        """Gives one's own corrections, as JSON or, with `format=tmx`, as a translation memory."""
        if format not in ("json", "tmx"):
            raise bad_request(f"format = {format[:20]!r} is not known; take json or tmx")
        found = await self._corrections.of(self._service.caller(request, shown_key(request)).name)
        if format == "json":
            return JSONResponse({"corrections": [kept.to_json() for kept in found]})
        name = {"Content-Disposition": 'attachment; filename="corrections.tmx"'}
        return Response(as_tmx(found), media_type=_TMX, headers=name)

    async def remove(self, request: Request, id_: int) -> Response:
        """Removes a correction of one's own."""
        await self._corrections.delete(self._service.caller(request, shown_key(request)).name, id_)
        return Response(status_code=204)

    async def remove_all(self, request: Request) -> Response:
        """Removes all corrections of one's own."""
        await self._corrections.delete_all(self._service.caller(request, shown_key(request)).name)
        return Response(status_code=204)

    def _check_enabled(self) -> None:
        if not self._service.config.corrections.enabled:
            raise forbidden("corrections are not kept by this server (corrections.enabled = false)")


def _pairs_of(name: str, content: bytes, languages: tuple[str, str], dropped: Counter[str]) -> list[tuple[str, str]]:
    """The corrected pairs of a document; the others are counted by reason.

    Raises:
        ServingError: it is of no known format, or cannot be read.
    """
    suffix = Path(name).suffix.lower()
    if not has_both_sides(Path(f"document{suffix}")):
        raise bad_request("the document holds no pairs by its name; send .tmx, .xlf, .xliff, .po, .csv, .tsv or .jsonl")
    with tempfile.TemporaryDirectory(prefix="attendo-") as folder:
        path = Path(folder) / f"document{suffix}"
        path.write_bytes(content)
        found: dict[str, str] = {}
        try:
            for pair in pairs_of(path, languages, dropped, cleaning=CORRECTION_RULES):
                if pair.source == pair.target:
                    dropped["identical"] += 1
                else:
                    found[pair.source] = pair.target
        except AttendoError as error:
            raise bad_request(str(error).replace(str(path), "the document")[:500]) from None
    return list(found.items())
