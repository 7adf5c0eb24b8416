"""Builds the native kernels while attendo is installed or its wheel is built; without a C++ compiler it goes on.

The work is done by `attendo.native.build`, which is also a command of its own.
"""

import sys
import tempfile
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "attendo/native"


class NativeKernels(BuildHookInterface[BuilderConfig]):
    """Compiles the kernels, into the source tree for an editable install and into the wheel otherwise."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds them, and gives a wheel that has them the tag of this platform.

        Args:
            version: `editable` or `standard`.
            build_data: what the wheel is to hold and be called; changed in place.

        Raises:
            BuildError: `ATTENDO_NATIVE=require` and it failed.
        """
        source = Path(self.root, "src")
        sys.path.insert(0, str(source))
        native = import_module("attendo.native.build")
        sources = source / FOLDER
        try:
            if version == "editable":
                built = native.ensure(sources, sources=sources)
            else:
                folder = Path(self._scratch.name)
                built = native.build(folder, sources=sources)
                names = (native.RECORD, native.LIBRARY) if built.variants else (native.RECORD,)
                build_data["force_include"].update({str(folder / name): f"{FOLDER}/{name}" for name in names})
        except OSError as error:
            self.app.display_warning(f"the native kernels are not built: {error}")
            return
        (self.app.display_info if built.variants else self.app.display_warning)(built.message)
        if built.variants and version != "editable":
            # ctypes loads it into any Python of this platform.
            builder: Any = self.build_config.builder  # of wheels, which know the tag
            platform = builder.get_best_matching_tag().rpartition("-")[2]
            build_data.update({"pure_python": False, "tag": f"py3-none-{platform}"})

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Clears away what is in the wheel by now."""
        self._scratch.cleanup()

    @cached_property
    def _scratch(self) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory(prefix="attendo-native-")
