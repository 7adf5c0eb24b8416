"""DeepL's API, version 2 (and 1 for old plugins): texts, languages, usage; documents and glossaries are separate.

`billed_characters` is in every answer, since DeepL's own client requires it. Lost content is reported in `problems`,
which no client of DeepL reads. An option that would change a translation and is not supported (a style, a formality) is
refused; one that might only improve it (context) is ignored.
"""

import secrets
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from attendo.markup.text_format import Format, LineEnds, Split
from attendo.markup.text_types import TextRequest
from attendo.serving.apis.answers import detected, no_words, pair_of, translated
from attendo.serving.apis.requests import shown_key
from attendo.serving.errors import ErrorShape, ServingError, bad_request
from attendo.serving.glossaries import Glossaries, used_glossary
from attendo.serving.http.parameters import Parameters, check_characters, parameters_of
from attendo.serving.languages.names import deepl_code, deepl_targets, name_of, served_code, sources, targets
from attendo.serving.service import Service
from attendo.serving.translating import Caller
from attendo.terms.glossary import Glossary

UNLIMITED = 1_000_000_000_000
"""The limit that DeepL reports for unlimited accounts."""
_REFUSED = ("style_id", "translation_memory_id", "custom_instructions")
_SPLITS: dict[str, tuple[Split, LineEnds]] = {
    "0": ("off", "spaces"),
    "1": ("sentences", "sentences"),
    "nonewlines": ("sentences", "spaces"),
}

Endpoint = Callable[[Request], Awaitable[Response]]


def _error_body(error: ServingError) -> dict[str, Any]:
    """`{"message": "..."}`."""
    return {"message": error.message}


ERRORS = ErrorShape(paths=("/v1/", "/v2/"), body=_error_body, statuses=((401, 403),))


def router(service: Service, glossaries: Glossaries) -> APIRouter:
    """Texts, languages and usage.

    Args:
        service: the services of the server.
        glossaries: the callers' glossaries.
    """
    routes, api = APIRouter(tags=["DeepL"]), _Api(service, glossaries)
    for version in ("/v2", "/v1"):
        for path, endpoint in (("translate", api.translate), ("languages", api.languages), ("usage", api.usage)):
            for method in ("POST", "GET"):
                routes.add_api_route(
                    f"{version}/{path}",
                    traced(endpoint),
                    methods=[method],
                    response_model=None,
                    operation_id=f"deepl{version.replace('/', '_')}_{path}_{method.lower()}",
                    description=endpoint.__doc__,
                )
    return routes


def traced(endpoint: Endpoint) -> Endpoint:
    """An endpoint whose answers have a number, as DeepL's have."""

    async def answer(request: Request) -> Response:
        response = await endpoint(request)
        response.headers["X-Trace-ID"] = secrets.token_hex(16)
        return response

    answer.__name__ = endpoint.__name__
    return answer


def caller_of(service: Service, request: Request, sent: Parameters) -> Caller:
    """Identifies the caller by `Authorization: DeepL-Auth-Key KEY`, or by the old parameter `auth_key`.

    Raises:
        ServingError: the caller is unknown or not allowed.
    """
    scheme, _, shown = request.headers.get("authorization", "").partition(" ")
    key = shown.strip() if scheme.lower() == "deepl-auth-key" else sent.text("auth_key") or shown_key(request)
    return service.caller(request, (key or "").removesuffix(":fx") or None)


def served_pair_codes(service: Service, source: str | None, target: str | None) -> tuple[str | None, str]:
    """Maps DeepL's codes to served ones; the source's is None if it is to be detected.

    Raises:
        ServingError: 400, not served.
    """
    pairs = service.translating.pairs()
    if not target:
        raise bad_request(
            "Value for 'target_lang' not supported." if target == "" else "Missing or invalid argument: target_lang"
        )
    to = served_code(target, targets(pairs))
    if to is None:
        raise bad_request("Value for 'target_lang' not supported.")
    if not source:
        return None, to
    origin = served_code(source, (*sources(pairs), *targets(pairs)))
    if origin is None:
        raise bad_request("Value for 'source_lang' not supported.")
    return origin, to


def refuse_what_is_not_here(sent: Parameters) -> None:
    """Refuses options that would change a translation and are not supported.

    Raises:
        ServingError: 400.
    """
    for name in _REFUSED:
        if sent.get(name):
            raise bad_request(f"Value for '{name}' not supported.")
    if sent.text("formality") not in (None, "", "default", "prefer_more", "prefer_less"):
        raise bad_request("'formality' is not supported for given 'target_lang'.")


async def glossary_terms(
    glossaries: Glossaries, caller: Caller, sent: Parameters, source: str | None, target: str
) -> Glossary | None:
    """The terms of the requested glossaries; None if none is requested.

    Raises:
        ServingError: 404 for a missing one, 400 for other languages.
    """
    ids = sent.texts("glossary_ids", comma=True) or []
    if given := sent.text("glossary_id"):
        ids = [given, *ids]
    if len(ids) > 5:
        raise bad_request("Too many glossaries: at most 5 'glossary_ids'.")
    found = []
    for each in ids:
        glossary = await glossaries.find(caller.name, each)
        if source is None:
            raise bad_request("Use of a glossary requires the source_lang parameter to be specified")
        if (glossary.source, glossary.target) != (source, target):
            raise bad_request("The language pair of the glossary does not match that of the request.")
        found.append(glossary)
    return used_glossary(found)


class _Api:
    """The handlers of the endpoints."""

    def __init__(self, service: Service, glossaries: Glossaries) -> None:
        self._service, self._glossaries = service, glossaries

    async def translate(self, request: Request) -> Response:
        """Translates texts: `text`, `target_lang`, and `source_lang`, `tag_handling`, `split_sentences` and others."""
        sent = await parameters_of(request)
        caller = caller_of(self._service, request, sent)
        texts = sent.texts("text")
        if not texts:
            raise bad_request("Parameter 'text' not specified.")
        source, target = served_pair_codes(self._service, sent.text("source_lang"), sent.text("target_lang"))
        refuse_what_is_not_here(sent)
        terms = await glossary_terms(self._glossaries, caller, sent, source, target)
        options = _text_options(sent)
        check_characters(texts)
        self._service.admit(request, caller, texts)
        languages: list[tuple[str, bool]] = (
            [(source, True)] * len(texts)
            if source
            else [(each.language, each.served) for each in await detected(self._service, texts)]
        )
        work = []
        for text, (language, is_served) in zip(texts, languages, strict=True):
            pair = pair_of(self._service.translating.pairs(), language, target)
            if pair is None and is_served and language != target and not no_words(text):
                raise bad_request(
                    f"no model here translates from {name_of(language)} into {name_of(target)}; see /v2/languages"
                )
            wanted = TextRequest(text=text, source_language=language, target_language=target, glossary=terms, **options)
            work.append((None if no_words(text) else pair, wanted))
        found = await translated(self._service, request, caller, work)
        answers = []
        for text, (language, _), each in zip(texts, languages, found, strict=True):
            answer: dict[str, Any] = {
                "detected_source_language": deepl_code(language),
                "text": each.text,
                "billed_characters": len(text),
            }
            if sent.get("model_type"):
                answer["model_type_used"] = "quality_optimized"
            if each.problems:
                answer["problems"] = list(each.problems)
            if each.is_corrected:
                answer["corrected"] = True
            answers.append(answer)
        return JSONResponse({"translations": answers})

    async def languages(self, request: Request) -> Response:
        """Lists languages: `type` is `source` or `target`, in the query or in a form in the body, also of a GET."""
        sent = await parameters_of(request)
        caller_of(self._service, request, sent)
        kind, pairs = sent.text("type") or "source", self._service.translating.pairs()
        if kind == "source":
            return JSONResponse([{"language": deepl_code(each), "name": name_of(each)} for each in sources(pairs)])
        if kind != "target":
            raise bad_request("Value for 'type' not supported.")
        listed = dict(each for code in targets(pairs) for each in deepl_targets(code))
        return JSONResponse(
            [{"language": code, "name": name, "supports_formality": False} for code, name in listed.items()]
        )

    async def usage(self, request: Request) -> Response:
        """Says what the key has had this month, and may have."""
        sent = await parameters_of(request)
        found = self._service.callers.usage(caller_of(self._service, request, sent))
        limit = UNLIMITED if found.limit is None else found.limit
        return JSONResponse({"character_count": found.characters, "character_limit": limit})


def _text_options(sent: Parameters) -> dict[str, Any]:
    """Reads the options of text format and sentence splitting."""
    handling = sent.text("tag_handling") or ""
    if handling not in ("", "xml", "html"):
        raise bad_request("Value for 'tag_handling' not supported.")
    form: Format = handling or "text"  # type: ignore[assignment]
    written = sent.text("split_sentences")
    if written is None or written == "":
        written = "nonewlines" if form == "html" else "1"
    written = {"true": "1", "false": "0"}.get(written.lower(), written)
    if written not in _SPLITS:
        raise bad_request("Value for 'split_sentences' not supported.")
    split, line_ends = _SPLITS[written]
    return {
        "format": form,
        "split": split,
        "line_ends": line_ends,
        "ignore_tags": _tags(sent, "ignore_tags"),
        "splitting_tags": _tags(sent, "splitting_tags"),
        "non_splitting_tags": _tags(sent, "non_splitting_tags"),
        "outline_detection": sent.flag("outline_detection") is not False,
    }


def _tags(sent: Parameters, name: str) -> tuple[str, ...]:
    return tuple(sent.texts(name, comma=True) or ())
