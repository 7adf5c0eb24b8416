"""`attendo.AsyncClient`: the server's functions from Python, with asyncio.

async with attendo.AsyncClient("http://127.0.0.1:5000") as client:
    print((await client.translate("The old house.", target="de")).text)
"""

from asyncio import sleep
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

from attendo.client.calls import (
    DEFAULT_URL,
    Call,
    DocumentOptions,
    Events,
    Retries,
    TranslateOptions,
    attention_call,
    detect_call,
    document_call,
    error_of,
    httpx,
    json_of,
    may_repeat,
    parse_call,
    settings,
    translate_all_call,
    translate_call,
    unreachable,
)
from attendo.client.results import (
    DetectedLanguage,
    DocumentState,
    ServedModel,
    ServedTranslation,
    ServedTree,
    ServerError,
    TranslatedSegment,
    detected_of,
    document_of,
    models_of,
    segment_of,
    translations_of,
    trees_of,
)


class AsyncClient:
    """A client of `attendo serve` for asyncio: the methods of `Client`, with the same arguments and errors.

    Args:
        url: the address of the server, with its prefix if it has one.
        key: an API key, if the server needs one.
        timeout_s: seconds without an answer after which a request fails.
        retries: when to repeat a request; `Retries(times=0)` for never.
        transport: a transport of httpx, for tests and special networks.

    Raises:
        AttendoError: the address is not an HTTP address.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        key: str | None = None,
        timeout_s: float = 90.0,
        retries: Retries | None = None,
        transport: "httpx.AsyncBaseTransport | None" = None,
    ) -> None:
        self._client = httpx.AsyncClient(**settings(url, key, timeout_s), transport=transport)
        self._url, self._retries = url, retries or Retries()

    async def translate(self, text: str, **options: Unpack[TranslateOptions]) -> ServedTranslation:
        """Translates a text."""
        [found] = await self.translate_all([text], **options)
        return found

    async def translate_all(self, texts: Sequence[str], **options: Unpack[TranslateOptions]) -> list[ServedTranslation]:
        """Translates several texts of one language in one request."""
        return translations_of(await self._json(translate_all_call(texts, options)))

    async def stream(
        self, text: str, **options: Unpack[TranslateOptions]
    ) -> AsyncIterator[TranslatedSegment | ServedTranslation]:
        """Translates a long text: yields each segment as soon as it is translated, then the whole."""
        response = await self._sent(translate_call(text, options, stream=True), stream=True)
        events = Events()
        try:
            async for line in response.aiter_lines():
                event = events.line(line)
                if event is not None and event[0] == "segment":
                    yield segment_of(event[1]["segment"])
                elif event is not None and event[0] == "done":
                    yield translations_of(event[1])[0]
        except httpx.HTTPError as error:
            raise unreachable(error, self._url) from error
        finally:
            await response.aclose()

    async def detect(self, text: str) -> list[DetectedLanguage]:
        """Detects the language of a text: returns the likely languages, the most likely first."""
        return detected_of(await self._json(detect_call(text)))

    async def parse(self, sentences: Sequence[str], *, model: str | None = None) -> list[ServedTree]:
        """Parses sentences, if the server has a parser: returns a tree for each."""
        return trees_of(await self._json(parse_call(sentences, model)))

    async def attention(self, text: str, *, translation: str | None = None, model: str | None = None) -> dict[str, Any]:
        """Returns the attention weights of every head for a sentence, as in `attendo attention -o FILE.json`."""
        found: dict[str, Any] = await self._json(attention_call(text, translation, model))
        return found

    async def models(self) -> list[ServedModel]:
        """Returns the served models."""
        return models_of(await self._json(Call(method="GET", path="api/models")))

    async def settings(self) -> dict[str, Any]:
        """Returns the languages and limits of the server."""
        found: dict[str, Any] = await self._json(Call(method="GET", path="api/settings"))
        return found

    async def is_ready(self) -> bool:
        """Asks the server once whether it accepts requests now."""
        try:
            return (await self._client.get("ready")).status_code == 200
        except httpx.HTTPError:
            return False

    async def translate_document(
        self,
        document: str | Path | bytes,
        *,
        target: str,
        source: str = "auto",
        progress: Callable[[DocumentState], None] = lambda state: None,
        poll_s: float = 1.0,
        **options: Unpack[DocumentOptions],
    ) -> bytes:
        """Translates a document and waits for the result."""
        state = await self.send_document(document, target=target, source=source, **options)
        while state.status in ("queued", "translating"):
            progress(state)
            await sleep(poll_s)
            state = await self.document(state.id)
        progress(state)
        if state.status == "error":
            raise ServerError(f"{state.name}: {state.message}", code="document")
        return await self.fetch_document(state.id)

    async def send_document(
        self,
        document: str | Path | bytes,
        *,
        target: str,
        source: str = "auto",
        **options: Unpack[DocumentOptions],
    ) -> DocumentState:
        """Sends a document without waiting for the result; the arguments are those of `translate_document`."""
        call = document_call(document, source=source, target=target, options=options)
        return document_of(await self._json(call))

    async def document(self, id: str) -> DocumentState:
        """Returns the state of a document."""
        return document_of(await self._json(Call(method="GET", path=f"api/documents/{id}")))

    async def fetch_document(self, id: str) -> bytes:
        """Returns a translated document."""
        call = Call(method="GET", path=f"api/documents/{id}/result", accept="*/*")
        return (await self._sent(call)).content

    async def delete_document(self, id: str) -> None:
        """Removes a document from the server."""
        await self._sent(Call(method="DELETE", path=f"api/documents/{id}"))

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def _json(self, call: Call) -> Any:
        return json_of(await self._sent(call))

    async def _sent(self, call: Call, *, stream: bool = False) -> "httpx.Response":
        """Sends a request, with retries if that may help, and returns the successful answer."""
        failures = 0
        while True:
            try:
                return await self._once(call, stream=stream)
            except ServerError as error:
                failures += 1
                pause = self._retries.pause_s(failures, error) if may_repeat(call, error) else None
                if pause is None:
                    raise
                await sleep(pause)

    async def _once(self, call: Call, *, stream: bool) -> "httpx.Response":
        try:
            response = await self._client.send(call.request(self._client), stream=stream)
            if response.is_success:
                return response
            await response.aread()
        except httpx.HTTPError as error:
            raise unreachable(error, self._url) from error
        raise error_of(response)
