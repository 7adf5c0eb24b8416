"""Measuring a model's robustness: a test set perturbed in every way, single words, blank lines, another language."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from attendo.errors import DataError
from attendo.evaluation.faults import faults, one_word
from attendo.evaluation.perturbations import perturb, perturbations
from attendo.evaluation.robustness import OtherLanguage, Robustness, effect, signatures
from attendo.evaluation.scores import check_parallel
from attendo.workflow.engines.engine import Engine
from attendo.workflow.lines import lines_from

NUM_WORDS = 300
"""Maximum number of single words to translate."""
NUM_OTHER_LINES = 500
"""Maximum number of lines of another language to translate."""
BLANK_LINES = ("", " ", "\t", "\u00a0")
"""Lines of only white space."""

_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, kw_only=True)
class OtherText:
    """Text that is not in the source language."""

    origin: str
    """The origin of the text, for display."""
    lines: tuple[str, ...]


def read_other_language(path: Path) -> OtherText:
    """Text of another language from a file, one sentence per line.

    Raises:
        DataError: the file is missing or broken, or has no sentence.
    """
    lines = tuple(line for line in lines_from(path) if line.strip())
    if not lines:
        raise DataError(f"{path}: no sentence; name a file with text of another language, one sentence per line")
    return OtherText(origin=path.name, lines=lines)


def measure_robustness(
    engine: Engine,
    sources: Sequence[str],
    references: Sequence[str],
    outputs: Sequence[str],
    *,
    other_language: OtherText | None = None,
    num_resamples: int = 1000,
    seed: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Robustness:
    """Translates a test set under every perturbation, and compares each output with that of the unperturbed set.

    Args:
        engine: the model.
        sources: the sentences.
        references: their translations, in the same order.
        outputs: the model's translations of the unperturbed `sources`.
        other_language: text that is not in the source language; by default the references.
        num_resamples: number of bootstrap resamples for the intervals; 0 for no intervals.
        seed: seed of typos, numbers and choices; equal seeds give equal test sets.
        progress: called with the number of lines translated so far and the number of all lines.

    Raises:
        DataError: the sides differ in length or are empty, or a score cannot be computed.
    """
    check_parallel({"source": sources, "output": outputs, "reference": references})
    if num_resamples < 0 or num_resamples == 1:
        raise DataError(f"num_resamples = {num_resamples}: take 0 for no interval, or 2 and more (usually 1000)")
    language = engine.description.target_language
    kinds = perturbations(engine.description.source_language[:2], language[:2])
    perturbed = [perturb(kind, sources, references, seed=seed) for kind in kinds]
    other = other_language or OtherText(origin="the references", lines=tuple(filter(str.strip, references)))
    words, other_lines = _some_words(sources, seed), _some(other.lines, NUM_OTHER_LINES, seed)
    texts = [line.source for lines in perturbed for line in lines] + [*words, *BLANK_LINES, *other_lines]
    translated = iter(_translated(engine, texts, progress))
    expected_ratio = sum(map(len, references)) / max(1, sum(map(len, sources)))
    measured = partial(
        effect, clean_sources=sources, clean_outputs=outputs, clean_references=references,
        expected_ratio=expected_ratio, target_language=language, num_resamples=num_resamples, seed=seed,
    )  # fmt: skip
    pairs = list(zip(kinds, perturbed, strict=True))
    effects = [measured(kind, lines, list(islice(translated, len(lines)))) for kind, lines in pairs if lines]
    return Robustness(
        seed=seed,
        sentences=len(sources),
        signatures=signatures(language),
        clean=faults(sources, outputs, references, expected_ratio=expected_ratio),
        effects=tuple(effects),
        inapplicable=tuple(kind.name for kind, lines in pairs if not lines),
        one_word=one_word(list(islice(translated, len(words)))),
        blank_lines=len(BLANK_LINES),
        blank_outputs=sum(not output.strip() for output in islice(translated, len(BLANK_LINES))),
        other_language=OtherLanguage(origin=other.origin, faults=faults(other_lines, list(translated))),
    )


def _translated(engine: Engine, texts: Sequence[str], progress: Callable[[int, int], None] | None) -> list[str]:
    outputs = []
    for translation in engine.stream(texts):
        outputs.append(translation.text)
        if progress:
            progress(len(outputs), len(texts))
    return outputs


def _some_words(sources: Sequence[str], seed: int) -> list[str]:
    """A sample of the distinct words of the sources, spelled as there."""
    return _some(sorted({word for source in sources for word in _WORD.findall(source)}), NUM_WORDS, seed)


def _some(lines: Sequence[str], number: int, seed: int) -> list[str]:
    """Draws a limited number of lines and keeps their order."""
    chosen = random.Random(seed).sample(range(len(lines)), min(number, len(lines)))
    return [lines[place] for place in sorted(chosen)]
