from pathlib import Path

import attendo
from attendo.cluster.nodes import SharedFile, problems_here


def test_a_machine_with_all_has_no_problem(tmp_path: Path) -> None:
    (tmp_path / "small").write_bytes(b"x")
    assert problems_here(attendo.__version__, [SharedFile.of(tmp_path / "small")]) == []


def test_another_version_is_told() -> None:
    [problem] = problems_here("999.0", [])
    assert problem == f"has attendo {attendo.__version__}, but here it is 999.0; install the same one"


def test_files_that_are_missing_or_others_are_told(tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(b"x")
    large.write_bytes(b"x" * ((1 << 20) + 1))
    files = [SharedFile.of(small), SharedFile.of(large)]
    small.write_bytes(b"y")  # of the same size
    large.unlink()
    another, missing = problems_here(attendo.__version__, files)
    assert another == f"sees another {small} than the one here; mount the same storage under this path"
    assert missing.startswith(f"does not see {large} (No such file or directory); input, model and output have to lie ")
