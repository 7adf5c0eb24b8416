"""Builds the native kernels: the variants of this machine's processor family, their flags, the compiler's commands.

Installing attendo does it (`hatch_build.py`, before anything that attendo depends on is there), and so does `python -m
attendo.native.build`, in place: after an edit, or if a compiler was installed later. Where there is no compiler, or it
fails, attendo works without the kernels, and `attendo info` shows the reason.

Environment: `CXX` names the compiler; `ATTENDO_NATIVE=off` builds nothing; `ATTENDO_NATIVE=require` makes it an error
when a variant is missing.
"""

import hashlib
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).parent
LIBRARY, RECORD = "_attendo.so", "_attendo.json"
"""Files of a build: the library, and the record of how it was built, or why it was not."""
SWITCH = "ATTENDO_NATIVE"
AGAIN = "python -m attendo.native.build"

COMPILERS = ("c++", "g++", "clang++")
COMPILE_FLAGS = (
    "-std=c++17", "-O3", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-fvisibility=hidden", "-pthread",
    "-Wall", "-Wextra", "-Wno-maybe-uninitialized",
)  # fmt: skip
LINK_FLAGS = ("-shared", "-pthread")
SELF_CONTAINED = ("-static-libstdc++", "-static-libgcc", "-Wl,--exclude-libs,ALL")
"""Flags that are tried first: a Python with its own, older C++ library (conda's) could not load the kernels
otherwise."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """The kernels for one instruction set: `engine.cpp` compiled with these flags and `ATTENDO_VARIANT` as the name."""

    name: str
    flags: tuple[str, ...] = ()


NEON_VARIANTS = (
    Variant(name="portable"),
    Variant(name="neon", flags=("-DATTENDO_NEON",)),
    Variant(name="neondot", flags=("-DATTENDO_NEON", "-march=armv8.2-a+dotprod")),
    Variant(name="neoni8mm", flags=("-DATTENDO_NEON", "-march=armv8.2-a+dotprod+i8mm+bf16")),
)
"""Variants for aarch64: plain NEON, dot products of int8, and products of matrices of int8 and bfloat16."""
VARIANTS = {
    "x86_64": (
        Variant(name="portable"),
        Variant(name="avx2", flags=("-march=x86-64-v3",)),
        Variant(name="avx512vnni", flags=("-march=x86-64-v4", "-mavx512vnni")),
        Variant(name="avx512bf16", flags=("-march=x86-64-v4", "-mavx512vnni", "-mavx512bf16")),
        Variant(
            name="avx512amx",
            flags=("-march=x86-64-v4", "-mavx512vnni", "-mavx512bf16", "-mamx-tile", "-mamx-int8", "-mamx-bf16"),
        ),
    ),
    "aarch64": NEON_VARIANTS,  # Linux' name
    "arm64": NEON_VARIANTS,  # macOS'
    "": (Variant(name="portable"),),
}
"""Variants by `platform.machine()`; "" is any other. The smallest instruction set comes first, see `_link`."""


@dataclass(frozen=True, kw_only=True)
class Build:
    """The result of a build; stored next to the library as JSON."""

    message: str
    """One line: the result, or why nothing was built and the remedy."""
    variants: tuple[str, ...] = ()
    """Variants in the library; empty without one."""
    fingerprint: str
    """Fingerprint of the sources and flags."""


class BuildError(RuntimeError):
    """`ATTENDO_NATIVE` cannot be satisfied; the message gives the reason."""


def variants() -> tuple[Variant, ...]:
    """The variants for this machine's processor family, the smallest instruction set first."""
    return VARIANTS.get(platform.machine(), VARIANTS[""])


def fingerprint(sources: Path = HERE) -> str:
    """A hash of everything that determines the result of a build, except the compiler's version."""
    commands = (*COMPILE_FLAGS, *LINK_FLAGS, *SELF_CONTAINED, *map(str, variants()), platform.system())
    found = hashlib.sha256("\n".join(commands).encode())
    for path in sorted((*sources.glob("*.cpp"), *sources.glob("*.h"))):
        found.update(f"\n{path.name} {path.stat().st_size}\n".encode() + path.read_bytes())
    return found.hexdigest()


def read_build(folder: Path = HERE) -> Build | None:
    """Reads the result of the last build in a folder; None if there is none, or if it is from another version."""
    with suppress(OSError, ValueError, TypeError):
        content = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return Build(**{**content, "variants": tuple(content.pop("variants"))})
    return None


def problem(folder: Path = HERE, *, sources: Path = HERE) -> str:
    """Explains why a folder's library cannot be used, with a remedy; empty if it is built from these sources."""
    built = read_build(folder)
    if built is not None and not built.variants:
        return f"{built.message}; to build them: {AGAIN}"
    if built is None or not (folder / LIBRARY).is_file():
        return f"the native kernels are not built; build them with: {AGAIN}"
    if built.fingerprint != fingerprint(sources):
        return f"the native kernels are older than their sources; build them again with: {AGAIN}"
    return ""


def build(folder: Path = HERE, *, sources: Path = HERE, environment: Mapping[str, str] = os.environ) -> Build:
    """Compiles the kernels into a folder, or reports why not; an existing library is replaced or removed.

    Args:
        folder: the folder for the library and its record.
        sources: the folder of `engine.cpp`, `dispatch.cpp` and their headers.
        environment: the environment variables, with `CXX`, `ATTENDO_NATIVE` and `PATH`.

    Returns:
        The result of the build.

    Raises:
        BuildError: `ATTENDO_NATIVE` is `require` and not every variant could be built, or has an unknown value.
        OSError: the folder cannot be written to.
    """
    wanted = environment.get(SWITCH, "auto")
    if wanted not in ("auto", "off", "require"):
        raise BuildError(f"{SWITCH}={wanted}: take auto, off or require")
    with tempfile.TemporaryDirectory() as scratch:
        if wanted == "off":
            built = Build(message=f"the native kernels are not built, as {SWITCH}=off asks", fingerprint="")
        else:
            built = _compile(Path(scratch), sources, environment)
        if wanted == "require" and len(built.variants) < len(variants()):
            raise BuildError(f"{SWITCH}=require, but {built.message}")
        _put(built, Path(scratch) / LIBRARY, folder)
    return built


def ensure(folder: Path = HERE, *, sources: Path = HERE, environment: Mapping[str, str] = os.environ) -> Build:
    """Builds as `build` does, unless there is an intact library of these sources."""
    built = read_build(folder)
    complete = built is not None and len(built.variants) == len(variants()) and not problem(folder, sources=sources)
    if built is not None and complete and environment.get(SWITCH, "auto") in ("auto", "require"):
        return built
    return build(folder, sources=sources, environment=environment)


def _compile(scratch: Path, sources: Path, environment: Mapping[str, str]) -> Build:
    mark = fingerprint(sources)
    if platform.system() == "Windows":
        return Build(message="the native kernels are for Linux and macOS, WSL included", fingerprint=mark)
    compiler = find_compiler(environment)
    if compiler is None:
        looked = f"CXX={environment['CXX']} is none" if environment.get("CXX") else f"looked for {', '.join(COMPILERS)}"
        message = f"the native kernels are not built, as no C++ compiler was found ({looked}); install one, such as g++"
        return Build(message=message, fingerprint=mark)
    commands = [[*compiler, *COMPILE_FLAGS, "-c", "dispatch.cpp", "-o", str(scratch / "dispatch.o")]]
    for variant in variants():
        flags = (*COMPILE_FLAGS, *variant.flags, f"-DATTENDO_VARIANT={variant.name}")
        commands.append([*compiler, *flags, "-c", "engine.cpp", "-o", str(scratch / f"{variant.name}.o")])
    with ThreadPoolExecutor(max_workers=_num_processors()) as workers:
        errors = list(workers.map(lambda command: _run(command, sources, environment), commands))
    failed = {variant.name: error for variant, error in zip(variants(), errors[1:], strict=True) if error}
    usable = tuple(variant.name for variant in variants() if variant.name not in failed)
    fatal = errors[0] or failed.get("portable") or _link(compiler, scratch, usable, environment)
    if fatal:
        return Build(message=f"{compiler[0]} could not build the native kernels: {fatal}", fingerprint=mark)
    left_out = "".join(f"; {name} left out: {error}" for name, error in failed.items())
    return Build(
        message=f"native kernels built with {compiler[0]}: {', '.join(usable)}{left_out}",
        variants=usable,
        fingerprint=mark,
    )


def find_compiler(environment: Mapping[str, str]) -> list[str] | None:
    """The C++ compiler's command, the first words of every call; None if there is none."""
    candidates = [environment["CXX"]] if environment.get("CXX") else COMPILERS
    for candidate in candidates:
        words = shlex.split(candidate)
        if words and shutil.which(words[0], path=environment.get("PATH", os.defpath)):
            return words
    return None


def _link(compiler: Sequence[str], scratch: Path, usable: Sequence[str], environment: Mapping[str, str]) -> str:
    """Links all objects into one library.

    Templates and inline functions of the standard library are in several objects, and the linker keeps the first one
    for all: with the smallest instruction set first, no variant ever runs another's larger instructions.
    """
    objects = [f"{name}.o" for name in ("dispatch", *usable)]
    command = [*compiler, *LINK_FLAGS, "-o", LIBRARY, *objects]
    if not _run([*command, *SELF_CONTAINED], scratch, environment):
        return ""
    return _run(command, scratch, environment)


def _run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    """Runs a compiler; returns its first error, or an empty string if it succeeded."""
    try:
        finished = subprocess.run(
            command, cwd=folder, env=dict(environment), check=False, capture_output=True, text=True, errors="replace"
        )
    except OSError as error:
        return str(error)
    if finished.returncode == 0:
        return ""
    lines = finished.stderr.strip().splitlines() or [f"exit status {finished.returncode}"]
    return next((line for line in lines if "error" in line), lines[-1]).strip()


def _put(built: Build, library: Path, folder: Path) -> None:
    """Moves the library and its record into place; a process that has the old library loaded keeps it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RECORD).unlink(missing_ok=True)  # until the end a library without a record: not to be trusted
    if built.variants:
        part = folder / f"{LIBRARY}.{os.getpid()}"
        shutil.copy(library, part)
        part.replace(folder / LIBRARY)
    else:
        (folder / LIBRARY).unlink(missing_ok=True)
    part = folder / f"{RECORD}.{os.getpid()}"
    part.write_text(json.dumps(asdict(built), indent=2) + "\n", encoding="utf-8")
    part.replace(folder / RECORD)


def _num_processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def main() -> int:
    """Builds in place; the exit status is 1 if there is no library afterwards."""
    try:
        built = build()
    except (BuildError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(built.message)
    return 0 if built.variants else 1


if __name__ == "__main__":
    sys.exit(main())
