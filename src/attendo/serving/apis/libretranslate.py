"""LibreTranslate's endpoints, as version 1.9.6 answers them, for clients that support no other API.

Three things differ on purpose (docs/serving-apis.md): a translation's case and final mark are the model's; in HTML
`&lt;`, `&gt;` and `&amp;` stay escaped, since the page would change otherwise; texts of an array that are in different
languages are distinguished. Lost content is reported in `problems`, which their clients ignore.
"""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from attendo.markup.text_types import TextRequest
from attendo.serving.apis.answers import detected, no_words, pair_of, problem_fields, translated
from attendo.serving.apis.documents_api import accepted, download
from attendo.serving.apis.libretranslate_spec import specification
from attendo.serving.apis.requests import shown_key
from attendo.serving.corrections import SentCorrection
from attendo.serving.documents.background import Documents
from attendo.serving.documents.options import ENDINGS, is_taken
from attendo.serving.errors import ErrorShape, ServingError, bad_request, forbidden, not_found
from attendo.serving.http.parameters import Parameters, check_characters, parameters_of
from attendo.serving.languages.detection import LanguageGuess
from attendo.serving.languages.names import name_of, outward, served_code, sources, targets
from attendo.serving.service import Service
from attendo.serving.translating import Caller, Pair

_MAX_DETECTED = 3


def _error_body(error: ServingError) -> dict[str, Any]:
    """Makes `{"error": "..."}` with the wording that clients look for."""
    if error.code == "unauthorized":
        message = "Please contact the server operator to get an API key"
    elif error.code == "forbidden" and "key" in error.message:
        message = "Invalid API key"
    elif error.code == "too-many-requests":
        message = f"Slowdown: {error.message}"
    elif error.code == "too-large" and not error.message.startswith("Invalid request"):
        message = f"Invalid request: {error.message}"
    else:
        message = error.message
    return {"error": message}


ERRORS = ErrorShape(
    paths=("/translate", "/detect", "/languages", "/download_file", "/suggest", "/frontend/settings", "/spec"),
    body=_error_body,
    statuses=((401, 400), (413, 400)),
)


def router(service: Service) -> APIRouter:
    """The endpoints."""
    routes, api = APIRouter(tags=["LibreTranslate"]), _Api(service)
    for path, methods, endpoint in (
        ("/translate", ["POST"], api.translate),
        ("/detect", ["POST"], api.detect),
        ("/languages", ["GET"], api.languages),
        ("/translate_file", ["POST"], api.translate_file),
        ("/download_file/{name}", ["GET"], api.download_file),
        ("/suggest", ["POST"], api.suggest),
        ("/frontend/settings", ["GET"], api.settings),
        ("/spec", ["GET"], api.spec),
    ):
        routes.add_api_route(path, endpoint, methods=methods, response_class=JSONResponse, response_model=None)
    return routes


class _Api:
    """The handlers of the endpoints."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def translate(self, request: Request) -> Response:
        """Translates a text or several: `q`, `source` or `auto`, `target`, `format`, `alternatives`."""
        sent = await parameters_of(request)
        caller = self._caller(request, sent)
        texts, is_list = _texts(sent)
        source, target = _wanted(sent, "source"), _wanted(sent, "target")
        form, alternatives = self._format(sent), self._alternatives(sent)
        if not sent.is_json:
            texts = [text.replace("\r\n", "\n").replace("\r", "\n") for text in texts]
        check_characters(texts)
        self._check_sizes(caller, texts)
        self._service.admit(request, caller, texts)
        if _is_weblate_check(sent, source, target) and not self._serves(source, target):
            return JSONResponse({"translatedText": texts})
        languages, found_languages = await self._source_languages(source, texts)
        to = self._served(target, targets(self._service.translating.pairs()) + languages)
        # In a list the others are translated; a single text is refused below, as for any pair that is not served.
        left = {place for place, each in enumerate(found_languages or ()) if is_list and not each.served}
        work = [
            (
                None if place in left else self._pair(language, to, text),
                TextRequest(
                    text=text,
                    format="html" if form == "html" else "text",
                    n_best=alternatives + 1,
                    source_language=language,
                    target_language=to,
                ),
            )
            for place, (text, language) in enumerate(zip(texts, languages, strict=True))
        ]
        found = await translated(self._service, request, caller, work)
        answer: dict[str, Any] = {"translatedText": [each.text for each in found] if is_list else found[0].text}
        if found_languages is not None:
            guesses = [_language_json(each, percent=True) for each in found_languages]
            answer["detectedLanguage"] = guesses if is_list else guesses[0]
        if alternatives:
            others = [list(each.alternatives[:alternatives]) for each in found]
            answer["alternatives"] = others if is_list else others[0]
        return JSONResponse(answer | problem_fields(found))

    async def detect(self, request: Request) -> Response:
        """Says which languages a text may be in: `q`."""
        sent = await parameters_of(request)
        caller = self._caller(request, sent)
        texts, _ = _texts(sent)
        text = "\n".join(texts)
        check_characters([text])
        self._check_sizes(caller, [text])
        self._service.admit(request, caller, [text])
        found = await self._service.in_thread(self._service.detector.detect, text)
        if not found or found[0].confidence == 0:
            return JSONResponse([{"confidence": 0.0, "language": "en"}])
        return JSONResponse([_language_json(each, percent=True) for each in found[:_MAX_DETECTED]])

    async def languages(self) -> Response:
        """Lists the languages, and what each can be translated to."""
        return JSONResponse(self._listed())

    async def translate_file(self, request: Request) -> Response:
        """Translates a document (`file`, `source`, `target`), and answers with its address when it is done.

        Besides, it has the options `only`, `mark`, `check` and `format` of `/api/documents`.
        """
        sent = await parameters_of(request)
        caller = self._caller(request, sent)
        documents = self._documents()
        upload = sent.file("file")
        if upload is None:
            raise bad_request("Invalid request: missing file parameter")
        source, target = _wanted(sent, "source"), _wanted(sent, "target")
        if not upload.name:
            raise bad_request("Invalid request: empty file")
        if not is_taken(upload.name, sent):
            raise bad_request("Invalid request: file format not supported")
        pairs = self._service.translating.pairs()
        if source != "auto":
            self._served(source, sources(pairs))
        self._served(target, targets(pairs))
        document = await accepted(self._service, request, caller, upload, sent)
        await documents.finished(document)
        if document.status != "done":
            raise bad_request(f"Invalid request: {document.message}")
        place = f"download_file/{document.id}.{quote(document.result_name)}"
        path = request.url.path.removesuffix("translate_file") + place
        url = str(request.url.replace(path=path, query=""))
        return JSONResponse({"translatedFileUrl": url, "summary": document.summary})

    async def download_file(self, name: str) -> Response:
        """The document that `/translate_file` has named."""
        document = self._documents().find(name.partition(".")[0])
        if document is None or document.status != "done" or name != f"{document.id}.{document.result_name}":
            raise not_found("File not found")
        return await download(self._service, document)

    async def suggest(self, request: Request) -> Response:
        """Keeps a correction of one's own: `q`, `s`, `source`, `target`."""
        service = self._service
        if not service.config.corrections.enabled:
            raise forbidden("Suggestions are disabled on this server.")
        sent = await parameters_of(request)
        caller = self._caller(request, sent)
        text, suggestion = _wanted(sent, "q").strip(), _wanted(sent, "s").strip()
        source, target = _wanted(sent, "source"), _wanted(sent, "target")
        check_characters([text, suggestion])
        service.admit(request, caller, [text, suggestion])
        [language], _ = await self._source_languages(source, [text])
        pair = self._pair(language, self._served(target, targets(service.translating.pairs())), text)
        if pair is None or not suggestion:
            raise bad_request("Invalid request: there is nothing to be translated otherwise")
        kept = SentCorrection(source_language=pair.source, target_language=pair.target, source=text, target=suggestion)
        await service.corrections.keep(caller.name, [kept])
        return JSONResponse({"success": True})

    async def settings(self) -> Response:
        """Gives the settings that a web page needs."""
        listed, limits = self._listed(), self._service.config.limits
        documents, callers = self._service.documents, self._service.callers
        pair = self._service.translating.pairs()[:1]
        names = [{"code": outward(code), "name": name_of(code)} for each in pair for code in (each.source, each.target)]
        first, second = names if names else (listed[0], listed[0])
        return JSONResponse(
            {
                "charLimit": limits.max_characters,
                "frontendTimeout": 500,
                "apiKeys": callers.knows_keys,
                "keyRequired": callers.key_required,
                "suggestions": self._service.config.corrections.enabled,
                "filesTranslation": documents is not None,
                "supportedFilesFormat": list(ENDINGS) if documents is not None else [],
                "language": {"source": first, "target": second},
            }
        )

    async def spec(self, request: Request) -> Response:
        """These endpoints as Swagger 2 describes them."""
        return JSONResponse(specification(request.url.path.removesuffix("/spec") or "/"))

    # --- parts --------------------------------------------------------------------------------------------------------

    def _caller(self, request: Request, sent: Parameters) -> Caller:
        return self._service.caller(request, sent.text("api_key") or shown_key(request))

    def _check_sizes(self, caller: Caller, texts: Sequence[str]) -> None:
        items, limit = self._service.config.limits.max_items, self._service.callers.max_characters(caller)
        if len(texts) > items:
            raise bad_request(f"Invalid request: request ({len(texts)}) exceeds text limit ({items})")
        if (size := sum(map(len, texts))) > limit:
            raise bad_request(f"Invalid request: request ({size}) exceeds text limit ({limit})")

    def _format(self, sent: Parameters) -> str:
        form = sent.text("format") or "text"
        if form not in ("text", "html"):
            raise bad_request(f"{form} format is not supported")
        return form

    def _alternatives(self, sent: Parameters) -> int:
        written = sent.get("alternatives")
        if written is None or written == "":
            return 0
        limit = self._service.config.limits.n_best - 1
        number = int(written) if re.fullmatch(r"\d{1,9}", str(written)) and not isinstance(written, bool) else None
        if number is None:
            raise bad_request("Invalid request: alternatives parameter is not a number")
        if number > limit:
            raise bad_request(f"Invalid request: alternatives parameter must be <= {limit}")
        return number

    async def _source_languages(
        self, source: str, texts: Sequence[str]
    ) -> tuple[tuple[str, ...], list[LanguageGuess] | None]:
        """Returns the language of each text, and the detected languages if detection was requested."""
        if source != "auto":
            code = self._served(source, sources(self._service.translating.pairs()))
            return (code,) * len(texts), None
        found = await detected(self._service, texts)
        return tuple(each.language for each in found), found

    def _served(self, written: str, codes: Sequence[str]) -> str:
        code = served_code(written, codes)
        everything = self._service.translating.pairs()
        code = code or served_code(written, sources(everything) + targets(everything))
        if code is None:
            raise bad_request(f"{written} is not supported")
        return code

    def _serves(self, source: str, target: str) -> bool:
        return pair_of(self._service.translating.pairs(), source, target) is not None

    def _pair(self, source: str, target: str, text: str) -> Pair | None:
        """Returns the model for a text; None if it is returned unchanged."""
        if source == target or no_words(text):
            return None
        pair = pair_of(self._service.translating.pairs(), source, target)
        if pair is None:
            raise bad_request(
                f"{name_of(target)} ({outward(target)}) is not available as a target language from "
                f"{name_of(source)} ({outward(source)})"
            )
        return pair

    def _listed(self) -> list[dict[str, Any]]:
        pairs = self._service.translating.pairs()
        codes = dict.fromkeys((*sources(pairs), *targets(pairs)))
        return [
            {
                "code": outward(code),
                "name": name_of(code),
                "targets": [outward(each) for each in dict.fromkeys((code, *targets(pairs, code)))],
            }
            for code in codes
        ]

    def _documents(self) -> Documents:
        if self._service.documents is None:
            raise forbidden("Files translation are disabled on this server.")
        return self._service.documents


def _texts(sent: Parameters) -> tuple[list[str], bool]:
    value = sent.values.get("q")
    if value is None or (not sent.is_json and not value):
        raise bad_request("Invalid request: missing q parameter")
    if not sent.is_json:
        value = value[0]
    if isinstance(value, str):
        if value == "":
            raise bad_request("Invalid request: missing q parameter")
        return [value], False
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise bad_request("Invalid request: q parameter is neither a string nor a list of strings")
    if not value:
        raise bad_request("Invalid request: missing q parameter")
    return value, True


def _wanted(sent: Parameters, name: str) -> str:
    value = sent.text(name)
    if not value:
        raise bad_request(f"Invalid request: missing {name} parameter")
    return value


def _is_weblate_check(sent: Parameters, source: str, target: str) -> bool:
    """Whether this is the request with which Weblate checks its settings, regardless of the languages used later."""
    return sent.is_json and sent.values.get("q") == ["test"] and (source, target) == ("en", "de")


def _language_json(found: LanguageGuess, *, percent: bool) -> dict[str, Any]:
    share = found.confidence * (100 if percent else 1)
    return {"confidence": round(share, 1), "language": outward(found.language)}
