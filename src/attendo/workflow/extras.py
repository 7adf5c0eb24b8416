"""Checks that optional packages are installed before a command starts; errors say how to install them."""

from collections.abc import Sequence
from importlib.util import find_spec

from attendo.errors import AttendoError


def need_packages(names: Sequence[str], extra: str) -> None:
    """Raises an error if packages are missing.

    Args:
        names: the modules that will be imported.
        extra: the extra of attendo that installs them.

    Raises:
        AttendoError: some are not installed; the message explains how to install them.
    """
    if missing := [name for name in names if not is_installed(name)]:
        raise AttendoError(f'{", ".join(missing)}: not installed, and needed here; pip install "attendo[{extra}]"')


def is_installed(name: str) -> bool:
    """Whether a module can be imported, as far as is known without importing it."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # of the package that it would be part of
        return False
