"""`attendo.Client`: what a server can do, from Python.

with attendo.Client("http://127.0.0.1:5000") as client:
    print(client.translate("The old house.", target="de").text)
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import sleep
from types import TracebackType
from typing import Any, Self, Unpack

from attendo.client.calls import (
    DEFAULT_URL,
    Call,
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


class Client:
    """A client of `attendo serve`. Threads may share one.

    What fails for a while (a busy server, a caller's limit, a connection that breaks) is tried again, later and later,
    and never before the server's Retry-After.

    Args:
        url: of the server, with its prefix if it has one.
        key: an API key, where the server wants one.
        timeout_s: until a request without an answer has failed.
        retries: when it is tried again; `Retries(times=0)` for never.
        transport: of httpx, for tests and special networks.

    Raises:
        AttendoError: the address is none of HTTP.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        key: str | None = None,
        timeout_s: float = 90.0,
        retries: Retries | None = None,
        transport: "httpx.BaseTransport | None" = None,
    ) -> None:
        self._client = httpx.Client(**settings(url, key, timeout_s), transport=transport)
        self._url, self._retries = url, retries or Retries()

    def translate(self, text: str, **options: Unpack[TranslateOptions]) -> ServedTranslation:
        """Translates a text.

        Args:
            text: it; for several see `translate_all`.
            options: as `TranslateOptions` has them.

        Raises:
            ServerError: the server refuses, or cannot be reached.
        """
        [found] = self.translate_all([text], **options)
        return found

    def translate_all(self, texts: Sequence[str], **options: Unpack[TranslateOptions]) -> list[ServedTranslation]:
        """Translates several texts of one language in one request.

        Args:
            texts: they.
            options: as `TranslateOptions` has them.

        Returns:
            One a text, in their order.

        Raises:
            ServerError: the server refuses, or cannot be reached.
        """
        return translations_of(self._json(translate_call(texts, options)))

    def stream(self, text: str, **options: Unpack[TranslateOptions]) -> Iterator[TranslatedSegment | ServedTranslation]:
        """Translates a long text: yields each segment as soon as it is there, then the whole.

        Nothing is tried again once the first segment was there.

        Args:
            text: it.
            options: as `TranslateOptions` has them.

        Raises:
            ServerError: the server refuses, or cannot be reached.
        """
        response = self._sent(translate_call(text, options, stream=True), stream=True)
        events = Events()
        try:
            for line in response.iter_lines():
                event = events.line(line)
                if event is not None and event[0] == "segment":
                    yield segment_of(event[1]["segment"])
                elif event is not None and event[0] == "done":
                    yield translations_of(event[1])[0]
        except httpx.HTTPError as error:
            raise unreachable(error, self._url) from error
        finally:
            response.close()

    def detect(self, text: str) -> list[DetectedLanguage]:
        """The languages that a text may be in, likeliest first.

        Raises:
            ServerError: the server refuses, or cannot be reached.
        """
        return detected_of(self._json(detect_call(text)))

    def parse(self, sentences: Sequence[str], *, model: str | None = None) -> list[ServedTree]:
        """A tree a sentence, where a parser is served.

        Raises:
            ServerError: the server refuses, or cannot be reached.
        """
        return trees_of(self._json(parse_call(sentences, model)))

    def attention(self, text: str, *, translation: str | None = None, model: str | None = None) -> dict[str, Any]:
        """Where every head looks while a model reads a sentence, as `attendo attention -o FILE.json` writes it.

        Args:
            text: the sentence.
            translation: of it; None for the model's own.
            model: a served model's name; None for the first.

        Raises:
            ServerError: the server refuses, or cannot be reached.
        """
        found: dict[str, Any] = self._json(attention_call(text, translation, model))
        return found

    def models(self) -> list[ServedModel]:
        """What is served.

        Raises:
            ServerError: the server cannot be reached.
        """
        return models_of(self._json(Call(method="GET", path="api/models")))

    def settings(self) -> dict[str, Any]:
        """Languages and limits of the server.

        Raises:
            ServerError: the server cannot be reached.
        """
        found: dict[str, Any] = self._json(Call(method="GET", path="api/settings"))
        return found

    def is_ready(self) -> bool:
        """Whether the server takes requests now; asks once."""
        try:
            return self._client.get("ready").status_code == 200
        except httpx.HTTPError:
            return False

    def translate_document(
        self,
        document: str | Path | bytes,
        *,
        target: str,
        source: str = "auto",
        name: str | None = None,
        progress: Callable[[DocumentState], None] = lambda state: None,
        poll_s: float = 1.0,
    ) -> bytes:
        """Translates a document and waits for it.

        Args:
            document: a file, or its content.
            target: the code of the language to translate into.
            source: the code of the language it is in, or `auto`.
            name: says by its end which format the content is in; of a file its own name.
            progress: is called with how far it is.
            poll_s: seconds between two questions.

        Returns:
            The translated document.

        Raises:
            ServerError: the server refuses it, cannot translate it or cannot be reached.
            OSError: the file cannot be read.
        """
        state = self.send_document(document, target=target, source=source, name=name)
        while state.status in ("queued", "translating"):
            progress(state)
            sleep(poll_s)
            state = self.document(state.id)
        progress(state)
        if state.status == "error":
            raise ServerError(f"{state.name}: {state.message}", code="document")
        return self.fetch_document(state.id)

    def send_document(
        self, document: str | Path | bytes, *, target: str, source: str = "auto", name: str | None = None
    ) -> DocumentState:
        """Sends a document and does not wait; for the rest see `translate_document`."""
        call = document_call(document, name=name, source=source, target=target)
        return document_of(self._json(call))

    def document(self, id: str) -> DocumentState:
        """How far a document is.

        Raises:
            ServerError: there is none, or the server cannot be reached.
        """
        return document_of(self._json(Call(method="GET", path=f"api/documents/{id}")))

    def fetch_document(self, id: str) -> bytes:
        """A translated document.

        Raises:
            ServerError: it is not there, or the server cannot be reached.
        """
        call = Call(method="GET", path=f"api/documents/{id}/result", accept="*/*")
        return self._sent(call).content

    def delete_document(self, id: str) -> None:
        """Removes a document from the server.

        Raises:
            ServerError: there is none, or the server cannot be reached.
        """
        self._sent(Call(method="DELETE", path=f"api/documents/{id}"))

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _json(self, call: Call) -> Any:
        return json_of(self._sent(call))

    def _sent(self, call: Call, *, stream: bool = False) -> "httpx.Response":
        """The successful answer to a request, after as many tries as it takes."""
        failures = 0
        while True:
            try:
                return self._once(call, stream=stream)
            except ServerError as error:
                failures += 1
                pause = self._retries.pause_s(failures, error) if may_repeat(call, error) else None
                if pause is None:
                    raise
                sleep(pause)

    def _once(self, call: Call, *, stream: bool) -> "httpx.Response":
        try:
            response = self._client.send(call.request(self._client), stream=stream)
            if response.is_success:
                return response
            response.read()
        except httpx.HTTPError as error:
            raise unreachable(error, self._url) from error
        raise error_of(response)
