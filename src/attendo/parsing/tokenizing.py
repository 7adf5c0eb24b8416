"""Splitting plain text into words as in the Penn Treebank, so that a parser reads words as in its training."""

from attendo.errors import AttendoError

PLAIN_QUOTES = {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "‹": "'", "›": "'"}
"""Typographic quotation marks, and the plain ones that treebanks have instead."""
PLAIN = PLAIN_QUOTES | {"‐": "-", "‑": "-", "–": "--", "—": "--", "―": "--", "…": "..."}
"""Typographic characters, and the plain ones that treebanks have instead."""

_APOSTROPHE = str.maketrans({"’": "'"})
_CONVERTED = ("``", "''")
"""The tokens that NLTK makes of double quotation marks."""


class TreebankTokenizer:
    """Splits sentences as NLTK's word tokenizer does, and leaves every character as it is in the text.

    "I can't go." becomes `"` `I` `ca` `n't` `go` `.` `"`. NLTK itself would turn the quotation marks into `` and
    '', and would not split a word with a typographic apostrophe. A full stop is a word of its own only at the end, so
    the text should be one sentence.

    Raises:
        AttendoError: NLTK is not installed.
    """

    def __init__(self) -> None:
        try:
            from nltk.tokenize.destructive import NLTKWordTokenizer
        except ImportError as error:
            raise AttendoError(
                "plain text is split into words by the package nltk, which is not installed; pip install "
                '"attendo[parse]", or give the words'
            ) from error
        self._tokenizer = NLTKWordTokenizer()

    def words(self, text: str) -> list[str]:
        """Returns the words of a sentence; joined, they are the text without its white space.

        Args:
            text: any text.
        """
        words: list[str] = []
        position = 0
        for token in self._tokenizer.tokenize(text.translate(_APOSTROPHE)):
            while text[position].isspace():
                position += 1
            length = 1 if token in _CONVERTED and text[position] == '"' else len(token)
            words.append(text[position : position + length])
            position += length
        return words
