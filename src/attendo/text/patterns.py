"""Regular expressions that are compiled when they are first used."""

import re
from functools import cache


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compiles a regular expression once.

    Large sets of characters take milliseconds each, which together take longer than translating a line.
    """
    return re.compile(pattern)
