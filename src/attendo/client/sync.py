"""`attendo.Client`, the Python client of `attendo serve`.

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


class Client:
    """A client of `attendo serve`; several threads can share it.

    A request that fails temporarily (a busy server, a rate limit, a broken connection) is repeated after pauses that
    grow and are never shorter than the server's Retry-After.

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
        transport: "httpx.BaseTransport | None" = None,
    ) -> None:
        self._client = httpx.Client(**settings(url, key, timeout_s), transport=transport)
        self._url, self._retries = url, retries or Retries()

    def translate(self, text: str, **options: Unpack[TranslateOptions]) -> ServedTranslation:
        """Translates a text.

        Args:
            text: the text; for several see `translate_all`.
            options: languages, format, model and search, as keywords; see `attendo.client.calls.TranslateOptions`.

        Raises:
            ServerError: the server refuses, or cannot be reached.
        """
        [found] = self.translate_all([text], **options)
        return found

    def translate_all(self, texts: Sequence[str], **options: Unpack[TranslateOptions]) -> list[ServedTranslation]:
        """Translates several texts of one language in one request.

        Args:
            texts: the texts.
            options: languages, format, model and search, as keywords; see `attendo.client.calls.TranslateOptions`.

        Returns:
            A translation of each text, in their order.

        Raises:
            ServerError: the server refuses, or cannot be reached.
            TypeError: `texts` is one string.
        """
        return translations_of(self._json(translate_all_call(texts, options)))

    def stream(self, text: str, **options: Unpack[TranslateOptions]) -> Iterator[TranslatedSegment | ServedTranslation]:
        """Translates a long text: yields each segment as soon as it is translated, then the whole.

        The request is not repeated once the first segment has arrived.

        Args:
            text: the text.
            options: languages, format, model and search, as keywords; see `attendo.client.calls.TranslateOptions`.

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
        """Detects the language of a text: returns the likely languages, the most likely first.

        Raises:
            ServerError: the server refuses, or cannot be reached.
        """
        return detected_of(self._json(detect_call(text)))

    def parse(self, sentences: Sequence[str], *, model: str | None = None) -> list[ServedTree]:
        """Parses sentences, if the server has a parser.

        Args:
            sentences: the sentences.
            model: the name of a served parser; None for the first.

        Returns:
            A tree for each sentence, in their order.

        Raises:
            ServerError: the server refuses, or cannot be reached.
            TypeError: `sentences` is one string.
        """
        return trees_of(self._json(parse_call(sentences, model)))

    def attention(self, text: str, *, translation: str | None = None, model: str | None = None) -> dict[str, Any]:
        """Returns the attention weights of every head for a sentence, as `attendo attention -o FILE.json` writes them.

        Args:
            text: the sentence.
            translation: the translation of the sentence; None for the model's own.
            model: a served model's name; None for the first.

        Raises:
            ServerError: the server refuses, or cannot be reached.
        """
        found: dict[str, Any] = self._json(attention_call(text, translation, model))
        return found

    def models(self) -> list[ServedModel]:
        """Returns the served models.

        Raises:
            ServerError: the server cannot be reached.
        """
        return models_of(self._json(Call(method="GET", path="api/models")))

    def settings(self) -> dict[str, Any]:
        """Returns the languages and limits of the server.

        Raises:
            ServerError: the server cannot be reached.
        """
        found: dict[str, Any] = self._json(Call(method="GET", path="api/settings"))
        return found

    def is_ready(self) -> bool:
        """Asks the server once whether it accepts requests now."""
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
        progress: Callable[[DocumentState], None] = lambda state: None,
        poll_s: float = 1.0,
        **options: Unpack[DocumentOptions],
    ) -> bytes:
        """Translates a document and waits for the result.

        Args:
            document: a file, or its content.
            target: the code of the target language.
            source: the code of the source language, or `auto`.
            progress: called with every state of the document that the server reports.
            poll_s: seconds between two requests for the state.
            options: further options, such as `template=` and `only="fuzzy"`; see `DocumentOptions`.

        Returns:
            The translated document.

        Raises:
            ServerError: the server refuses the document, cannot translate it, or cannot be reached.
            OSError: the file cannot be read.
        """
        state = self.send_document(document, target=target, source=source, **options)
        while state.status in ("queued", "translating"):
            progress(state)
            sleep(poll_s)
            state = self.document(state.id)
        progress(state)
        if state.status == "error":
            raise ServerError(f"{state.name}: {state.message}", code="document")
        return self.fetch_document(state.id)

    def send_document(
        self,
        document: str | Path | bytes,
        *,
        target: str,
        source: str = "auto",
        **options: Unpack[DocumentOptions],
    ) -> DocumentState:
        """Sends a document without waiting for the result; the arguments are those of `translate_document`.

        Raises:
            ServerError: the server refuses the document, or cannot be reached.
            OSError: the file cannot be read.
        """
        call = document_call(document, source=source, target=target, options=options)
        return document_of(self._json(call))

    def document(self, id: str) -> DocumentState:
        """Returns the state of a document.

        Raises:
            ServerError: there is no such document, or the server cannot be reached.
        """
        return document_of(self._json(Call(method="GET", path=f"api/documents/{id}")))

    def fetch_document(self, id: str) -> bytes:
        """Returns a translated document.

        Raises:
            ServerError: the document is not translated, or the server cannot be reached.
        """
        call = Call(method="GET", path=f"api/documents/{id}/result", accept="*/*")
        return self._sent(call).content

    def delete_document(self, id: str) -> None:
        """Removes a document from the server.

        Raises:
            ServerError: there is no such document, or the server cannot be reached.
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
        """Sends a request, repeats it if that may help, and returns the successful response."""
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
