"""BLEU on tokens of other tokenisers than sacreBLEU's, as in the paper's Table 2 and in papers on Multi30k.

Such figures may only be compared with figures of the same convention, which their name and signature state.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import cast

from sacrebleu.metrics.bleu import BLEU
from sacremoses import MosesPunctNormalizer, MosesTokenizer

_QUOTATION_MARKS = str.maketrans({"„": '"', "“": '"', "”": '"'})
_COMPOUND = re.compile(r"(\S)-(\S)")


@dataclass(frozen=True, kw_only=True)
class Convention:
    """A way to make tokens out of text before BLEU counts them."""

    name: str
    """Name of the figure in reports."""
    recipe: str
    """Description of the computation, in one line for reports."""
    tokens: Callable[[Sequence[str], str], list[str]]
    """Takes detokenised lines and the two-letter code of their language, and returns their tokens joined by spaces."""
    steps: Callable[[str], str]
    """Returns the part of the signature that states what `tokens` does for a language."""
    metric: Callable[[], BLEU]
    """Returns a new metric that does not change the tokens."""

    def signature(self, counted: str, language: str) -> str:
        """Returns the signature of a figure: sacreBLEU's own, the steps before it, and the version of sacremoses."""
        return f"{counted}|{self.steps(language)}|sacremoses:{version('sacremoses')}"


def paper_tokens(lines: Sequence[str], language: str) -> list[str]:
    """Tokenises lines as the paper's figures are computed: Moses tokens, German compounds split at hyphens.

    These are the steps of the authors' own script `get_ende_bleu.sh`, applied to the reference too: the quotation marks
    of theirs, `„` included, had been replaced by hand, as the thread tensor2tensor#317 found.

    Args:
        lines: detokenised text.
        language: two-letter code of the language the lines are in.
    """
    tokenized = moses_tokens(plain_punctuation(lines, language), language)
    return split_compounds(tokenized) if language == "de" else tokenized


def plain_punctuation(lines: Sequence[str], language: str) -> list[str]:
    """The first step of `paper_tokens`: replaces quotation marks by `"`, and other Unicode punctuation by ASCII's."""
    normalizer = MosesPunctNormalizer(lang=language)
    return [cast(str, normalizer.replace_unicode_punct(line.translate(_QUOTATION_MARKS))) for line in lines]


def moses_tokens(lines: Sequence[str], language: str) -> list[str]:
    """The second step of `paper_tokens`: returns Moses' tokens joined by spaces."""
    tokenizer = MosesTokenizer(lang=language)
    return [cast(str, tokenizer.tokenize(line, return_str=True, escape=False)) for line in lines]


def split_compounds(lines: Sequence[str]) -> list[str]:
    """The last step of `paper_tokens`, for German: makes separate tokens of the parts and the hyphen of `E-Bikes`."""
    return [_COMPOUND.sub(r"\1 ##AT##-##AT## \2", line) for line in lines]


def multi30k_tokens(lines: Sequence[str], language: str) -> list[str]:
    """Tokenises lines as the Multi30k literature does: punctuation normalised, Moses-tokenised, lower-cased.

    Args:
        lines: detokenised text.
        language: two-letter code of the language the lines are in.
    """
    normalizer = MosesPunctNormalizer(lang=language)
    tokenizer = MosesTokenizer(lang=language)
    # Lower-casing comes last: `Dr.` keeps its dot as an abbreviation, which `dr.` would lose.
    return [
        cast(str, tokenizer.tokenize(normalizer.normalize(line), return_str=True, escape=False)).lower()
        for line in lines
    ]


PAPER = Convention(
    name="BLEU-tok (as in the paper)",
    recipe=(
        'output and reference: quotation marks as ", replace-unicode-punctuation, MosesTokenizer (both sacremoses, '
        "target language's rules), for German a-b as a ##AT##-##AT## b; sacreBLEU with tokenize=none and no smoothing, "
        "which is multi-bleu.perl"
    ),
    tokens=paper_tokens,
    steps=lambda language: f"norm:unicode|pretok:moses.{language}" + ("|split:atat" if language == "de" else ""),
    metric=lambda: BLEU(tokenize="none", smooth_method="none", force=True),
)
"""The convention of the paper's time: cased, with Moses' tokens and German compounds split; sacreBLEU's is lower."""

MULTI30K = Convention(
    name="BLEU-tok-lc (Multi30k literature)",
    recipe=(
        "output and reference: MosesPunctNormalizer, then MosesTokenizer with escape=False (both sacremoses, "
        "target language's rules), then lower-cased; sacreBLEU with tokenize=none"
    ),
    tokens=multi30k_tokens,
    steps=lambda language: f"norm:moses.{language}|pretok:moses.{language}",
    # `lowercase` changes nothing here, but makes the signature say `case:lc`.
    metric=lambda: BLEU(tokenize="none", lowercase=True, force=True),
)
"""The convention of BLEU in papers on Multi30k: lower-cased, with Moses' tokens."""
