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
    """Whether models are being loaded, all is well, SIGTERM has come, or a model could not be loaded at the start."""
    reason: str = ""
    """Reason of `failed`, for display."""
    in_flight: set[object] = field(default_factory=set)
    """A mark for each request that is being answered."""
    asked_at: float = 0.0
    """When the last request came or was answered, by `time.monotonic()`, apart from those of operators."""

    @property
    def ready(self) -> bool:
        """Whether new requests are welcome."""
        return self.state == "ready"
