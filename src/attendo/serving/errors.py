"""Errors of requests: a status, a code for programs and a sentence for display.

Each API has its own format for them; `ErrorShape` has the paths of each.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from attendo.errors import AttendoError


class ServingError(AttendoError):
    """A request that cannot be answered.

    Args:
        status: the HTTP status.
        code: a code for programs, such as `too-large`.
        message: a message for people: the fault, the received value, the remedy.
        retry_after_s: when it makes sense to try again; None if it does not.
    """

    def __init__(self, status: int, code: str, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.retry_after_s = status, code, message, retry_after_s


def bad_request(message: str) -> ServingError:
    """Makes the error 400: the request is invalid."""
    return ServingError(400, "bad-request", message)


def unknown_pair(message: str) -> ServingError:
    """No model has these languages, or the given name: 400."""
    return ServingError(400, "unknown-pair", message)


def unauthorized(message: str) -> ServingError:
    """A key is required, and none was given: 401."""
    return ServingError(401, "unauthorized", message)


def forbidden(message: str) -> ServingError:
    """The key is unknown, or does not allow this: 403."""
    return ServingError(403, "forbidden", message)


def not_found(message: str) -> ServingError:
    """Makes the error 404: there is no such resource."""
    return ServingError(404, "not-found", message)


def misdirected(message: str) -> ServingError:
    """The request names a host that this server is not: 421."""
    return ServingError(421, "misdirected", message)


def cross_origin(message: str) -> ServingError:
    """The request was sent by a page of another site: 403."""
    return ServingError(403, "cross-origin", message)


def too_large(message: str) -> ServingError:
    """More text, items or bytes than allowed in one request: 413."""
    return ServingError(413, "too-large", message)


def too_many_requests(message: str, retry_after_s: float) -> ServingError:
    """The caller has had its share for now: 429."""
    return ServingError(429, "too-many-requests", message, retry_after_s=retry_after_s)


def quota_exceeded(message: str) -> ServingError:
    """The key's characters are used up: 456, as in DeepL's API."""
    return ServingError(456, "quota-exceeded", message)


def busy(message: str, retry_after_s: float) -> ServingError:
    """More requests are waiting than the server accepts: 503."""
    return ServingError(503, "busy", message, retry_after_s=retry_after_s)


def overdue(message: str, retry_after_s: float) -> ServingError:
    """The time for it is over: 503."""
    return ServingError(503, "overdue", message, retry_after_s=retry_after_s)


ErrorBody = Callable[[ServingError], dict[str, Any]]
"""The JSON in which an API reports an error."""


@dataclass(frozen=True, kw_only=True)
class ErrorShape:
    """The error format of an API; each API's module has one, `ERRORS`."""

    paths: Sequence[str]
    """Prefixes of its paths, without the prefix of the server: `/v2/`."""
    body: ErrorBody
    """Makes the body of an answer."""
    statuses: Sequence[tuple[int, int]] = ()
    """Statuses that it replaces by others: pairs of ours and its."""


def native_body(error: ServingError) -> dict[str, Any]:
    """The shape of our own API, and of every path that no other API has: `{"error": {"code", "message"}}`."""
    fields: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.retry_after_s is not None:
        fields["retry_after_s"] = round(error.retry_after_s, 3)
    return {"error": fields}
