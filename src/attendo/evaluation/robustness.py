"""Robustness: a model's scores and faults on input as people write it, compared with clean input."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attendo.evaluation.faults import Faults, OneWord, faults
from attendo.evaluation.perturbations import Perturbation, PerturbedLine, is_kept, without_inserted
from attendo.evaluation.ratios import Ratio, Side, bleu_ratio_interval, ratio
from attendo.evaluation.scores import Score, corpus_bleu, corpus_chrf


@dataclass(frozen=True, kw_only=True)
class Effect:
    """The effect of one perturbation on a model's output."""

    name: str
    what: str
    """Description of the change of the source."""
    to_reference: str
    """Description of the change of the reference."""
    lines: int
    """Number of lines in the perturbed test set, after joining if lines are joined."""
    bleu: Ratio
    chrf: Ratio
    bleu_lowercased: Ratio | None
    """BLEU without regard to case, if the perturbation changes case."""
    kept: float | None
    """Share of the lines whose output has all inserted strings in their positions; None if nothing was inserted."""
    clean_faults: Faults
    """Faults on the same lines without the perturbation."""
    faults: Faults


@dataclass(frozen=True, kw_only=True)
class OtherLanguage:
    """Results for text that is not in the source language."""

    origin: str
    """Origin of the text."""
    faults: Faults
    """Faults of the translations; here `copied` is the desired result, the text unchanged."""


@dataclass(frozen=True, kw_only=True)
class Robustness:
    """All measurements of a model's robustness on a test set."""

    seed: int
    sentences: int
    """Number of sentences in the test set."""
    signatures: Mapping[str, str]
    """sacreBLEU's signatures, by the name of the metric."""
    clean: Faults
    """Faults on the unchanged test set."""
    effects: tuple[Effect, ...]
    """One effect for each perturbation that applies to some line."""
    inapplicable: tuple[str, ...]
    """Names of the perturbations that apply to no line."""
    one_word: OneWord
    """Results for single words of the sources."""
    blank_lines: int
    """Number of given lines that are only white space."""
    blank_outputs: int
    """Number of these lines whose translation is empty, as it should be."""
    other_language: OtherLanguage


def effect(
    perturbation: Perturbation,
    perturbed: Sequence[PerturbedLine],
    outputs: Sequence[str],
    *,
    clean_sources: Sequence[str],
    clean_outputs: Sequence[str],
    clean_references: Sequence[str],
    expected_ratio: float,
    target_language: str,
    num_resamples: int,
    seed: int,
) -> Effect:
    """Compares the translations of perturbed lines with those of the same lines unchanged.

    Args:
        perturbation: the change that was applied.
        perturbed: the perturbed lines, at least one.
        outputs: the translations of the perturbed lines.
        clean_sources: all sentences of the unchanged test set.
        clean_outputs: the translations of the unchanged sentences.
        clean_references: the reference translations of the unchanged sentences.
        expected_ratio: expected number of characters in a translation per character of its source.
        target_language: two-letter code; chooses BLEU's tokeniser.
        num_resamples: number of bootstrap resamples for the interval of BLEU's ratio; 0 for no interval.
        seed: the seed of the resamples.

    Raises:
        DataError: BLEU's tokeniser needs a package that is not installed.
    """

    def joined(side: Sequence[str]) -> list[str]:
        return [" ".join(side[line] for line in changed.lines) for changed in perturbed]

    sources, clean, expected = (joined(side) for side in (clean_sources, clean_outputs, clean_references))
    references = [changed.reference for changed in perturbed]
    scored = perturbation.scored
    before_change = Side(outputs=[scored(text) for text in clean], references=[scored(text) for text in expected])
    bare = [without_inserted(perturbation, changed, output) for changed, output in zip(perturbed, outputs, strict=True)]
    after_change = Side(outputs=[scored(text) for text in bare], references=[scored(text) for text in references])
    interval = bleu_ratio_interval(
        before_change, after_change, target_language=target_language, num_resamples=num_resamples, seed=seed
    )
    lowercased = None
    if perturbation.of_case:
        lowercased = ratio(
            _bleu(before_change, target_language, lowercase=True), _bleu(after_change, target_language, lowercase=True)
        )
    kept = [
        is_kept(perturbation, changed, output)
        for changed, output in zip(perturbed, outputs, strict=True)
        if changed.kept
    ]
    return Effect(
        name=perturbation.name,
        what=perturbation.what,
        to_reference=perturbation.to_reference,
        lines=len(perturbed),
        bleu=ratio(_bleu(before_change, target_language), _bleu(after_change, target_language), interval),
        chrf=ratio(_chrf(before_change), _chrf(after_change)),
        bleu_lowercased=lowercased,
        kept=sum(kept) / len(kept) if kept else None,
        clean_faults=faults(sources, clean, expected, expected_ratio=expected_ratio),
        faults=faults([changed.source for changed in perturbed], outputs, references, expected_ratio=expected_ratio),
    )


def signatures(target_language: str) -> dict[str, str]:
    """Returns sacreBLEU's signatures of the figures of an `Effect`, by the name of the metric.

    Raises:
        DataError: BLEU's tokeniser needs a package that is not installed.
    """
    empty = Side(outputs=[""], references=[""])
    return {
        "BLEU": _bleu(empty, target_language).signature,
        "BLEU-lc": _bleu(empty, target_language, lowercase=True).signature,
        "chrF2": corpus_chrf(empty.outputs, empty.references).signature,
    }


def _bleu(side: Side, target_language: str, *, lowercase: bool = False) -> Score:
    return corpus_bleu(side.outputs, side.references, target_language=target_language, lowercase=lowercase)


def _chrf(side: Side) -> Score:
    return corpus_chrf(side.outputs, side.references)
