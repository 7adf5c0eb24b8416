"""The built wheel, installed outside the clone: what users get, and not what lies about here."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path
from platform import machine

import pytest

import attendo
from attendo.checkpoint.finding import shipped_models
from attendo.native.build import LIBRARY, RECORD, SWITCH, find_compiler
from attendo.recipe import shipped_recipes

SOURCE = Path(attendo.__file__).parent
PROJECT = SOURCE.parent.parent

pytestmark = pytest.mark.skipif(
    not (PROJECT / "pyproject.toml").is_file(), reason="attendo is not imported from a clone, so there is none to build"
)


BUILT = {f"attendo/native/{name}" for name in (LIBRARY, RECORD)}
"""What an install compiles."""


def pip(*arguments: object, python: Path | None = None, environment: dict[str, str] | None = None) -> None:
    other = ["--python", str(python)] if python else []
    command = [sys.executable, "-m", "pip", *other, "--disable-pip-version-check", "-q", *map(str, arguments)]
    finished = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert finished.returncode == 0, finished.stderr


def build_wheel(folder: Path, environment: dict[str, str] | None = None) -> Path:
    pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", folder, PROJECT, environment=environment)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a program of an environment that has the wheel, and of this one only what the wheel depends on."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    python = next(programs.glob("python*"))
    pip("install", "--no-deps", "--no-index", wheel, python=programs / python.name)
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.run([programs / python.name, "-c", ask], check=True, capture_output=True, text=True)
    # Paths of a .pth file come last, and the .pth files within them are not read, so this clone stays unseen.
    here = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (Path(packages.stdout.strip()) / "dependencies.pth").write_text("\n".join(sorted(here)) + "\n")
    empty = tmp_path_factory.mktemp("empty")
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}

    def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(programs / program), *arguments]
        return subprocess.run(command, check=False, capture_output=True, text=True, cwd=empty, env=environment)

    return run


def test_the_wheel_has_every_file_of_the_package(wheel: Path) -> None:
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    expected = {
        path.relative_to(SOURCE.parent).as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert packed - BUILT == expected - BUILT
    assert {"attendo/py.typed", "attendo/recipes/base.toml"} <= packed


@pytest.mark.skipif(find_compiler(os.environ) is None, reason="no C++ compiler")
@pytest.mark.skipif(os.environ.get(SWITCH) == "off", reason="asked not to build")
def test_it_has_kernels_for_any_python_of_this_platform(
    wheel: Path, installed: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    assert set(zipfile.ZipFile(wheel).namelist()) >= BUILT
    python, abi, platform = wheel.stem.split("-")[2:]
    assert (python, abi) == ("py3", "none")
    assert platform.endswith(machine())
    found = installed(
        "python", "-c", "from attendo.native import build, library; print(library.describe(), build.problem())"
    )
    assert found.stdout.startswith("native "), found.stderr
    assert found.stdout.endswith(" \n")


def test_without_a_compiler_it_is_a_pure_wheel_that_says_so(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    wheel = build_wheel(tmp_path / "wheel", os.environ | {"PATH": str(empty), "CXX": "", SWITCH: "auto"})
    assert wheel.stem.endswith("-py3-none-any")
    archive = zipfile.ZipFile(wheel)
    assert BUILT.intersection(archive.namelist()) == {f"attendo/native/{RECORD}"}
    assert "no C++ compiler was found" in json.loads(archive.read(f"attendo/native/{RECORD}"))["message"]
    archive.extractall(tmp_path / "pure")
    environment = {key: value for key, value in os.environ.items() if key != "ATTENDO_KERNELS"}
    said = subprocess.run(
        [sys.executable, "-m", "attendo", "info"],
        check=True, capture_output=True, text=True, cwd=empty, env=environment | {"PYTHONPATH": str(tmp_path / "pure")},
    )  # fmt: skip
    rows = dict(line.split(maxsplit=1) for line in said.stdout.splitlines())
    assert rows["decoding"].startswith("plain torch (the native kernels are not built, as no C++ compiler was found")
    assert rows["decoding"].endswith("install one, such as g++; to build them: python -m attendo.native.build)")
    assert rows["lost"].startswith("decoding takes 2 to 5 times as long as with the native kernels")


@pytest.mark.skipif(sys.platform != "linux", reason="what manylinux allows is Linux's")
@pytest.mark.skipif(shutil.which("readelf") is None, reason="no readelf, of binutils")
def test_its_library_needs_nothing_but_the_systems_own(wheel: Path, tmp_path: Path) -> None:
    """The libraries that auditwheel's policy lets every manylinux wheel expect; the C++ library is within."""
    path = zipfile.ZipFile(wheel).extract(f"attendo/native/{LIBRARY}", tmp_path)
    said = subprocess.run(["readelf", "--dynamic", path], check=True, capture_output=True, text=True).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(.+?)\]", said))
    assert {name.split(".so")[0] for name in needed} <= {
        "libc",
        "libm",
        "libpthread",
        "ld-linux-x86-64",
        "ld-linux-aarch64",
    }


def test_it_is_the_wheel_that_runs(installed: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    where = installed("python", "-c", "import attendo; print(attendo.__file__)")
    assert where.returncode == 0, where.stderr
    assert SOURCE not in Path(where.stdout.strip()).parents


def test_the_command_runs_outside_the_clone(installed: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    assert installed("attendo", "--version").stdout == f"attendo {attendo.__version__}\n"
    assert "translate" in installed("attendo", "--help").stdout
    listed = installed("attendo", "recipe", "--all").stdout.splitlines()
    assert [line.split()[0] for line in listed] == shipped_recipes()


def test_a_dry_run_needs_no_corpus(installed: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    finished = installed("attendo", "train", "tiny", "--dry-run", "--json")
    assert finished.returncode == 0, finished.stderr
    # By hand, for the recipe's 3 + 3 layers of d_model 128, d_ff 512 and 4,000 pieces (Section 3): an attention has
    # 4 d^2; a feed-forward network 2 d d_ff + d_ff + d; a layer norm 2 d; all embeddings are one matrix.
    d, ff, layers, vocabulary = 128, 512, 3, 4000
    attention, feed_forward, norm = 4 * d * d, 2 * d * ff + ff + d, 2 * d
    encoder, decoder = attention + feed_forward + 2 * norm, 2 * attention + feed_forward + 3 * norm
    assert json.loads(finished.stdout)["parameters"] == layers * (encoder + decoder) + vocabulary * d


def test_data_files_of_the_package_are_found(installed: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    code = """
import numpy
from attendo.attention_maps.page import to_html
from attendo.attention_maps.weights import AttentionMap
one = numpy.ones((1, 1, 1, 1), dtype=numpy.float32)
print(to_html(AttentionMap(source=("a",), target=("b",), encoder=one, decoder=one, cross=one))[:15])
"""
    finished = installed("python", "-c", code)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.lower().startswith("<!doctype html")


def test_shipped_models_work_outside_the_clone(installed: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    listed = json.loads(installed("attendo", "info", "--json").stdout)["models"]
    assert listed == list(shipped_models())
    for name in listed:
        verified = installed("attendo", "info", name, "--verify")
        assert verified.returncode == 0, verified.stderr
        use = "parse([['A', 'B', '.']])[0]" if name == "craft" else "translate(['A B.'])[0].text"
        code = f"import attendo; print(attendo.load('{name}').{use})"
        translated = installed("python", "-c", code)
        assert translated.returncode == 0, translated.stderr
        assert translated.stdout.strip()
