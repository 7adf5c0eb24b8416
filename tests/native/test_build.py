"""The build of the native kernels: what it leaves behind with a compiler, without one, and with one that fails."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from attendo.native.build import (
    HERE,
    LIBRARY,
    RECORD,
    SWITCH,
    Build,
    BuildError,
    build,
    ensure,
    find_compiler,
    problem,
    read_build,
    variants,
)

NAMES = tuple(variant.name for variant in variants())
COMPILER = find_compiler(os.environ)

with_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")

# Gives the length of its variant's name, and so does a template which the variants share, as they do the standard's.
ENGINE = """
#define JOINED_(a, b) attendo_##a##_##b
#define JOINED(a, b) JOINED_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)
template <class T> __attribute__((noinline)) T shared(T zero) {
  volatile T length = sizeof(TEXT(ATTENDO_VARIANT)) - 1;
  return length + zero;
}
#define API(name) extern "C" __attribute__((visibility("default"))) int JOINED(ATTENDO_VARIANT, name)
API(own)() { return sizeof(TEXT(ATTENDO_VARIANT)) - 1; }
API(shared)() { return shared(0); }
"""


def environment(**changed: str) -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key != SWITCH} | changed


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "engine.cpp").write_text(ENGINE)
    (folder / "dispatch.cpp").write_text('extern "C" int attendo_answer() { return 42; }\n')
    return folder


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def load(folder: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(folder / LIBRARY))


@pytest.mark.slow  # the installation of the package, and the wheel of tests/end_to_end, build them too
@with_compiler
def test_the_real_sources_become_a_library_with_every_variant(tmp_path: Path) -> None:
    built = build(tmp_path, environment=environment())
    assert built.variants == NAMES, built.message
    assert built == read_build(tmp_path)
    assert problem(tmp_path) == ""
    library = load(tmp_path)
    for name in NAMES:
        assert hasattr(library, f"attendo_{name}_session_start")
    assert {path.name for path in tmp_path.iterdir()} == {LIBRARY, RECORD}


@with_compiler
def test_what_variants_share_is_of_the_smallest_instruction_set(sources: Path, tmp_path: Path) -> None:
    build(tmp_path, sources=sources, environment=environment())
    library = load(tmp_path)
    assert [getattr(library, f"attendo_{name}_own")() for name in NAMES] == [len(name) for name in NAMES]
    assert {getattr(library, f"attendo_{name}_shared")() for name in NAMES} == {len("portable")}


@with_compiler
def test_an_edit_makes_it_stale_and_ensure_builds_again(sources: Path, tmp_path: Path) -> None:
    assert "not built" in problem(tmp_path, sources=sources)
    first = ensure(tmp_path, sources=sources, environment=environment())
    written = (tmp_path / LIBRARY).stat().st_mtime_ns
    assert ensure(tmp_path, sources=sources, environment=environment(PATH="")) == first
    assert (tmp_path / LIBRARY).stat().st_mtime_ns == written
    (sources / "new.h").write_text("// an edit\n")
    assert "older than their sources" in problem(tmp_path, sources=sources)
    assert "python -m attendo.native.build" in problem(tmp_path, sources=sources)
    second = ensure(tmp_path, sources=sources, environment=environment())
    assert second.fingerprint != first.fingerprint
    assert (tmp_path / LIBRARY).stat().st_mtime_ns != written
    assert problem(tmp_path, sources=sources) == ""


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"CXX": ""}, "no C++ compiler was found (looked for c++, g++, clang++); install one, such as g++"),
        ({"CXX": "no-such-compiler -q"}, "CXX=no-such-compiler -q is none"),
        ({SWITCH: "off"}, f"the native kernels are not built, as {SWITCH}=off asks"),
    ],
)
def test_without_a_compiler_it_goes_on(sources: Path, tmp_path: Path, changed: dict[str, str], expected: str) -> None:
    (tmp_path / LIBRARY).write_bytes(b"an older one")
    built = build(tmp_path, sources=sources, environment=environment(PATH=str(tmp_path), **changed))
    assert built.variants == ()
    assert expected in built.message
    assert not (tmp_path / LIBRARY).exists()
    assert problem(tmp_path, sources=sources) == f"{built.message}; to build them: python -m attendo.native.build"


def test_require_makes_it_an_error(sources: Path, tmp_path: Path) -> None:
    nothing = environment(PATH=str(tmp_path), CXX="", **{SWITCH: "require"})
    with pytest.raises(BuildError, match=f"{SWITCH}=require, but .*no C\\+\\+ compiler was found"):
        build(tmp_path, sources=sources, environment=nothing)


def test_an_unknown_word_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=f"{SWITCH}=maybe: take auto, off or require"):
        build(tmp_path, environment=environment(**{SWITCH: "maybe"}))


@with_compiler
@pytest.mark.parametrize("broken", ["engine.cpp", "dispatch.cpp"])
def test_a_compiler_that_fails_is_quoted(sources: Path, tmp_path: Path, broken: str) -> None:
    (sources / broken).write_text("#error these are no kernels\n")
    built = build(tmp_path, sources=sources, environment=environment())
    assert built.variants == ()
    assert "could not build the native kernels" in built.message
    assert "these are no kernels" in built.message
    assert "\n" not in built.message


@with_compiler
def test_a_compiler_that_cannot_link_is_quoted(sources: Path, tmp_path: Path) -> None:
    assert COMPILER is not None
    failing = f'case "$*" in *-shared*) echo "ld: error: no library today" >&2; exit 1;; esac; exec {COMPILER[0]} "$@"'
    compiler = script(tmp_path / "compiler", failing)
    built = build(tmp_path / "out", sources=sources, environment=environment(CXX=compiler))
    assert built.variants == ()
    assert built.message.endswith("ld: error: no library today")


@with_compiler
@pytest.mark.skipif(len(NAMES) == 1, reason="only one variant for this processor family")
def test_a_variant_whose_flags_are_refused_is_left_out(sources: Path, tmp_path: Path) -> None:
    assert COMPILER is not None
    refusing = f'case "$*" in *avx512*) echo "error: what is v4?" >&2; exit 1;; esac; exec {COMPILER[0]} "$@"'
    chosen = environment(CXX=script(tmp_path / "old", refusing))
    built = build(tmp_path / "out", sources=sources, environment=chosen)
    assert built.variants == ("portable", "avx2")
    assert "avx512vnni left out: error: what is v4?" in built.message
    assert not hasattr(load(tmp_path / "out"), "attendo_avx512vnni_own")
    assert problem(tmp_path / "out", sources=sources) == ""
    with pytest.raises(BuildError, match="avx512vnni left out"):
        build(tmp_path / "out", sources=sources, environment=chosen | {SWITCH: "require"})


@with_compiler
def test_a_linker_without_the_static_library_will_do(sources: Path, tmp_path: Path) -> None:
    assert COMPILER is not None
    dynamic = f'case "$*" in *-static*) echo "cannot find -lstdc++" >&2; exit 1;; esac; exec {COMPILER[0]} "$@"'
    compiler = script(tmp_path / "compiler", dynamic)
    built = build(tmp_path / "out", sources=sources, environment=environment(CXX=compiler))
    assert built.variants == NAMES


def test_the_command_needs_nothing_of_attendo(sources: Path, tmp_path: Path) -> None:
    shutil.copy(HERE / "build.py", sources)

    def run(**changed: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", str(sources / "build.py")]
        return subprocess.run(command, check=False, capture_output=True, text=True, env=environment(**changed))

    alone = run(PATH=str(tmp_path), CXX="")
    assert (alone.returncode, alone.stdout.count("\n")) == (1, 1)
    assert "no C++ compiler was found" in alone.stdout
    required = run(PATH=str(tmp_path), CXX="", **{SWITCH: "require"})
    assert (required.returncode, required.stdout) == (1, "")
    assert required.stderr.startswith(f"{SWITCH}=require, but the native kernels are not built")
    if COMPILER:
        assert run().returncode == 0
        assert (sources / LIBRARY).is_file()


def test_a_torn_record_counts_for_nothing(tmp_path: Path) -> None:
    for text in ("{", "[]", '{"message": "", "variants": 1}', '{"variants": []}'):
        (tmp_path / RECORD).write_text(text)
        assert read_build(tmp_path) is None
    (tmp_path / RECORD).write_text('{"message": "m", "variants": ["portable"], "fingerprint": "f"}')
    assert read_build(tmp_path) == Build(message="m", variants=("portable",), fingerprint="f")
    assert "not built" in problem(tmp_path)
