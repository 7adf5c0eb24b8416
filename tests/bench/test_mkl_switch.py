import ctypes
import platform
import shutil
from pathlib import Path

import pytest

from attendo.bench.mkl_switch import mkl_environment
from attendo.errors import AttendoError

POSSIBLE = platform.system() == "Linux" and platform.machine() == "x86_64" and shutil.which("cc") is not None


@pytest.mark.skipif(not POSSIBLE, reason="no compiler, or no MKL")
def test_the_library_answers_for_mkl(tmp_path: Path) -> None:
    (path,) = mkl_environment(tmp_path).values()
    assert ctypes.CDLL(path).mkl_serv_intel_cpu_true() == 1


def test_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(AttendoError, match=r"needs Linux on x86-64 and a C compiler \(cc\)"):
        mkl_environment(tmp_path)
