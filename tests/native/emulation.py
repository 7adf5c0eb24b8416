"""Programs for aarch64 on any processor: GCC's cross compiler compiles them, QEMU runs them.

On Debian they are `g++-aarch64-linux-gnu` and `qemu-user`. Results are those of the processor that QEMU stands for; how
long it takes says nothing.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from attendo.decoding.step import FloatArray
from attendo.native.build import COMPILE_FLAGS, HERE, NEON_VARIANTS

CROSS_COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64"
PROCESSORS = {"neon": "cortex-a57", "neondot": "cortex-a76", "neoni8mm": "max"}
"""For each variant one that has its instructions but, the last aside, not those of the next, which end a program."""
MISSING = ", ".join(name for name in (CROSS_COMPILER, EMULATOR) if shutil.which(name) is None)
"""Those of the two programs that are not installed."""


def compile_program(
    made: Path, sources: Sequence[Path], *, variant: str = "portable", flags: Sequence[str] = ()
) -> None:
    """Compiles and links a program that needs no shared library."""
    of_variant = next(each.flags for each in NEON_VARIANTS if each.name == variant)
    all_flags = (*COMPILE_FLAGS, "-Werror", *of_variant, f"-DATTENDO_VARIANT={variant}", f"-I{HERE}", *flags)
    command = [CROSS_COMPILER, *all_flags, "-static", *map(str, sources), "-o", str(made)]
    subprocess.run(command, check=True)


def emulated(processor: str, program: Path, *arguments: str) -> list[str]:
    """The command that runs a program on a processor."""
    return [EMULATOR, "-cpu", processor, str(program), *arguments]


class EmulatedProducts:
    """One variant's products; `emulated_products.cpp` has the other side."""

    def __init__(self, folder: Path, variant: str) -> None:
        """Compiles the program in a folder, and starts it."""
        here, program = Path(__file__).parent, folder / "products"
        sources = [here / name for name in ("products.cpp", "emulated_products.cpp")]
        compile_program(program, sources, variant=variant, flags=["-O2"])
        self._process = subprocess.Popen(
            emulated(PROCESSORS[variant], program), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __call__(
        self, sizes: Sequence[int], arrays: Sequence[npt.NDArray[np.float32 | np.int8] | None], out: FloatArray
    ) -> None:
        """Computes a product.

        Args:
            sizes: precision, count, inputs, outputs, threads and whether there is a ReLU, as `product` takes them.
            arrays: rows, weights, codes, scales and bias; None for one that there is not.
            out: is filled.
        """
        contents = [b"" if array is None else array.tobytes() for array in arrays]
        request = np.array([*sizes, *map(len, contents)], dtype=np.int32).tobytes()
        self._pipe(self._process.stdin).write(b"".join((request, *contents)))
        self._pipe(self._process.stdin).flush()
        answer = self._pipe(self._process.stdout).read(out.nbytes)
        assert len(answer) == out.nbytes, f"the program ended with {self._process.wait()}"
        out[:] = np.frombuffer(answer, dtype=np.float32).reshape(out.shape)

    def close(self) -> None:
        """Ends the program."""
        self._pipe(self._process.stdin).close()
        assert self._process.wait() == 0
        self._pipe(self._process.stdout).close()

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None
        return pipe
