"""The sentences on which heads are measured: drawn from templates, all different, in two halves that share no nouns."""

import random
from collections.abc import Mapping
from itertools import count

from attendo.errors import DataError
from attendo.synthetic.annotated.lexicon import lexicon
from attendo.synthetic.annotated.markup import Pair, parse, written_links
from attendo.synthetic.annotated.templates import ANAPHORS, DEPENDENCIES, Draw, Writer
from attendo.workflow.evaluation.aligners import AlignedTexts

_PATIENCE = 1000
"""Number of successive draws without a new sentence after which the templates count as exhausted."""


def dependency_pairs(num: int, seed: int) -> tuple[Pair, ...]:
    """Draws sentences with a long-distance dependency, equally many of each half and about as many of each template.

    Args:
        num: number of sentences in both halves together.
        seed: equal seeds give equal sentences, on every platform.

    Raises:
        DataError: the templates yield fewer different sentences.
    """
    return _pairs(DEPENDENCIES, num, seed)


def anaphor_pairs(num: int, seed: int) -> tuple[Pair, ...]:
    """Draws sentences with an anaphor, twins in a row, equally many of each half and about as many of each template.

    Args:
        num: number of sentences in both halves together, a multiple of 4.
        seed: equal seeds give equal sentences, on every platform.

    Raises:
        DataError: the templates yield fewer different sentences.
    """
    return _pairs(ANAPHORS, num, seed)


def aligned_texts(pair: Pair, source_language: str) -> AlignedTexts:
    """Returns a sentence whose structure is known, with all its word links.

    Args:
        pair: the sentence in English and German.
        source_language: the language code of the source side.
    """
    source, target = pair.sides(source_language)
    return AlignedTexts(source=source.text, target=target.text, known=written_links(source, target), are_all=True)


def _pairs(templates: Mapping[str, Draw], num: int, seed: int) -> tuple[Pair, ...]:
    pairs: list[Pair] = []
    for held_out in (False, True):
        write = Writer(lexicon(held_out=held_out), random.Random(2 * seed + held_out))
        texts: set[str] = set()
        target_count = len(pairs) + num // 2
        fruitless = 0
        for turn in count():
            if len(pairs) >= target_count:
                break
            if fruitless == _PATIENCE:
                raise DataError(f"{num:,} different sentences are more than the templates have; ask for fewer --seeds")
            name = list(templates)[turn % len(templates)]
            drawn = templates[name](write)
            twin = len(pairs) if len(drawn) > 1 else None
            new_pairs = [
                Pair(english=parse(phrase.en), german=parse(phrase.de), template=name, held_out=held_out, twin=twin)
                for phrase in drawn
            ]
            fruitless += 1
            if not texts & {pair.english.text for pair in new_pairs}:
                fruitless = 0
                texts |= {pair.english.text for pair in new_pairs}
                pairs += new_pairs
    return tuple(pairs)
