"""Estimates the cost of translating a text before it is tokenized."""

_BYTES_PER_TOKEN = 4
"""Approximate number of UTF-8 bytes per token, in any script."""
_LONGEST_WORD = 64
"""Characters without white space; a longer run counts as single characters, as for base64."""


def estimated_tokens(text: str) -> int:
    """Estimates a text's number of tokens: at most one per character, or one per few bytes if it has words."""
    beyond = sum(len(run) - _LONGEST_WORD for run in text.split() if len(run) > _LONGEST_WORD)
    num_bytes = len(text.encode("utf-8", errors="surrogatepass"))
    tokens = num_bytes // _BYTES_PER_TOKEN + beyond * (_BYTES_PER_TOKEN - 1) // _BYTES_PER_TOKEN
    return 1 + min(tokens, len(text))  # scripts without white space have no long words
