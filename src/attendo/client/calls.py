"""What both clients have in common: requests as they are sent, answers as they are read, and when to try again."""

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
"""Where `attendo serve` listens if nothing else is said."""
Format = Literal["text", "html", "xml"]
"""How texts are written."""
Split = Literal["sentences", "lines", "off"]
"""What the model reads at a time."""


class TranslateOptions(TypedDict, total=False):
    """How a text is to be translated; what is left out is as the server has it."""

    source: str
    """The code of the language it is in; left out, it is detected."""
    target: str
    """The code of the language to translate into; left out, that of the model."""
    model: str
    """A served model's name; left out, the first that fits."""
    format: Format
    """How it is written; left out, as text."""
    split: Split
    """What the model reads at a time; left out, sentences."""
    n_best: int
    """Translations of each segment."""
    alignment: bool
    """Whether words are linked with words."""
    beam_size: int
    """Hypotheses kept at each step."""
    length_penalty: float
    """Higher prefers longer translations."""


_TRY_AGAIN = frozenset((408, 429, 502, 503, 504))
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 30.0


@dataclass(frozen=True, kw_only=True)
class Retries:
    """When a request that has failed is tried again: with 408, 429, 502, 503, 504 and where no answer came."""

    times: int = 4
    """Tries besides the first."""
    longest_wait_s: float = 120.0
    """Of a pause that the server asks for by Retry-After; is it longer, its error is raised at once."""
    chance: Callable[[], float] = random.random
    """Numbers from 0 to 1, so that many clients do not come back together."""

    def pause_s(self, failures: int, error: ServerError) -> float | None:
        """Seconds until the next try; None for no more.

        Args:
            failures: tries that have failed, from 1.
            error: of the last.
        """
        again = error.status in _TRY_AGAIN or error.status is None
        if failures > self.times or not again:
            return None
        pause = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * float(2 ** (failures - 1))) * (0.5 + self.chance() / 2)
        if error.retry_after_s is None:
            return pause
        # Never before the server says; a little later, each client in its own time.
        wanted: float = error.retry_after_s + 0.1 * pause
        return wanted if wanted <= self.longest_wait_s else None


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request."""

    method: str
    path: str
    json: Any = None
    files: Mapping[str, Any] | None = None
    data: Mapping[str, str] | None = None
    accept: str = "application/json"
    repeatable: bool = True
    """Whether it may be sent again though nobody knows whether it has arrived."""

    def request(self, client: "httpx.Client | httpx.AsyncClient") -> "httpx.Request":
        """As httpx sends it."""
        return client.build_request(
            self.method, self.path, json=self.json, files=self.files, data=self.data, headers={"Accept": self.accept}
        )


def settings(url: str, key: str | None, timeout_s: float) -> dict[str, Any]:
    """Arguments of httpx' clients.

    Raises:
        AttendoError: the address is none of HTTP.
    """
    if not url.startswith(("http://", "https://")):
        raise AttendoError(f"url = {url!r} is no address; write {DEFAULT_URL}")
    headers = {"User-Agent": "attendo"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, 10.0))
    return {"base_url": url.rstrip("/") + "/", "headers": headers, "timeout": timeout, "follow_redirects": False}


def translate_call(texts: str | Sequence[str], options: TranslateOptions, *, stream: bool = False) -> Call:
    """`/api/translate`."""
    body: dict[str, Any] = {"text": texts if isinstance(texts, str) else list(texts), **options}
    if stream:
        body["stream"] = True
    accept = "text/event-stream" if stream else "application/json"
    return Call(method="POST", path="api/translate", json=body, accept=accept)


def translate_all_call(texts: Sequence[str], options: TranslateOptions) -> Call:
    """`/api/translate`, of several texts."""
    _check_several(texts, "translate(text) translates one")
    return translate_call(texts, options)


def detect_call(text: str) -> Call:
    """`/api/detect`."""
    return Call(method="POST", path="api/detect", json={"text": text})


def parse_call(sentences: Sequence[str], model: str | None) -> Call:
    """`/api/parse`."""
    _check_several(sentences, "parse([text]) parses one sentence")
    body = {"text": list(sentences)} if model is None else {"text": list(sentences), "model": model}
    return Call(method="POST", path="api/parse", json=body)


def attention_call(text: str, translation: str | None, model: str | None) -> Call:
    """`/api/attention`."""
    body = {"text": text, "target": translation, "model": model}
    sent = {name: value for name, value in body.items() if value is not None}
    return Call(method="POST", path="api/attention", json=sent)


def document_call(document: str | Path | bytes, *, name: str | None, source: str, target: str) -> Call:
    """`/api/documents`.

    Raises:
        AttendoError: a document of bytes has no name to tell its format by.
        OSError: the file cannot be read.
    """
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
        files={"file": (name, content)},
        data={"source": source, "target": target},
        repeatable=False,
    )


def unreachable(error: Exception, url: str) -> ServerError:
    """No answer came."""
    return ServerError(
        f"{url}: no answer ({type(error).__name__}: {error}); is `attendo serve` running there?", code="unreachable"
    )


def error_of(response: "httpx.Response") -> ServerError:
    """What an answer says that is no success; its body has been read."""
    code, message = "http", ""
    try:
        told = response.json()["error"]
        code, message = str(told["code"]), str(told["message"])
    except (ValueError, KeyError, TypeError):
        message = f"{response.url}: status {response.status_code}"
    return ServerError(message, code=code, status=response.status_code, retry_after_s=_retry_after(response))


def json_of(response: "httpx.Response") -> Any:
    """The JSON of a successful answer.

    Raises:
        ServerError: it is none; somebody else has answered.
    """
    try:
        return response.json()
    except ValueError as error:
        message = f"{response.url}: the answer is no JSON; is it attendo that answers there?"
        raise ServerError(message, code="not-attendo", status=response.status_code) from error


def _retry_after(response: "httpx.Response") -> float | None:
    """Seconds, of a header with seconds or a date."""
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
    """Server-sent events, line by line."""

    _name: str = "message"
    _data: list[str] = field(default_factory=list)

    def line(self, line: str) -> tuple[str, Any] | None:
        """Takes a line in; an event's name and content with the empty line that ends it.

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
            told = content.get("error", {})
            raise ServerError(
                str(told.get("message", "the server has stopped")),
                code=str(told.get("code", "error")),
                status=503,
                retry_after_s=told.get("retry_after_s"),
            )
        return name, content


def may_repeat(call: Call, error: ServerError) -> bool:
    """Whether it does no harm to send a call again: it was refused, it has not arrived, or it may come twice."""
    return call.repeatable or error.status is not None or isinstance(error.__cause__, httpx.ConnectError)


def _check_several(texts: Sequence[str], instead: str) -> None:
    """Refuses a single text, which Python takes for a sequence of its letters.

    Raises:
        TypeError: it is a string; the message says what to write instead.
    """
    if isinstance(texts, str):
        raise TypeError(f"a list of texts is wanted, and this is one text: {instead}")
