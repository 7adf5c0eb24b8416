"""Text formats and sentence splitting: the options that requests and documents share.

Nothing is imported here, so that a process that only reads documents starts quickly.
"""

from typing import Literal

Format = Literal["text", "html", "xml"]
"""The format of a text. Text may have tags in it too, as OmegaT's `<b0>`; but `&` and a lone `<` are themselves."""
Split = Literal["sentences", "lines", "off"]
"""The unit that the model reads at a time: a sentence, a line (of markup: a block), or the whole text."""
LineEnds = Literal["auto", "sentences", "spaces"]
"""The meaning of a line end: the end of a sentence; a space; or automatic: the end of a sentence unless the next line
clearly continues it. In HTML and XML it is a space, unless `sentences` is requested."""
