"""Tables of a model's robustness: aligned text for a terminal, Markdown for a model card."""

from collections.abc import Callable, Sequence

from attendo.evaluation.faults import DEFINITIONS, MAX_WORDS_OF_ONE, Faults
from attendo.evaluation.ratios import Ratio
from attendo.evaluation.robustness import Effect, Robustness
from attendo.text_tables import aligned, markdown_table

LARGE_LOSS = 0.9
"""Perturbations with a ratio of BLEU below this one are listed by name."""

_FAULTS = ("empty", "copied", "looping", "too_long", "too_short")

_Table = Callable[[Sequence[Sequence[str]]], list[str]]
"""A function that formats rows of cells, the header first, as lines."""


def robustness_text(robustness: Robustness) -> str:
    """Formats all figures as aligned text for a terminal."""
    return "\n".join(_report(robustness, _aligned))


def robustness_markdown(robustness: Robustness) -> str:
    """Formats all figures as Markdown."""
    return "\n".join(_report(robustness, markdown_table))


def _report(robustness: Robustness, table: _Table) -> list[str]:
    effects = robustness.effects
    lines = [
        f"Robustness on {robustness.sentences:,} sentences, seed {robustness.seed}: the same lines without a change "
        "and with it, and what is left of the score.",
        "",
        *table(_effect_rows(effects)),
        "",
        *_worst(effects),
        "Faults in % of the lines, and in brackets of the same lines without the change:",
        "",
        *table(_fault_rows(robustness)),
        "",
        *_other_inputs(robustness, table),
        "What the words mean:",
        "",
        *table(_definitions(robustness)),
        "",
        *table([("figure", "signature"), *robustness.signatures.items()]),
    ]
    return [line.rstrip() for line in lines]


def _effect_rows(effects: Sequence[Effect]) -> list[Sequence[str]]:
    header = ("change", "lines", "BLEU without", "with", "ratio", "95%", "chrF2 ratio", "BLEU-lc ratio", "kept")
    return [
        header,
        *(
            (
                effect.name,
                f"{effect.lines:,}",
                f"{effect.bleu.clean:.2f}",
                f"{effect.bleu.perturbed:.2f}",
                _share(effect.bleu.ratio),
                "" if effect.bleu.low is None else f"{effect.bleu.low:.2f}-{effect.bleu.high:.2f}",
                _share(effect.chrf.ratio),
                "" if effect.bleu_lowercased is None else _share(effect.bleu_lowercased.ratio),
                "" if effect.kept is None else f"{100 * effect.kept:.1f} %",
            )
            for effect in effects
        ),
    ]


def _worst(effects: Sequence[Effect]) -> list[str]:
    """Returns a sentence that names the perturbations of large loss, the worst first."""
    losses = sorted((_lost(effect), effect.name) for effect in effects)
    named = [f"{name} ({ratio:.2f})" for ratio, name in losses if ratio < LARGE_LOSS]
    if not named:
        return [f"Under every change at least {100 * LARGE_LOSS:.0f} % of the BLEU is left.", ""]
    return [f"Less than {100 * LARGE_LOSS:.0f} % of the BLEU is left under: {', '.join(named)}.", ""]


def _lost(effect: Effect) -> float:
    ratios: list[Ratio] = [effect.bleu, *([effect.bleu_lowercased] if effect.bleu_lowercased else [])]
    return max((ratio.ratio for ratio in ratios if ratio.ratio is not None), default=1.0)


def _fault_rows(robustness: Robustness) -> list[Sequence[str]]:
    clean = robustness.clean
    return [
        ("change", *(name.replace("_", " ") for name in _FAULTS)),
        ("none", *(_percent(clean, name) for name in _FAULTS)),
        *(
            (
                effect.name,
                *(f"{_percent(effect.faults, name)} ({_percent(effect.clean_faults, name)})" for name in _FAULTS),
            )
            for effect in robustness.effects
        ),
    ]


def _other_inputs(robustness: Robustness, table: _Table) -> list[str]:
    word, other = robustness.one_word, robustness.other_language
    rows = [
        ("input", "number", "what becomes of it"),
        (
            "single words of the sources",
            f"{word.words:,}",
            f"{_part(word.good, word.words)} have 1 to {MAX_WORDS_OF_ONE} words, {_part(word.too_long, word.words)} "
            f"more, {_part(word.empty, word.words)} none",
        ),
        (
            "blank lines",
            f"{robustness.blank_lines}",
            f"{_part(robustness.blank_outputs, robustness.blank_lines)} stay empty",
        ),
        (
            f"another language: {other.origin}",
            f"{other.faults.lines:,}",
            ", ".join(f"{_percent(other.faults, name)} % {name.replace('_', ' ')}" for name in _FAULTS),
        ),
    ]
    lines = [*table(rows), ""]
    if robustness.inapplicable:
        lines += [f"No line of the test set has what these would change: {', '.join(robustness.inapplicable)}.", ""]
    return lines


def _definitions(robustness: Robustness) -> list[Sequence[str]]:
    return [
        ("word", "meaning"),
        *((effect.name, f"{effect.what}; the reference {effect.to_reference}") for effect in robustness.effects),
        ("BLEU-lc", "BLEU that ignores upper and lower case"),
        ("kept", "lines whose output has all that was put in, to the letter and at its end of the line"),
        *((name.replace("_", " "), DEFINITIONS[name]) for name in _FAULTS),
    ]


def _percent(faults: Faults, name: str) -> str:
    total = faults.comparable if name == "copied" else faults.lines
    return f"{100 * int(getattr(faults, name)) / total:.1f}" if total else "-"


def _part(number: int, total: int) -> str:
    return f"{100 * number / total:.1f} %" if total else "-"


def _share(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    columns = len(rows[0])
    return aligned(rows, words=columns if columns < 5 else 1)  # a table of few columns holds only words
