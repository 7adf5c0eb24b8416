"""Documents and glossaries of DeepL's API."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from attendo.serving.apis.deepl import (
    caller_of,
    glossary_terms,
    refuse_what_is_not_here,
    served_pair_codes,
    traced,
)
from attendo.serving.apis.documents_api import admission, documents_of, download
from attendo.serving.documents.document import Document, suffix_of
from attendo.serving.documents.options import ENDINGS, document_settings, is_taken, target_language
from attendo.serving.errors import ServingError, bad_request, not_found
from attendo.serving.glossaries import Glossaries, OwnGlossary, parsed_entries
from attendo.serving.http.parameters import Parameters, check_characters, parameters_of
from attendo.serving.languages.names import deepl_code, served_code, sources, targets
from attendo.serving.service import Service


def router(service: Service, glossaries: Glossaries) -> APIRouter:
    """The endpoints.

    Args:
        service: the services of the server.
        glossaries: the callers' glossaries.
    """
    routes, files, words = APIRouter(tags=["DeepL"]), _Documents(service, glossaries), _Glossaries(service, glossaries)
    for version in ("/v2", "/v1"):
        for path, method, endpoint in (
            ("document", "POST", files.send),
            ("document/{id_}", "POST", files.status),
            ("document/{id_}/result", "POST", files.result),
            ("glossary-language-pairs", "GET", words.pairs),
            ("glossaries", "POST", words.create),
            ("glossaries", "GET", words.all),
            ("glossaries/{id_}", "GET", words.one),
            ("glossaries/{id_}", "DELETE", words.delete),
            ("glossaries/{id_}/entries", "GET", words.entries),
        ):
            routes.add_api_route(
                f"{version}/{path}",
                traced(endpoint),
                methods=[method],
                response_model=None,
                operation_id=f"deepl{version.replace('/', '_')}_{path.partition('/')[0]}_{endpoint.__name__}",
                description=endpoint.__doc__,
            )
    return routes


class _Documents:
    """Documents: sent, queried with their key, fetched once."""

    def __init__(self, service: Service, glossaries: Glossaries) -> None:
        self._service, self._known = service, glossaries

    async def send(self, request: Request) -> Response:
        """Takes a document: multipart with `file`, `target_lang`, and perhaps `source_lang`, `filename`.

        Besides, it has the options `only`, `mark`, `check` and `format` of `/api/documents`.
        """
        sent = await parameters_of(request)
        caller = caller_of(self._service, request, sent)
        documents = documents_of(self._service)
        upload = sent.file("file")
        if upload is None:
            raise bad_request("Missing or invalid argument: file")
        name = sent.text("filename") or upload.name
        if not is_taken(name, sent):
            raise bad_request(f"Invalid file data: take one of {', '.join(ENDINGS)}")
        wanted = sent.text("output_format")
        if wanted and f".{wanted.lower()}" != suffix_of(name):
            raise bad_request("Value for 'output_format' not supported.")
        source, target = served_pair_codes(self._service, sent.text("source_lang"), sent.text("target_lang"))
        refuse_what_is_not_here(sent)
        terms = await glossary_terms(self._known, caller, sent, source, target)
        document = await documents.accept(
            upload.content,
            name,
            caller,
            admission(self._service, request, caller),
            source=source,
            target=target,
            glossary=terms,
            settings=document_settings(sent, target_language(sent.text("target_lang") or target, target)),
        )
        return JSONResponse({"document_id": document.id.upper(), "document_key": document.key.upper()})

    async def status(self, request: Request) -> Response:
        """Says how far a document is: `document_key`."""
        document = await self._find(request)
        state: dict[str, Any] = {"document_id": document.id.upper(), "status": document.status}
        if document.status in ("queued", "translating"):
            state["seconds_remaining"] = document.seconds_remaining
        elif document.status == "done":
            state["billed_characters"] = document.characters
        else:
            state["error_message"] = document.message
            state["message"] = document.message
        return JSONResponse(state)

    async def result(self, request: Request) -> Response:
        """Gives the translated document, once: `document_key`."""
        document = await self._find(request)
        if document.status in ("queued", "translating"):
            raise ServingError(503, "not-ready", "Document not ready", retry_after_s=float(document.seconds_remaining))
        if document.status != "done":
            raise bad_request(document.message)
        answer = await download(self._service, document)
        documents_of(self._service).remove(document)
        return answer

    async def _find(self, request: Request) -> Document:
        sent = await parameters_of(request)
        caller_of(self._service, request, sent)
        key = sent.text("document_key")
        if not key:
            raise bad_request("Missing or invalid argument: document_key")
        found = documents_of(self._service).find(str(request.path_params["id_"]).lower(), key.lower())
        if found is None:
            raise not_found("Document not found")
        return found


class _Glossaries:
    """Glossaries: made, listed, read, removed."""

    def __init__(self, service: Service, glossaries: Glossaries) -> None:
        self._service, self._known = service, glossaries

    async def pairs(self, request: Request) -> Response:
        """Lists the languages that glossaries can have."""
        await self._caller(request)
        pairs = dict.fromkeys((each.source, each.target) for each in self._service.translating.pairs())
        listed = [{"source_lang": source, "target_lang": target} for source, target in pairs]
        return JSONResponse({"supported_languages": listed})

    async def create(self, request: Request) -> Response:
        """Makes a glossary: `name`, `source_lang`, `target_lang`, `entries`, `entries_format`."""
        sent = await parameters_of(request)
        caller = caller_of(self._service, request, sent)
        name, entries = sent.text("name"), sent.text("entries")
        if not name or not name.strip():
            raise bad_request("Missing or invalid argument: name")
        if not entries:
            raise bad_request("Missing or invalid argument: entries")
        check_characters([name, entries])
        pairs = self._service.translating.pairs()
        source = served_code(sent.text("source_lang") or "", sources(pairs))
        target = served_code(sent.text("target_lang") or "", targets(pairs))
        if source is None or target is None or not any((p.source, p.target) == (source, target) for p in pairs):
            raise bad_request("Unsupported glossary source and target language pair")
        read = parsed_entries(entries, sent.text("entries_format") or "tsv")
        glossary = await self._known.create(caller.name, name, source, target, read)
        return JSONResponse(_glossary_json(glossary), status_code=201)

    async def all(self, request: Request) -> Response:
        """Lists the caller's glossaries."""
        caller = await self._caller(request)
        return JSONResponse({"glossaries": [_glossary_json(each) for each in await self._known.of(caller)]})

    async def one(self, request: Request) -> Response:
        """Describes a glossary."""
        return JSONResponse(_glossary_json(await self._find(request)))

    async def delete(self, request: Request) -> Response:
        """Removes a glossary."""
        found = await self._find(request)
        await self._known.delete(await self._caller(request), found.id)
        return Response(status_code=204)

    async def entries(self, request: Request) -> Response:
        """Gives a glossary's entries, as tab-separated values."""
        found = await self._find(request)
        lines = "\n".join(f"{source}\t{target}" for source, target in found.entries.items())
        return PlainTextResponse(lines, media_type="text/tab-separated-values")

    async def _caller(self, request: Request) -> str:
        sent = await parameters_of(request) if request.method == "GET" else Parameters(values={}, is_json=True)
        return caller_of(self._service, request, sent).name

    async def _find(self, request: Request) -> OwnGlossary:
        return await self._known.find(await self._caller(request), str(request.path_params["id_"]))


def _glossary_json(glossary: OwnGlossary) -> dict[str, Any]:
    return {
        "glossary_id": glossary.id,
        "name": glossary.name,
        "ready": True,
        "source_lang": deepl_code(glossary.source).lower(),
        "target_lang": deepl_code(glossary.target).lower(),
        "creation_time": glossary.created,
        "entry_count": len(glossary.terms),
    }
