"""Plain text to words in the manner of the Penn Treebank, so that a parser reads what it was trained on."""

from attendo.errors import AttendoError

PLAIN_QUOTES = {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "‹": "'", "›": "'"}
"""Typographic quotation marks, and those of which treebanks write them."""
PLAIN = PLAIN_QUOTES | {"‐": "-", "‑": "-", "–": "--", "—": "--", "―": "--", "…": "..."}
"""Typographic characters, and how treebanks write them."""

_APOSTROPHE = str.maketrans({"’": "'"})
_CONVERTED = ("``", "''")
"""What NLTK makes of double quotation marks."""


class TreebankTokenizer:
    """Splits sentences as NLTK's word tokenizer does, and leaves every character as the text has it.

    "I can't go." is `"` `I` `ca` `n't` `go` `.` `"`. NLTK would make `` and '' of the quotation marks, and not split a
    word with a typographic apostrophe. A full stop is a word of its own only at the end, so the text should be one
    sentence.

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
        """Returns the words of a sentence; put together they are the text without its white space.

        Args:
            text: any.
        """
        words: list[str] = []
        place = 0
        for token in self._tokenizer.tokenize(text.translate(_APOSTROPHE)):
            while text[place].isspace():
                place += 1
            length = 1 if token in _CONVERTED and text[place] == '"' else len(token)
            words.append(text[place : place + length])
            place += length
        return words
