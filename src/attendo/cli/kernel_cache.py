"""Limits on the compiled kernels that torch caches; both functions must be called before torch is imported.

A kernel is compiled for every new shape, and oneDNN caches 1,024 of them, as does each thread: with ever-changing batch
shapes this takes gigabytes.
"""

import os


def bound_for_training() -> None:
    """Halves the cache: packed rows have few distinct counts, so 512 entries hold all of them."""
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "512")


def bound_for_serving() -> None:
    """Shrinks caches: alignments and attention have arbitrary shapes, which rarely recur; native kernels need none."""
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
    os.environ.setdefault("LRU_CACHE_CAPACITY", "16")  # per thread
