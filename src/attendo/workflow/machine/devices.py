"""The names of devices, as settings and torch have them."""

from attendo.errors import AttendoError

DEVICES = ("auto", "cpu", "cuda")
"""The settings of where to work."""


def check_device(name: str) -> None:
    """Refuses a setting that there is not.

    Raises:
        AttendoError: it is not in `DEVICES`.
    """
    if name not in DEVICES:
        raise AttendoError(f"device = {name!r} is unknown; take one of {', '.join(DEVICES)}")


def device_type(device: object) -> str:
    """`cpu`, `cuda` or another kind, of a device as torch names it, such as `cuda:0`."""
    return str(device).split(":")[0]
