"""Settings for keeping corrections on a server."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CorrectionsConfig:
    """Corrections of translations, which callers send, each for itself.

    Raises:
        ValueError: a value is invalid.
    """

    enabled: bool = False
    """Whether corrections are kept; off, since they are text of the callers. A correction answers its sender's next
    request with the same text, and `attendo learn --from-server` learns from them."""
    max_a_caller: int = 20_000
    """Corrections of one caller; beyond, 456."""

    def __post_init__(self) -> None:
        """Rejects invalid values."""
        if self.max_a_caller < 1:
            raise ValueError(f"max_a_caller = {self.max_a_caller} is too small; take 1 or more")
