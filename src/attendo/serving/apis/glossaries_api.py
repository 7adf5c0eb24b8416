"""Glossaries in our own API: listed, made, read, changed, removed; and glossary files read into terms."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from attendo.errors import DataError
from attendo.formats.file import base_language
from attendo.serving.apis.native import ERRORS
from attendo.serving.apis.native_types import (
    GlossariesAnswer,
    GlossaryAnswer,
    GlossaryFileRequest,
    GlossaryRequest,
    TermJson,
    TermsAnswer,
)
from attendo.serving.apis.requests import StrictRoute, shown_key
from attendo.serving.errors import bad_request
from attendo.serving.glossaries import Glossaries, OwnGlossary, checked_terms
from attendo.serving.languages.names import served_code, sources, targets
from attendo.serving.service import Service
from attendo.terms.entries import Entry
from attendo.terms.files import parse_glossary
from attendo.terms.term import Term


def router(service: Service, glossaries: Glossaries) -> APIRouter:
    """The paths of glossaries; callers see only their own.

    Args:
        service: the services of the server.
        glossaries: the store of glossaries.
    """
    routes = APIRouter(prefix="/api/glossaries", route_class=StrictRoute, responses=ERRORS, tags=["glossaries"])

    def caller(request: Request) -> str:
        return service.caller(request, shown_key(request)).name

    @routes.get("", responses={200: {"model": GlossariesAnswer}}, summary="List the caller's glossaries")
    async def listed(request: Request) -> Response:
        """All of the caller's, without their terms."""
        own = await glossaries.of(caller(request))
        return JSONResponse({"glossaries": [_summary(glossary) for glossary in own]})

    @routes.post("", status_code=201, responses={201: {"model": GlossaryAnswer}}, summary="Make a glossary")
    async def create(request: Request, body: GlossaryRequest) -> Response:
        """Makes one of a served pair of languages."""
        source, target = _pair(service, body.source, body.target)
        created = await glossaries.create(caller(request), _name(body), source, target, _terms(body.terms))
        return JSONResponse(_glossary_json(created), status_code=201)

    @routes.post("/read", responses={200: {"model": TermsAnswer}}, summary="Read a glossary file")
    async def read(request: Request, body: GlossaryFileRequest) -> Response:
        """The terms of a CSV, TSV or TBX file; nothing is kept."""
        caller(request)
        return JSONResponse(await _read_file(service, body))

    @routes.get("/{id_}", responses={200: {"model": GlossaryAnswer}}, summary="Read a glossary")
    async def one(request: Request, id_: str) -> Response:
        """One of the caller's, with its terms."""
        return JSONResponse(_glossary_json(await glossaries.find(caller(request), id_)))

    @routes.put("/{id_}", responses={200: {"model": GlossaryAnswer}}, summary="Change a glossary")
    async def change(request: Request, id_: str, body: GlossaryRequest) -> Response:
        """Gives it another name and other terms; its languages stay."""
        glossary = await glossaries.find(caller(request), id_)
        if _pair(service, body.source, body.target) != (glossary.source, glossary.target):
            raise bad_request("the languages of a glossary cannot be changed; make another one")
        changed = await glossaries.change(caller(request), id_, _name(body), _terms(body.terms))
        return JSONResponse(_glossary_json(changed))

    @routes.delete("/{id_}", status_code=204, summary="Delete a glossary")
    async def delete(request: Request, id_: str) -> Response:
        """Removes one of the caller's."""
        await glossaries.delete(caller(request), id_)
        return Response(status_code=204)

    return routes


async def _read_file(service: Service, body: GlossaryFileRequest) -> dict[str, Any]:
    source, target = base_language(body.source), base_language(body.target)
    content = body.content.encode("utf-8", "replace")
    try:
        glossary = await service.in_thread(
            lambda: parse_glossary(content, body.ending.lower(), source=source, target=target)
        )
    except DataError as error:
        raise bad_request(str(error)) from error
    return {"terms": [_term_json(term) for term in glossary.terms], "notes": list(glossary.notes)}


def _name(body: GlossaryRequest) -> str:
    if not body.name.strip():
        raise bad_request("name is missing; give the glossary a name")
    return body.name.strip()


def _pair(service: Service, source: str, target: str) -> tuple[str, str]:
    pairs = service.translating.pairs()
    codes = served_code(source, sources(pairs)), served_code(target, targets(pairs))
    if not any((pair.source, pair.target) == codes for pair in pairs):
        raise bad_request(f"no model here translates from {source!r} to {target!r}; see /api/models")
    return codes[0] or "", codes[1] or ""


def _terms(given: list[TermJson]) -> tuple[Term, ...]:
    entries = [
        Entry(
            line=number,
            term=Term(
                source=each.source.strip(),
                target=each.target.strip(),
                forms=_stripped(each.forms),
                alternatives=_stripped(each.alternatives),
                forbidden=_stripped(each.forbidden),
                comment=each.comment.strip(),
            ),
        )
        for number, each in enumerate(given, start=1)
    ]
    return checked_terms(entries)


def _stripped(texts: list[str]) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, texts)))


def _glossary_json(glossary: OwnGlossary) -> dict[str, Any]:
    return {**_summary(glossary), "terms": [_term_json(term) for term in glossary.terms]}


def _summary(glossary: OwnGlossary) -> dict[str, Any]:
    """A glossary's facts, without its terms."""
    return {
        "id": glossary.id,
        "name": glossary.name,
        "source": glossary.source,
        "target": glossary.target,
        "created": glossary.created,
        "entries": len(glossary.terms),
    }


def _term_json(term: Term) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(term).items()}
