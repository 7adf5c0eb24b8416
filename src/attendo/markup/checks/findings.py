"""Findings of checks."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault of a translation."""

    check: str
    """Name of the check, as in Weblate if it has the same."""
    message: str
    """Description of the problem, for display."""
    is_error: bool = True
    """Whether a program that uses the translation may fail; otherwise it is a warning."""

    def __str__(self) -> str:
        """The check and its message."""
        return f"{self.check}: {self.message}"


def warning(check: str, message: str) -> Finding:
    """Makes a finding that is not an error."""
    return Finding(check, message, is_error=False)
