"""Finds the value of `encoding` that would read the lines of a corpus."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from attendo.settings.toml import toml_value
from attendo.text.corpora import CorpusConfig
from attendo.text.files.encodings import UTF8, LikelyEncodings, is_utf8, likely_encodings
from attendo.text.pair_reading import ReadCorpus, read_corpus

_SAMPLE_LINES = 5000
_SAMPLE_BYTES = 1 << 20
# If more than this share of the non-ASCII lines are UTF-8, relative to the others, a file has both encodings.
_MIXED_SHARE = 0.05


@dataclass(frozen=True, kw_only=True)
class EncodingAdvice:
    """Advice on lines that are not in their corpus's encoding."""

    values: tuple[str, ...]
    """Possible values of `encoding` as in TOML, the most probable first; empty if no single value reads the lines."""
    text: str
    """The advice in words, for messages."""


@dataclass(kw_only=True)
class _Side:
    """Lines of one side of a corpus that give evidence of its encoding."""

    is_utf8: bool
    bad: list[bytes] = field(default_factory=list)
    """The first lines that are not UTF-8."""
    num_bad: int = 0
    num_utf8: int = 0
    """Lines beyond ASCII that are UTF-8."""
    size: int = 0

    def add(self, line: bytes) -> None:
        """Records a line."""
        if line.isascii():
            return
        try:
            line.decode(UTF8)
        except UnicodeDecodeError:
            self.num_bad += 1
            if len(self.bad) < _SAMPLE_LINES and self.size < _SAMPLE_BYTES:
                self.bad.append(line)
                self.size += len(line)
        else:
            self.num_utf8 += 1

    @property
    def is_mixed(self) -> bool:
        """Whether there are lines of both kinds."""
        return self.num_bad > 0 and self.num_utf8 > _MIXED_SHARE * self.num_bad


def encoding_advice(
    corpus: CorpusConfig, folder: Path, *, languages: tuple[str, str] = ("", ""), read: ReadCorpus = read_corpus
) -> EncodingAdvice | None:
    """Determines the encoding of a corpus's lines; None if all are in the declared one.

    Args:
        corpus: the corpus, from which lines were dropped.
        folder: the folder to which its paths are relative.
        languages: the codes of source and target, if known.
        read: yields the pairs of the corpus.

    Raises:
        DataError: a file cannot be read.
    """
    if corpus.has_units and not all(map(is_utf8, corpus.encodings)):
        return None  # its units are read as UTF-8, whatever the file's encoding
    sides = tuple(_Side(is_utf8=is_utf8(encoding)) for encoding in corpus.encodings)
    for raw in read(corpus, folder):
        sides[0].add(raw.source)
        sides[1].add(raw.target or b"")
    if corpus.tsv or corpus.file:  # one file, so a single encoding
        sides = (_together(sides),) * 2
        languages = (languages[1] or languages[0],) * 2
    if not any(side.num_bad for side in sides):
        wrong = [side for side in sides if side.num_utf8 and not side.is_utf8]
        return EncodingAdvice(values=(toml_value(UTF8),), text='encoding = "utf-8" reads them all') if wrong else None
    guesses = [
        likely_encodings(side.bad, language=language) if side.num_bad else None
        for side, language in zip(sides, languages, strict=True)
    ]
    if any(side.is_mixed for side in sides):
        return EncodingAdvice(values=(), text=_mixed(sides, guesses))
    if any(guess is not None and not guess.likely for guess in guesses):
        text = "no encoding is known that reads them all as text, so the file is damaged or mixes several"
        return EncodingAdvice(values=(), text=text)
    return _advice(sides, guesses)


def _together(sides: Iterable[_Side]) -> _Side:
    """Combines the evidence of two columns of a file."""
    first, second = sides
    return _Side(
        is_utf8=first.is_utf8,
        bad=[*first.bad, *second.bad],
        num_bad=first.num_bad + second.num_bad,
        num_utf8=first.num_utf8 + second.num_utf8,
    )


def _mixed(sides: Iterable[_Side], guesses: Iterable[LikelyEncodings | None]) -> str:
    """Describes the contents of a file with two encodings."""
    side, guess = next((side, guess) for side, guess in zip(sides, guesses, strict=True) if side.is_mixed)
    looks = f", and look like {guess.likely[0]}" if guess and guess.likely else ""
    return (
        f"no one encoding reads the file: of its lines beyond ASCII {side.num_utf8:,} are UTF-8 and {side.num_bad:,} "
        f"are not{looks}; convert those alone"
    )


def _advice(sides: Sequence[_Side], guesses: Sequence[LikelyEncodings | None]) -> EncodingAdvice:
    """Combines the guesses of both sides into values of one key."""
    choices = []
    for side, guess in zip(sides, guesses, strict=True):
        if guess is not None:
            choices.append(guess.likely)
        else:  # of ASCII alone, which goes with anything
            choices.append((UTF8,) if side.num_utf8 else ())
    source, target = choices
    if not source or not target or source[0] == target[0]:
        values = [toml_value(one) for one in source or target]
    else:
        values = [toml_value([source[0], target[0]])]
    same = list(dict.fromkeys(chain.from_iterable(guess.same for guess in guesses if guess)))
    whole = all(len(side.bad) == side.num_bad for side in sides)
    number = max(len(side.bad) for side in sides)
    text = f"encoding = {values[0]} reads {'them all' if whole else f'all of the first {number:,}'}"
    if same:
        text += f" ({' and '.join(same)} to the same text)"
    if len(values) > 1:
        text += f"; {' and '.join(values[1:])} too, to other letters: look at some lines before you choose"
    return EncodingAdvice(values=tuple(values), text=text)
