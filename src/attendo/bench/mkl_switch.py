"""A switch that makes MKL take its fast paths on processors that are not Intel's.

MKL, with which torch computes float32 products, asks a function of its own whether the processor is Intel's. A library
loaded before it that has a function of the same name answers instead; it is compiled here if there is a compiler.
"""

import platform
import shutil
import subprocess
from pathlib import Path

from attendo.errors import AttendoError

_SOURCE = "int mkl_serv_intel_cpu_true(void) { return 1; }\n"


def mkl_environment(folder: Path) -> dict[str, str]:
    """Returns environment variables for a process whose MKL is to take its fast paths.

    Args:
        folder: folder for the library; it must exist as long as the processes run.

    Raises:
        AttendoError: the library cannot be made on this machine; the message says why.
    """
    compiler = shutil.which("cc")
    if platform.system() != "Linux" or platform.machine() != "x86_64" or compiler is None:
        raise AttendoError("MKL's switch needs Linux on x86-64 and a C compiler (cc)")
    source, library = folder / "intel.c", folder / "libintel.so"
    source.write_text(_SOURCE, encoding="utf-8")
    finished = subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", library, source], capture_output=True, text=True, check=False
    )
    if finished.returncode:
        raise AttendoError(f"MKL's switch cannot be compiled: {finished.stderr.strip().splitlines()[-1]}")
    return {"LD_PRELOAD": str(library)}
