"""The work of one worker of a cluster: loading an engine and translating parts of a text into files."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from attendo.errors import ModelError
from attendo.workflow.engines.translate import Decoding
from attendo.workflow.translation.part_files import PartRecord, PartsFolder
from attendo.workflow.translation.part_translation import Output, translate_part
from attendo.workflow.translation.text_parts import TextPart

Device = Literal["cpu", "cuda"]


@dataclass(frozen=True, kw_only=True)
class OpenTranslation:
    """Prepares a worker for translating; picklable."""

    decoding: Decoding
    device: Device
    threads: int
    output: Output
    folder: PartsFolder

    def __call__(self) -> Callable[[TextPart], tuple[int, PartRecord]]:
        """Loads the engine and returns the function that translates a part with it.

        Raises:
            ModelError: a model is missing or torn on this machine.
        """
        try:
            engine = self.decoding.load(self.device, threads=self.threads)
        except ModelError as error:
            raise ModelError(f"{error} (on {socket.gethostname()})") from error
        return partial(translate_part, engine, output=self.output, folder=self.folder)
