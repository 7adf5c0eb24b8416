"""Quality of word alignments: precision, recall and alignment error rate (Och and Ney, 2003, Section 6.1)."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from attendo.errors import DataError

Links = Set[tuple[int, int]]
"""The links of one sentence, `(source word, target word)`, both counted from 0."""


@dataclass(frozen=True, kw_only=True)
class AlignmentScore:
    """Agreement of found links with reference links, over all sentences."""

    precision: float
    """Share of the found links that are possible; 1 if none is found."""
    recall: float
    """Share of the sure links that are found; 1 if none is sure."""
    aer: float
    """1 - (found and sure + found and possible) / (found + sure): 0 is best."""


def alignment_score(
    found: Sequence[Links], sure: Sequence[Links], possible: Sequence[Links] | None = None
) -> AlignmentScore:
    """Scores alignments; links are counted over all sentences together.

    Args:
        found: the links of an aligner for each sentence.
        sure: the links that must be found, for each sentence.
        possible: the links that may be found, for each sentence; sure links are possible too. None for sure links only.

    Raises:
        DataError: the numbers of sentences differ, or there is no link at all.
    """
    allowed = sure if possible is None else possible
    if not len(found) == len(sure) == len(allowed):
        raise DataError(
            f"alignments of {len(found)} sentences, sure links of {len(sure)} and possible ones of {len(allowed)}; "
            "give as many of each"
        )
    num_found, num_sure = sum(map(len, found)), sum(map(len, sure))
    if num_found + num_sure == 0:
        raise DataError("no sentence has a link, neither found nor known")
    right_sure = sum(len(links & known) for links, known in zip(found, sure, strict=True))
    right = sum(len(links & (known | others)) for links, known, others in zip(found, sure, allowed, strict=True))
    return AlignmentScore(
        precision=right / num_found if num_found else 1.0,
        recall=right_sure / num_sure if num_sure else 1.0,
        aer=1 - (right_sure + right) / (num_found + num_sure),
    )
