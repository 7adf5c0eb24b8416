"""How many compiled products torch's kernels keep; both functions must be called before torch is imported.

A product is compiled for every shape that is met, and 1,024 of them are kept by oneDNN and as many by each thread: of
batches with ever new shapes gigabytes.
"""

import os


def bound_for_training() -> None:
    """Packed rows come in few different numbers, so that half as many hold all of them."""
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "512")


def bound_for_serving() -> None:
    """Alignments and attention are of any shape, so that few would be met again; the native kernels keep none."""
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
    os.environ.setdefault("LRU_CACHE_CAPACITY", "16")  # of each thread
