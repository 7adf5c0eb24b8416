"""What state a server is in, for `/ready` and for load balancers."""

from dataclasses import dataclass, field
from typing import Literal

State = Literal["starting", "ready", "draining", "failed"]
ALWAYS_ANSWERED = ("/health", "/ready", "/metrics")
"""Paths for operators, which are answered whatever else goes on, and not logged."""


@dataclass(kw_only=True)
class Status:
    """Changes as the server goes on."""

    state: State = "starting"
    """Whether models are being loaded, all is well, SIGTERM has come, or a model could not be loaded at the start."""
    reason: str = ""
    """Of `failed`, for people."""
    in_flight: set[object] = field(default_factory=set)
    """A mark for each request that is being answered."""

    @property
    def ready(self) -> bool:
        """Whether new requests are welcome."""
        return self.state == "ready"
