import subprocess
import sys
from importlib import import_module
from importlib.metadata import version

import attendo


def test_public_names_are_sorted_and_there() -> None:
    assert list(attendo.__all__) == sorted(attendo.__all__)
    assert dir(attendo) == attendo.__all__
    for name in attendo.__all__:
        assert getattr(attendo, name) is not None


def test_public_names_are_the_very_ones_of_their_modules() -> None:
    assert attendo.AttendoError is import_module("attendo.errors").AttendoError
    assert attendo.load is import_module("attendo.workflow.engines.translate").load


def test_other_names_are_refused() -> None:
    assert not hasattr(attendo, "Transformer")


def test_the_version_is_the_packages() -> None:
    assert attendo.__version__ == version("attendo")


def test_importing_the_package_and_its_errors_needs_no_torch() -> None:
    code = "import attendo, sys; attendo.AttendoError, attendo.load_recipe; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
