"""Documents in our own API: sent, queried, fetched, removed."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from attendo.serving.apis.documents_types import FORM, DocumentAnswer
from attendo.serving.apis.requests import shown_key
from attendo.serving.documents.background import Admit, Documents
from attendo.serving.documents.document import Document
from attendo.serving.documents.options import document_settings, media_type_of, target_language
from attendo.serving.errors import bad_request, forbidden, not_found
from attendo.serving.glossaries import Glossaries, used_glossary
from attendo.serving.http.parameters import Parameters, Upload, parameters_of
from attendo.serving.languages.names import served_code, sources, targets
from attendo.serving.service import Service
from attendo.serving.translating import Caller
from attendo.terms.glossary import Glossary


def router(service: Service, glossaries: Glossaries) -> APIRouter:
    """The paths.

    Args:
        service: the services of the server.
        glossaries: the callers' glossaries.
    """
    routes, api = APIRouter(prefix="/api/documents", tags=["documents"]), _Api(service, glossaries)
    state: dict[str, Any] = {"model": DocumentAnswer}
    file: dict[str, Any] = {"content": {"application/octet-stream": {}}}
    report: dict[str, Any] = {"content": {"application/json": {}}}
    paths: tuple[tuple[str, str, Callable[..., Any], int, dict[str, Any]], ...] = (
        ("", "POST", api.send, 202, state),
        ("/{id_}", "GET", api.status, 200, state),
        ("/{id_}/result", "GET", api.result, 200, file),
        ("/{id_}/report", "GET", api.report, 200, report),
        ("/{id_}", "DELETE", api.remove, 204, {}),
    )
    for path, method, endpoint, status, answer in paths:
        routes.add_api_route(
            path,
            endpoint,
            methods=[method],
            status_code=status,
            responses={status: answer},
            response_class=Response,
            response_model=None,
            openapi_extra=FORM if method == "POST" else None,
        )
    return routes


class _Api:
    """The handlers of the paths."""

    def __init__(self, service: Service, glossaries: Glossaries) -> None:
        self._service, self._glossaries = service, glossaries

    async def send(self, request: Request) -> Response:
        """Takes a document: multipart with `file`, `target`, and options of `attendo translate`.

        Its source language is detected where `source` is left out.
        """
        sent = await parameters_of(request)
        caller = self._service.caller(request, shown_key(request))
        upload = sent.file("file")
        if upload is None:
            raise bad_request("file is missing; send the document as multipart/form-data, its field is called file")
        id_ = sent.text("glossary")
        glossary = used_glossary([await self._glossaries.find(caller.name, id_)]) if id_ else None
        document = await accepted(
            self._service, request, caller, upload, sent, glossary=glossary, template=sent.file("template")
        )
        return JSONResponse(_document_json(document), status_code=202)

    async def status(self, request: Request, id_: str) -> Response:
        """Reports the progress of a document."""
        return JSONResponse(_document_json(self._find(request, id_)))

    async def result(self, request: Request, id_: str) -> Response:
        """Gives the translated document."""
        return await download(self._service, self._find_done(request, id_))

    async def report(self, request: Request, id_: str) -> Response:
        """Gives what became of each unit, as `attendo translate --report` writes it."""
        document = self._find_done(request, id_)
        content = await self._service.in_thread(document.report_path.read_bytes)
        return Response(content, media_type="application/json", headers=_attachment(f"{document.name}.report.json"))

    async def remove(self, request: Request, id_: str) -> Response:
        """Forgets a document, whether it is done or not."""
        documents_of(self._service).remove(self._find(request, id_))
        return Response(status_code=204)

    def _find_done(self, request: Request, id_: str) -> Document:
        document = self._find(request, id_)
        if document.status != "done":
            raise not_found(f"the document is not there: {document.message or document.status}")
        return document

    def _find(self, request: Request, id_: str) -> Document:
        self._service.caller(request, shown_key(request))
        document = documents_of(self._service).find(id_)
        if document is None:
            raise not_found("no such document; documents are deleted after a while")
        return document


def documents_of(service: Service) -> Documents:
    """Returns the server's documents.

    Raises:
        ServingError: they are not taken here.
    """
    if service.documents is None:
        raise forbidden("this server does not accept documents")
    return service.documents


async def accepted(
    service: Service,
    request: Request,
    caller: Caller,
    upload: Upload,
    sent: Parameters,
    *,
    glossary: Glossary | None = None,
    template: Upload | None = None,
) -> Document:
    """Takes an uploaded document; the parameters are those of our own API, and also of LibreTranslate's.

    Args:
        service: the services of the server.
        request: the HTTP request.
        caller: the caller who sent it.
        upload: the document.
        sent: the parameters of the request.
        glossary: the glossary to use.
        template: the file with the sources, if the document is its translation.

    Raises:
        ServingError: the document is not accepted.
    """
    documents, pairs = documents_of(service), service.translating.pairs()
    target, source = sent.text("target"), sent.text("source") or "auto"
    to = served_code(target, targets(pairs)) if target else None
    if target is None or to is None:
        raise bad_request(f"target = {target!r} is not served; take one of {', '.join(targets(pairs))}")
    origin = None if source == "auto" else served_code(source, sources(pairs))
    if origin is None and source != "auto":
        raise bad_request(f"source = {source!r} is not served; take auto or one of {', '.join(sources(pairs))}")
    if glossary is not None and (origin, to) != (glossary.source_language, glossary.target_language):
        raise bad_request(
            f"the glossary is from {glossary.source_language} to {glossary.target_language}; give just these as source "
            "and target"
        )
    return await documents.accept(
        upload.content,
        upload.name,
        caller,
        admission(service, request, caller),
        source=origin,
        target=to,
        glossary=glossary,
        settings=document_settings(sent, target_language(target, to)),
        template=template,
    )


def admission(service: Service, request: Request, caller: Caller) -> Admit:
    """Returns the function that counts a document's text for a caller."""
    most = service.config.documents.max_characters
    return lambda text: service.admit(request, caller, [text], max_characters=most)


async def download(service: Service, document: Document) -> Response:
    """The translated document as an answer."""
    content = await service.in_thread(document.path.read_bytes)
    return Response(content, media_type=media_type_of(document.suffix), headers=_attachment(document.result_name))


def _attachment(name: str) -> dict[str, str]:
    """The headers of a file to be saved under a name."""
    plain = name.encode("ascii", errors="replace").decode("ascii").replace("?", "_")
    return {"Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"}


def _document_json(document: Document) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "id": document.id,
        "status": document.status,
        "name": document.result_name,
        "progress": round(document.progress, 4),
        "source": document.source,
        "target": document.target,
        "characters": document.characters,
        "message": document.message,
        "problems": document.problems,
    }
    if document.status in ("queued", "translating"):
        facts["seconds_remaining"] = document.seconds_remaining
    if document.summary is not None:
        facts["summary"] = document.summary
    return facts
