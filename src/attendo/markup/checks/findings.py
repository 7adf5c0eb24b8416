"""What a check finds in a translation."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault of a translation."""

    check: str
    """The name of the check, as Weblate calls it where it has the same."""
    message: str
    """What is wrong, for people."""
    is_error: bool = True
    """Whether a program that uses the translation may fail; else it is a warning."""

    def __str__(self) -> str:
        """The check and its message."""
        return f"{self.check}: {self.message}"


def warning(check: str, message: str) -> Finding:
    """Makes a finding that is no error."""
    return Finding(check, message, is_error=False)
