"""The common parts of both clients: requests, reading responses and errors, and when to repeat a request."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Literal, TypedDict

from attendo.client.results import ServerError
from attendo.errors import AttendoError

try:
    import httpx as httpx
except ModuleNotFoundError as error:
    raise AttendoError('httpx: not installed, and needed here; pip install "attendo[serve]"') from error

DEFAULT_URL = "http://127.0.0.1:5000"
"""The default address of `attendo serve`."""
Format = Literal["text", "html", "xml"]
"""Format of texts."""
Split = Literal["sentences", "lines", "off"]
"""Parts of a text that the model reads separately."""


class TranslateOptions(TypedDict, total=False):
    """Options of a translation; the server has a default for each."""

    source: str
    """Code of the source language; by default it is detected."""
    target: str
    """Code of the target language; by default that of the model."""
    model: str
    """Name of a served model; by default the first for these languages."""
    format: Format
    """Format of the text: plain text by default."""
    split: Split
    """Parts that the model reads separately: sentences by default."""
    n_best: int
    """Number of translations of each segment."""
    alignment: bool
    """Whether to return links between words."""
    beam_size: int
    """Number of hypotheses kept at each step."""
    length_penalty: float
    """Exponent of the length penalty; larger values favour longer translations."""
    glossary: str
    """Id of one of the caller's glossaries on the server; by default none is used."""


class DocumentOptions(TypedDict, total=False):
    """Options of a document's translation, which are those of `attendo translate FILE`; the server has a default."""

    name: str
    """A file name whose extension determines the format; by default the name of the file."""
    format: str
    """The name of the format, where the file name does not determine it."""
    template: str | Path
    """The file with the sources, if the document is its translation, of which missing texts are translated."""
    only: Literal["new", "fuzzy", "all"]
    """Units to translate: those without a translation, those to be reviewed, or all that are not approved."""
    mark: Literal["review", "problems", "none"]
    """Translations to mark for review: all, those with problems, or none."""
    check: Literal["off", "warn", "error"]
    """Checks: not at all, reported, or an error in the state's message if one fails."""
    glossary: str
    """Id of one of the caller's glossaries on the server; by default none is used."""


_TRY_AGAIN = frozenset((408, 429, 502, 503, 504))
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 30.0


@dataclass(frozen=True, kw_only=True)
class Retries:
    """When to repeat a failed request: after the statuses 408, 429, 502, 503 and 504, and if there was no response."""

    times: int = 4
    """Maximum number of further attempts after the first."""
    longest_wait_s: float = 120.0
    """Longest pause in seconds that the server may ask for with Retry-After; if it asks for a longer one, its error is
    raised at once."""
    chance: Callable[[], float] = random.random
    """Source of random numbers from 0 to 1, so that many clients do not return at the same moment."""

    def pause_s(self, failures: int, error: ServerError) -> float | None:
        """Returns the seconds to wait before the next attempt; None for no further attempt.

        Args:
            failures: number of failed attempts, at least 1.
            error: the error of the last attempt.
        """
        again = error.status in _TRY_AGAIN or error.status is None
        if failures > self.times or not again:
            return None
        pause = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * float(2 ** (failures - 1))) * (0.5 + self.chance() / 2)
        if error.retry_after_s is None:
            return pause
        # Never earlier than the server asks for; a little later, each client in its own time.
        wanted: float = error.retry_after_s + 0.1 * pause
        return wanted if wanted <= self.longest_wait_s else None


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request of the API."""

    method: str
    path: str
    json: Any = None
    files: Mapping[str, Any] | None = None
    data: Mapping[str, str] | None = None
    accept: str = "application/json"
    repeatable: bool = True
    """Whether the request may be repeated if it is unknown whether it arrived."""

    def request(self, client: "httpx.Client | httpx.AsyncClient") -> "httpx.Request":
        """Builds the request for a client of httpx."""
        return client.build_request(
            self.method, self.path, json=self.json, files=self.files, data=self.data, headers={"Accept": self.accept}
        )


def settings(url: str, key: str | None, timeout_s: float) -> dict[str, Any]:
    """Returns the arguments of httpx's clients.

    Args:
        url: the address of the server.
        key: an API key, or None.
        timeout_s: seconds without a response after which a request fails.

    Raises:
        AttendoError: the address is not an HTTP address.
    """
    if not url.startswith(("http://", "https://")):
        raise AttendoError(f"url = {url!r} is not an address; write {DEFAULT_URL}")
    headers = {"User-Agent": "attendo"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, 10.0))
    return {"base_url": url.rstrip("/") + "/", "headers": headers, "timeout": timeout, "follow_redirects": False}


def translate_call(texts: str | Sequence[str], options: TranslateOptions, *, stream: bool = False) -> Call:
    """Makes a request of `/api/translate`."""
    body: dict[str, Any] = {"text": texts if isinstance(texts, str) else list(texts), **options}
    if stream:
        body["stream"] = True
    accept = "text/event-stream" if stream else "application/json"
    return Call(method="POST", path="api/translate", json=body, accept=accept)


def translate_all_call(texts: Sequence[str], options: TranslateOptions) -> Call:
    """Makes a request of `/api/translate` for several texts.

    Raises:
        TypeError: `texts` is one string.
    """
    _check_several(texts, "translate(text) translates one")
    return translate_call(texts, options)


def detect_call(text: str) -> Call:
    """Makes a request of `/api/detect`."""
    return Call(method="POST", path="api/detect", json={"text": text})


def parse_call(sentences: Sequence[str], model: str | None) -> Call:
    """Makes a request of `/api/parse`.

    Raises:
        TypeError: `sentences` is one string.
    """
    _check_several(sentences, "parse([text]) parses one sentence")
    body = {"text": list(sentences)} if model is None else {"text": list(sentences), "model": model}
    return Call(method="POST", path="api/parse", json=body)


def attention_call(text: str, translation: str | None, model: str | None) -> Call:
    """Makes a request of `/api/attention`."""
    body = {"text": text, "target": translation, "model": model}
    sent = {name: value for name, value in body.items() if value is not None}
    return Call(method="POST", path="api/attention", json=sent)


def document_call(document: str | Path | bytes, *, source: str, target: str, options: DocumentOptions) -> Call:
    """Makes a request of `/api/documents`.

    Raises:
        AttendoError: the document is bytes, and there is no name that shows its format.
        OSError: a file cannot be read.
    """
    name, template = options.get("name"), options.get("template")
    if isinstance(document, bytes):
        if not name:
            raise AttendoError('a document of bytes needs a name that says its format: name="letter.docx"')
        content = document
    else:
        path = Path(document)
        content, name = path.read_bytes(), name or path.name
    return Call(
        method="POST",
        path="api/documents",
        files={"file": (name, content)}
        | ({} if template is None else {"template": (Path(template).name, Path(template).read_bytes())}),
        data={"source": source, "target": target}
        | {key: str(value) for key, value in options.items() if key not in ("name", "template")},
        repeatable=False,
    )


def unreachable(error: Exception, url: str) -> ServerError:
    """Returns the error for a request without a response."""
    return ServerError(
        f"{url}: no answer ({type(error).__name__}: {error}); is `attendo serve` running there?", code="unreachable"
    )


def error_of(response: "httpx.Response") -> ServerError:
    """Returns the error of a response whose status is not a success, and whose body has been read."""
    code, message = "http", ""
    try:
        error = response.json()["error"]
        code, message = str(error["code"]), str(error["message"])
    except (ValueError, KeyError, TypeError):
        message = f"{response.url}: status {response.status_code}"
    return ServerError(message, code=code, status=response.status_code, retry_after_s=_retry_after(response))


def json_of(response: "httpx.Response") -> Any:
    """Returns the JSON of a successful response.

    Raises:
        ServerError: the body is not JSON, so the server is not attendo.
    """
    try:
        return response.json()
    except ValueError as error:
        message = f"{response.url}: the answer is no JSON; is it attendo that answers there?"
        raise ServerError(message, code="not-attendo", status=response.status_code) from error


def _retry_after(response: "httpx.Response") -> float | None:
    """Returns the seconds of a Retry-After header, which has seconds or a date."""
    written = response.headers.get("retry-after", "").strip()
    if not written:
        return None
    try:
        return max(0.0, float(written))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(written)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


@dataclass
class Events:
    """A reader of server-sent events, line by line."""

    _name: str = "message"
    _data: list[str] = field(default_factory=list)

    def line(self, line: str) -> tuple[str, Any] | None:
        """Reads a line; the empty line that ends an event returns the event's name and content.

        Raises:
            ServerError: the event is an error.
        """
        if line:
            key, _, value = line.partition(":")
            if key == "event":
                self._name = value.strip()
            elif key == "data":
                self._data.append(value.removeprefix(" "))
            return None
        name, data = self._name, "\n".join(self._data)
        self._name, self._data = "message", []
        if not data:
            return None
        content = json.loads(data)
        if name == "error":
            error = content.get("error", {})
            raise ServerError(
                str(error.get("message", "the server has stopped")),
                code=str(error.get("code", "error")),
                status=503,
                retry_after_s=error.get("retry_after_s"),
            )
        return name, content


def may_repeat(call: Call, error: ServerError) -> bool:
    """Whether a request can be repeated safely: it was refused, did not arrive, or may be handled twice."""
    return call.repeatable or error.status is not None or isinstance(error.__cause__, httpx.ConnectError)


def _check_several(texts: Sequence[str], instead: str) -> None:
    """Refuses a single text, which Python treats as a sequence of its letters.

    Raises:
        TypeError: `texts` is a string; the message says what to write instead.
    """
    if isinstance(texts, str):
        raise TypeError(f"a list of texts is wanted, and this is one text: {instead}")
