"""The status of a server for `/ready` and load balancers."""

from dataclasses import dataclass, field
from typing import Literal

State = Literal["starting", "ready", "draining", "failed"]
ALWAYS_ANSWERED = ("/health", "/ready", "/metrics")
"""Paths for operators, which are always answered and never logged."""


@dataclass(kw_only=True)
class Status:
    """The status, which changes while the server runs."""

    state: State = "starting"
    """The state of the server: models are being loaded, all is well, SIGTERM has arrived, or a model could not be
    loaded at the start."""
    reason: str = ""
    """Reason of `failed`, for display."""
    in_flight: set[object] = field(default_factory=set)
    """A mark for each request that is being answered."""
    asked_at: float = 0.0
    """Time at which the last request, other than operators', arrived or was answered, by `time.monotonic()`."""

    @property
    def ready(self) -> bool:
        """Whether the server accepts new requests."""
        return self.state == "ready"
