"""The sentences that heads are looked at with: drawn by templates, no two alike, in two halves without common nouns."""

import random
from collections.abc import Mapping
from itertools import count

from attendo.errors import DataError
from attendo.paper.heads.lexicon import lexicon
from attendo.paper.heads.markup import Pair, parse, written_links
from attendo.paper.heads.templates import ANAPHORS, DEPENDENCIES, Draw, Writer
from attendo.workflow.evaluation.aligners import AlignedTexts

_PATIENCE = 1000
"""Draws in a row without a new sentence after which the templates count as used up."""


def dependency_pairs(num: int, seed: int) -> tuple[Pair, ...]:
    """Sentences with a long-distance dependency, as many of each half and about as many of each template.

    Args:
        num: of both halves together.
        seed: same seed, same sentences, on every platform.

    Raises:
        DataError: the templates have not so many.
    """
    return _pairs(DEPENDENCIES, num, seed)


def anaphor_pairs(num: int, seed: int) -> tuple[Pair, ...]:
    """Sentences with an anaphor, twins one behind the other, as many of each half and about as many of each template.

    Args:
        num: of both halves together, a multiple of 4.
        seed: same seed, same sentences, on every platform.

    Raises:
        DataError: the templates have not so many.
    """
    return _pairs(ANAPHORS, num, seed)


def aligned_texts(pair: Pair, source_language: str) -> AlignedTexts:
    """A sentence whose structure is known, with all its links.

    Args:
        pair: in English and German.
        source_language: the code of the side to read.
    """
    source, target = pair.sides(source_language)
    return AlignedTexts(source=source.text, target=target.text, known=written_links(source, target), are_all=True)


def _pairs(templates: Mapping[str, Draw], num: int, seed: int) -> tuple[Pair, ...]:
    pairs: list[Pair] = []
    for held_out in (False, True):
        write = Writer(lexicon(held_out=held_out), random.Random(2 * seed + held_out))
        texts: set[str] = set()
        wanted = len(pairs) + num // 2
        fruitless = 0
        for turn in count():
            if len(pairs) >= wanted:
                break
            if fruitless == _PATIENCE:
                raise DataError(f"{num:,} different sentences are more than the templates have; ask for fewer --seeds")
            name = list(templates)[turn % len(templates)]
            drawn = templates[name](write)
            twin = len(pairs) if len(drawn) > 1 else None
            found = [
                Pair(english=parse(each.en), german=parse(each.de), template=name, held_out=held_out, twin=twin)
                for each in drawn
            ]
            fruitless += 1
            if not texts & {each.english.text for each in found}:
                fruitless = 0
                texts |= {each.english.text for each in found}
                pairs += found
    return tuple(pairs)
