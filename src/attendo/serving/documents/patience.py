"""Lines of a document translated whenever there is room: a busy server makes it wait, not fail."""

import asyncio
from collections.abc import Sequence

from attendo.decoding.constraints.line_constraints import Constraints
from attendo.markup.text_types import TranslatedLine, TranslateLines
from attendo.serving.errors import ServingError
from attendo.serving.translating import Caller, Options, Pair, Translating
from attendo.workflow.documents.translation import NUM_CANDIDATES

_LONGEST_WAIT_S = 30.0
_GIVE_UP_S = 1800.0
_PLAIN = Options()


CANDIDATES = Options(n_best=NUM_CANDIDATES, beam_size=NUM_CANDIDATES, length_penalty=0.0)
"""Several candidates per line, as in the command: for texts with a maximum length."""


def patient(translating: Translating, pair: Pair, caller: Caller, options: Options = _PLAIN) -> TranslateLines:
    """Translates lines whenever there is room; a document waits, and its caller's requests are not delayed.

    Args:
        translating: the models.
        pair: the languages and the model.
        caller: the sender of the document.
        options: search settings of the lines.
    """
    background = Caller(name=f"{caller.name} documents", key=caller.key, background=True)

    async def translate(
        lines: Sequence[str], constraints: Sequence[Constraints] | None = None, *, alignment: bool = False
    ) -> list[TranslatedLine]:
        waited, pause = 0.0, 0.5
        while True:
            try:
                return await translating.translate(
                    pair,
                    lines,
                    options,
                    background,
                    constraints=constraints,
                    alignment=alignment,
                )
            except ServingError as error:
                if error.status not in (429, 503) or waited > _GIVE_UP_S:
                    raise
                pause = min(_LONGEST_WAIT_S, max(pause * 1.6, error.retry_after_s or 0.0))
                await asyncio.sleep(pause)
                waited += pause

    return translate
