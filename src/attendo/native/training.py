"""Argument structures of the training kernels (`native/training_*.h`), and their threads.

Pointers are addresses of arrays that are contiguous by rows; `training.passes.functions` makes them of tensors.
"""

import ctypes
import os
from ctypes import Structure, c_float, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from functools import cache

_LEVELS = 1 << 16


class Crew(Structure):
    """Threads to work with."""

    _fields_ = (("parallel", c_void_p), ("threads", c_int32))


def make_crew(threads: int) -> Crew:
    """Makes a team of threads of torch's OpenMP runtime; only the caller's thread if there is none."""
    return Crew(openmp_parallel(), threads)


@cache
def openmp_parallel() -> int | None:
    """The address of `GOMP_parallel`, if the process has it."""
    if os.name != "posix":
        return None
    try:
        return ctypes.cast(ctypes.CDLL(None).GOMP_parallel, c_void_p).value
    except AttributeError:
        return None


class DropoutArguments(Structure):
    """`Dropout`: a seed, and how many of 65,536 levels are kept."""

    _fields_ = (("seed", c_uint64), ("kept", c_uint32), ("scale", c_float))


def make_dropout(p: float, seed: int) -> DropoutArguments:
    """Dropout with probability `p`, rounded to 1/65536; the scale is that of the rounded value."""
    kept = max(1, round((1 - p) * _LEVELS))
    return DropoutArguments(seed, kept, _LEVELS / kept)


class AddAndNormArguments(Structure):
    """`AddAndNorm`."""

    _fields_ = (
        ("rows", c_int32), ("width", c_int32), ("residual", c_void_p), ("output", c_void_p),
        ("dropout", DropoutArguments), ("gain", c_void_p), ("bias", c_void_p), ("epsilon", c_float),
        ("normed", c_void_p), ("low", c_void_p), ("centred", c_void_p), ("inverse", c_void_p),
    )  # fmt: skip


class AddAndNormBackArguments(Structure):
    """`AddAndNormBack`."""

    _fields_ = (
        ("rows", c_int32), ("width", c_int32), ("grad", c_void_p), ("grad_low", c_void_p), ("centred", c_void_p),
        ("inverse", c_void_p), ("gain", c_void_p), ("dropout", DropoutArguments), ("grad_residual", c_void_p),
        ("grad_output", c_void_p), ("parts", c_void_p), ("grad_gain", c_void_p), ("grad_bias", c_void_p),
    )  # fmt: skip


GAIN_PARTS = 32
"""`GAIN_PARTS` of `training_rows.h`: the first dimension of `parts`."""


class TurnArguments(Structure):
    """`Turn`."""

    _fields_ = (
        ("rows", c_int32), ("columns", c_int32), ("weight", c_void_p), ("low", c_void_p), ("turned", c_void_p),
    )  # fmt: skip


class BiasBackArguments(Structure):
    """`BiasBack`."""

    _fields_ = (
        ("rows", c_int32), ("width", c_int32), ("grad", c_void_p), ("output", c_void_p), ("masked", c_void_p),
        ("parts", c_void_p), ("grad_bias", c_void_p),
    )  # fmt: skip


class EmbedArguments(Structure):
    """`Embed`."""

    _fields_ = (
        ("rows", c_int32), ("width", c_int32), ("ids", c_void_p), ("positions", c_void_p), ("weight", c_void_p),
        ("table", c_void_p), ("scale", c_float), ("dropout", DropoutArguments), ("embedded", c_void_p),
        ("low", c_void_p),
    )  # fmt: skip


class EmbedBackArguments(Structure):
    """`EmbedBack`."""

    _fields_ = (
        ("rows", c_int32), ("width", c_int32), ("ids", c_void_p), ("grad", c_void_p), ("grad_low", c_void_p),
        ("scale", c_float), ("dropout", DropoutArguments), ("grad_weight", c_void_p),
    )  # fmt: skip


class CrossEntropyArguments(Structure):
    """`CrossEntropy`."""

    _fields_ = (
        ("rows", c_int32), ("vocabulary", c_int32), ("logits", c_void_p), ("bias", c_void_p), ("targets", c_void_p),
        ("smoothing", c_float), ("gradients", c_int32), ("smoothed", c_void_p), ("log_loss", c_void_p),
    )  # fmt: skip


class RDropArguments(Structure):
    """`RDrop`."""

    _fields_ = (
        ("tokens", c_int32), ("vocabulary", c_int32), ("logits", c_void_p), ("bias", c_void_p), ("targets", c_void_p),
        ("smoothing", c_float), ("weight", c_float), ("gradients", c_int32), ("minimised", c_void_p),
        ("log_loss", c_void_p),
    )  # fmt: skip


class AttentionArguments(Structure):
    """`PackedAttention`."""

    _fields_ = (
        ("sentences", c_int32), ("heads", c_int32), ("d_k", c_int32), ("d_v", c_int32), ("causal", c_int32),
        ("most_queries", c_int32), ("most_keys", c_int32), ("query_starts", c_void_p), ("key_starts", c_void_p),
        ("query", c_void_p), ("key", c_void_p), ("value", c_void_p), ("query_stride", c_int64),
        ("key_stride", c_int64), ("value_stride", c_int64), ("scale", c_float), ("dropout", DropoutArguments),
        ("context", c_void_p), ("softmax", c_void_p),
    )  # fmt: skip


class AttentionBackArguments(Structure):
    """`PackedAttentionBack`."""

    _fields_ = (
        ("its", AttentionArguments), ("grad_context", c_void_p), ("grad_query", c_void_p), ("grad_key", c_void_p),
        ("grad_value", c_void_p), ("grad_query_stride", c_int64), ("grad_key_stride", c_int64),
        ("grad_value_stride", c_int64),
    )  # fmt: skip
