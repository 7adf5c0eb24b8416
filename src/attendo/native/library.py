"""The shared library of kernels, if there is one that this processor can run.

One library has a variant for each instruction set. The best that the processor can do is taken when it is loaded, if it
is better than plain torch. `ATTENDO_KERNELS` names another, or `plain` for none at all: so they are held against each
other.
"""

import ctypes
import os
from collections.abc import Callable
from ctypes import Structure, byref, c_float, c_int, c_int32, c_int64, c_void_p
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from attendo.errors import ModelError
from attendo.native.build import HERE, LIBRARY, problem

VARIANTS = ("avx512amx", "avx512bf16", "avx512vnni", "avx2", "neoni8mm", "neondot", "neon", "portable")
"""Best first; the index is the number used by `attendo_can_run` in `dispatch.cpp`."""
PORTABLE = "portable"
"""The variant for every processor, for tests; it is slower than plain torch and only used by name."""
PLAIN = "plain"
ENVIRONMENT = "ATTENDO_KERNELS"
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "model_new": (c_void_p, c_void_p),
    "model_free": (c_void_p,),
    "model_matrix": (c_void_p, c_int, c_int, c_int, c_int, c_int, c_void_p, c_void_p, c_void_p, c_void_p),
    "model_norm": (c_void_p, c_int, c_int, c_void_p, c_void_p),
    "model_embedding": (c_void_p, c_int, c_void_p, c_void_p, c_void_p),
    "model_drafter": (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p),
    "model_next_word": (c_void_p, c_void_p, c_void_p, c_int64),
    "model_parser_stack": (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_int),
    "session_new": (c_void_p, c_int, c_void_p),
    "session_free": (c_void_p,),
    "session_start": (c_void_p, c_void_p, c_void_p, c_int, c_void_p),
    "session_read": (c_void_p, c_void_p, c_void_p),
    "session_advance": (c_void_p, c_void_p, c_void_p),
    "session_block": (c_void_p, c_void_p, c_int, c_void_p, c_int64, c_void_p, c_void_p, c_void_p, c_void_p),
    "session_write": (
        c_void_p,
        c_int,
        c_void_p,
        c_int64,
        c_int,
        c_void_p,
        c_void_p,
        c_void_p,
        c_void_p,
        c_void_p,
    ),
    "session_draft": (c_void_p, c_int64, c_void_p),
    "session_select": (c_void_p, c_void_p, c_int, c_int),
    "session_top_k": (c_void_p, c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p),
    "session_of": (c_void_p, c_void_p, c_int, c_void_p),
    "session_all": (c_void_p, c_void_p),
    "session_bytes": (c_void_p, c_void_p),
    "add_and_norm": (c_void_p, c_int, c_void_p),
    "add_and_norm_back": (c_void_p, c_int, c_void_p),
    "embed": (c_void_p, c_void_p),
    "embed_back": (c_void_p, c_int, c_void_p),
    "attention": (c_void_p, c_int, c_void_p),
    "attention_back": (c_void_p, c_int, c_void_p),
    "cross_entropy": (c_void_p, c_int, c_void_p),
    "r_drop": (c_void_p, c_int, c_void_p),
    "turn": (c_void_p, c_int, c_void_p),
    "bias_back": (c_void_p, c_int, c_void_p),
    "accumulate": (c_void_p, c_int, c_void_p, c_void_p, c_int64),
}
_OUT_OF_MEMORY = 1
"""The result of functions of `engine.cpp` that run out of memory."""
_SIZES = (
    "d_model", "d_ff", "num_heads", "d_k", "d_v", "encoder_layers", "decoder_layers",
    "src_vocab_size", "tgt_vocab_size", "start_id", "swish", "draft_tokens", "next_word",
    "parser_stack",
)  # fmt: skip


class Shape(Structure):
    """`Shape` of `model.h`: sizes and precision; d_k, d_v and d_ff are multiples of `PADDED`."""

    _fields_ = (
        *((name, c_int32) for name in _SIZES),
        ("scale", c_float),
        ("layer_norm_eps", c_float),
        ("embedding_scale", c_float),
    )


PRECISIONS = ("float32", "bfloat16", "int8")
"""Precisions of a weight; the index is the value of `Precision` in `products.h`."""
PADDED = 16
"""`PADDED` of `lanes.h`: rows are filled up with zeros to a multiple of this."""


@dataclass(frozen=True)
class Kernels:
    """The functions of one variant."""

    variant: str
    """The instruction set, one of `VARIANTS`."""
    functions: dict[str, Callable[..., int]] = field(repr=False)

    def call(self, name: str, *arguments: object) -> None:
        """Calls a function of `engine.cpp`; other Python threads run meanwhile.

        Raises:
            MemoryError: no memory is left.
            ModelError: an argument that the kernels cannot work with.
        """
        status = self.functions[name](*arguments)
        if status == _OUT_OF_MEMORY:
            raise MemoryError(
                "the native kernels ran out of memory; take smaller batches (search.max_batch_sentences, or to train "
                "training.max_tokens_at_once)"
            )
        if status:
            raise ModelError(
                f"the native kernels reject the arguments of {name}: an impossible size or row, or a token id outside "
                "the vocabulary; "
                "do the tokenizer and the model belong together?"
            )

    def new(self, name: str, *arguments: object) -> int:
        """Calls a function that creates an object; returns its handle."""
        handle = c_void_p()
        self.call(name, *arguments, byref(handle))
        assert handle.value is not None
        return handle.value


@dataclass(frozen=True)
class KernelChoice:
    """The kernels that were found, and why."""

    kernels: Kernels | None
    """The kernels; None for plain torch."""
    reason: str
    """Why there are no kernels, or not the best ones; empty for the best kernels of the processor."""


@cache
def find_kernels() -> KernelChoice:
    """The kernels to use in this process: the processor's best, or what `ATTENDO_KERNELS` names.

    Raises:
        ModelError: `ATTENDO_KERNELS` names kernels that are missing.
    """
    requested = os.environ.get(ENVIRONMENT, "")
    if requested == PLAIN:
        return KernelChoice(None, f"{ENVIRONMENT}={PLAIN}")
    if requested and requested not in VARIANTS:
        raise ModelError(f"{ENVIRONMENT}={requested}: there is no such variant; take {', '.join((*VARIANTS, PLAIN))}")
    available = available_kernels()
    for kernels in available:
        if kernels.variant == (requested or kernels.variant) and (requested or kernels.variant != PORTABLE):
            return KernelChoice(kernels, f"{ENVIRONMENT}={requested}" if requested else "")
    if requested:
        raise ModelError(f"{ENVIRONMENT}={requested}: not available on this processor or in this build; leave it unset")
    return KernelChoice(None, problem() or "this processor has no instructions that the native kernels gain by")


@cache
def available_kernels() -> tuple[Kernels, ...]:
    """Lists all variants that are built and run on this processor, best first; none if it is older than its sources."""
    if problem():  # one from other sources may have other functions
        return ()
    library = ctypes.CDLL(str(HERE / LIBRARY))
    return tuple(
        Kernels(name, {function: _function(library, name, function) for function in _FUNCTIONS})
        for number, name in enumerate(VARIANTS)
        if library.attendo_can_run(number) and hasattr(library, f"attendo_{name}_model_new")
    )


def multiplies_bfloat16_fast() -> bool:
    """Whether products of large matrices in bfloat16 are faster than in float32 on this processor.

    They are with AMX, and on AMD processors with AVX-512's bfloat16. Intel processors run those instructions at half
    the speed of float32's, so without AMX nothing is gained (docs/speed.md).
    """
    kernels = find_kernels().kernels
    variant = None if kernels is None else kernels.variant
    return variant == "avx512amx" or (variant == "avx512bf16" and "AuthenticAMD" in _processor_facts())


def _processor_facts() -> str:
    try:
        return Path("/proc/cpuinfo").read_text("utf-8", "replace").partition("\n\n")[0]
    except OSError:  # another system than Linux
        return ""


def describe() -> str:
    """Describes the kernels that decoding uses on the CPU, in a line."""
    found = find_kernels()
    if found.kernels is None:
        return f"plain torch ({found.reason})"
    return f"native {found.kernels.variant}" + (f" ({found.reason})" if found.reason else "")


def _function(library: ctypes.CDLL, variant: str, name: str) -> Callable[..., int]:
    function = library[f"attendo_{variant}_{name}"]
    function.argtypes = _FUNCTIONS[name]
    function.restype = c_int
    return function
