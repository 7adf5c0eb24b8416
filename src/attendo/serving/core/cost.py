"""What a text costs to translate, estimated before anything is tokenized."""

_BYTES_PER_TOKEN = 4
"""Of text in UTF-8, about, in any script."""
_LONGEST_WORD = 64
"""Characters without white space; text beyond is taken for what falls to single characters, such as base64."""


def estimated_tokens(text: str) -> int:
    """About how many tokens a text is: at most one a character, and one a few bytes where it has words."""
    beyond = sum(len(run) - _LONGEST_WORD for run in text.split() if len(run) > _LONGEST_WORD)
    num_bytes = len(text.encode("utf-8", errors="surrogatepass"))
    tokens = num_bytes // _BYTES_PER_TOKEN + beyond * (_BYTES_PER_TOKEN - 1) // _BYTES_PER_TOKEN
    return 1 + min(tokens, len(text))  # scripts without white space have no long words
