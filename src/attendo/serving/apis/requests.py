"""Requests of our own API: strictly read JSON, the caller's key, and the choice of a model."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from attendo.reading import parse_json
from attendo.serving.errors import ServingError, bad_request, unknown_pair
from attendo.serving.languages.detection import unserved_text
from attendo.serving.service import Service
from attendo.serving.translating import Pair

_DETECTED_CHARACTERS = 4_000


class StrictRequest(Request):
    """A request whose JSON has been read strictly: no key twice, nothing infinite, not too deep."""

    async def read(self) -> None:
        """Reads the body, if there is one.

        Raises:
            ServingError: it is not JSON, or not declared as JSON.
        """
        content = await self.body()
        if not content:
            return
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        # A page of another site can send forms and plain text without permission, but not JSON.
        if kind != "application/json" and not kind.endswith("+json"):
            raise ServingError(415, "unsupported-media-type", "send JSON, with Content-Type: application/json")
        try:
            self._json = parse_json(content)
        except ValueError as error:
            raise bad_request(f"the body is not valid JSON: {str(error)[:200]}") from None


class StrictRoute(APIRoute):
    """A route whose requests are `StrictRequest`s."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Returns the handler."""
        answer = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            strict = StrictRequest(request.scope, request.receive)
            await strict.read()
            return await answer(strict)

        return strictly


def shown_key(request: Request) -> str | None:
    """Returns the key of a request: `Authorization: Bearer KEY` or `X-API-Key: KEY`."""
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    return request.headers.get("x-api-key")


def find_pair(service: Service, source: str | None, target: str | None, model: str | None) -> Pair:
    """Returns the served pair for languages or a model's name.

    Args:
        service: the services of the server.
        source: a language's code, as `en` or `en-GB`; None for any.
        target: the same.
        model: a model's name; None for the first that fits.

    Raises:
        ServingError: no served pair matches.
    """
    pairs = service.translating.pairs()
    named = [pair for pair in pairs if model in (None, pair.model)]
    if not named:
        raise unknown_pair(f"no model that translates is called {model!r:.80}; there are {_languages_text(pairs)}")
    # An exact match of a served code takes precedence over its language alone.
    for fits in (_is_same, _is_same_language):
        for pair in named:
            if fits(source, pair.source) and fits(target, pair.target):
                return pair
    wanted = f"from {source or 'any language':.40} to {target or 'any language':.40}"
    raise unknown_pair(f"no model here translates {wanted}; there are {_languages_text(pairs)}")


async def detected_pair(
    service: Service, texts: list[str], target: str | None, model: str | None
) -> tuple[Pair, dict[str, Any]]:
    """Returns the pair for texts whose language is to be detected, and the detected language as JSON.

    Raises:
        ServingError: no served pair matches.
    """
    if not service.translating.pairs():
        find_pair(service, None, target, model)  # raises the error that there is none
    sample = "\n".join(texts)[:_DETECTED_CHARACTERS]
    found = await service.in_thread(service.detector.detect, sample)
    if not found[0].served and not _is_same_language(target or "", found[0].language):
        raise unserved_text(found[0].language)
    possible = {pair.source for pair in service.translating.pairs() if model in (None, pair.model)}
    for each in found:
        if each.language in possible and not _is_same_language(target or "", each.language):
            pair = find_pair(service, each.language, target, model)
            return pair, {"language": each.language, "confidence": round(each.confidence, 4)}
    pair = find_pair(service, None, target, model)  # raises the error that lists the served pairs, if none matches
    return pair, {"language": pair.source, "confidence": 0.0}


def _is_same(asked: str | None, served: str) -> bool:
    return asked is None or asked.replace("_", "-").lower() == served.replace("_", "-").lower()


def _is_same_language(asked: str | None, served: str) -> bool:
    return asked is None or _language(asked) == _language(served)


def _language(code: str) -> str:
    return code.replace("_", "-").partition("-")[0].lower()


def _languages_text(pairs: tuple[Pair, ...]) -> str:
    return ", ".join(f"{pair.source}-{pair.target} ({pair.model})" for pair in pairs) or "none"
