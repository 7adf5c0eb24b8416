"""Parameters of a request, however a client sends them: JSON, a form, the query, even a form in the body of a GET."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO
from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.requests import Request

from attendo.reading import parse_json
from attendo.serving.errors import bad_request

_MAX_FIELDS = 2_000
_MAX_FILES = 2
"""A document and its template."""
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, kw_only=True)
class Upload:
    """A file that was sent."""

    name: str
    """The file name given by the sender; empty if there is none."""
    content: BinaryIO
    """The content, in memory or on disk; closed when the request is answered."""


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters by name; a parameter of a form has all its values."""

    values: Mapping[str, Any]
    """The values of JSON unchanged, and of forms as lists of strings or files."""
    is_json: bool
    """Whether the parameters were JSON."""

    def get(self, name: str) -> Any:
        """A value; for a form, the first value. None if there is none."""
        value = self.values.get(name)
        if self.is_json or value is None:
            return value
        return value[0] if value else None

    def text(self, name: str) -> str | None:
        """A string; None if there is none.

        Raises:
            ServingError: it is no string.
        """
        value = self.get(name)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bool | int | float):
            return str(value)
        raise bad_request(f"{name} is not a string")

    def texts(self, name: str, *, comma: bool = False) -> list[str] | None:
        """Strings: a list or one string of JSON, all values of a form; None if there are none.

        Args:
            name: the name of the parameter.
            comma: whether one string may contain several, separated by commas.

        Raises:
            ServingError: it is neither.
        """
        value = self.values.get(name)
        if value is None:
            return None
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
            raise bad_request(f"{name} is neither a string nor a list of strings")
        if comma:
            listed = [part.strip() for each in listed for part in each.split(",") if part.strip()]
        return listed

    def flag(self, name: str) -> bool | None:
        """A yes or no, as `true`, `1`, `"0"`; None if there is none.

        Raises:
            ServingError: it is neither.
        """
        value = self.get(name)
        if value is None or isinstance(value, bool):
            return value
        if str(value).lower() in ("1", "true"):
            return True
        if str(value).lower() in ("0", "false"):
            return False
        raise bad_request(f"{name} is neither true nor false")

    def file(self, name: str) -> Upload | None:
        """An uploaded file; None if there is none."""
        value = self.get(name)
        return value if isinstance(value, Upload) else None


def media_type(headers: Headers) -> str:
    """The media type of a body as its headers have it, in small letters and without parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


async def parameters_of(request: Request) -> Parameters:
    """Reads a request's parameters.

    JSON if the request declares it; otherwise the query and a form, where the query takes precedence.

    Raises:
        ServingError: it is not a JSON object, or not UTF-8.
    """
    kind = media_type(request.headers)
    if kind == "application/json" or kind.endswith("+json"):
        return Parameters(values=_json_object(await request.body()), is_json=True)
    found: dict[str, list[Any]] = {}
    for name, value in request.query_params.multi_items():
        found.setdefault(name, []).append(value)
    if kind == "multipart/form-data":
        pairs: Sequence[tuple[str, Any]] = await _multipart(request)
    elif kind in (_FORM, ""):
        pairs = _form(await request.body())
    else:
        pairs = ()
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return Parameters(values=found, is_json=False)


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        value = parse_json(body)
    except ValueError as error:
        raise bad_request("Invalid JSON format") from error
    if not isinstance(value, dict):
        raise bad_request("Invalid JSON format")
    return value


async def _multipart(request: Request) -> list[tuple[str, str | Upload]]:
    form = await request.form(max_files=_MAX_FILES, max_fields=_MAX_FIELDS)
    found: list[tuple[str, str | Upload]] = []
    for name, value in form.multi_items():
        if isinstance(value, str):
            found.append((name, value))
        else:
            request.state.files.callback(value.file.close)
            found.append((name, Upload(name=value.filename or "", content=value.file)))
    return found


def _form(body: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS)
    except (UnicodeDecodeError, ValueError) as error:
        raise bad_request("the form is not UTF-8, or has too many fields") from error


def check_characters(texts: Sequence[str]) -> None:
    """Rejects text that is not valid Unicode.

    Raises:
        ServingError: it has a lone surrogate, which JSON can represent but UTF-8 cannot.
    """
    for number, text in enumerate(texts, start=1):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise bad_request(
                f"text {number}: character {error.start} is a lone surrogate, which is no character"
            ) from error
