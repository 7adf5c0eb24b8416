"""Advice for machines without the best kernels for their processor: the loss in speed, and how to get the kernels."""

import ctypes
import os
import platform

from attendo.native.build import AGAIN, HERE, LIBRARY, problem, read_build
from attendo.native.library import ENVIRONMENT, VARIANTS, find_kernels

_PLAIN = (
    "decoding takes 2 to 5 times as long as with the native kernels and needs torch, and training is slower, too: "
    'pip install "attendo[train]"'
)


def advice() -> str:
    """Describes the loss and the remedy in one line; empty if nothing is lost, or if the user has chosen so."""
    if os.environ.get(ENVIRONMENT):
        return ""
    kernels = find_kernels().kernels
    if kernels is None:
        if problem():  # which includes the remedy, see `library.describe`
            return _PLAIN
        return (
            f"{_PLAIN}; there are no kernels for this processor ({platform.machine()}) but the slowest: "
            f"{ENVIRONMENT}=portable decodes without torch"
        )
    better = [name for name in left_out() if VARIANTS.index(name) < VARIANTS.index(kernels.variant)]
    if not better:
        return ""
    return (
        f"this processor can run {better[0]}, which is faster; the compiler that built the kernels could not make it: "
        f"take a newer one, such as g++ 14, or a wheel of attendo's, and build again with: {AGAIN}"
    )


def left_out() -> list[str]:
    """The variants that this processor can run and the library does not have, best first."""
    built = read_build()
    if built is None or problem():
        return []
    library = ctypes.CDLL(str(HERE / LIBRARY))
    numbered = enumerate(VARIANTS)
    return [name for number, name in numbered if name not in built.variants and library.attendo_can_run(number)]
