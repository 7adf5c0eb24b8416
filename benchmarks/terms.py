"""How well translations use terms: terms drawn from training text, looked for in validation text with references.

    python benchmarks/terms.py MODEL TRAIN.en TRAIN.de VALID.en VALID.de [--sentences 200] [--json]

A term is a pair of lemmas: two nouns that occur in the same sentence pairs of the training text more often than with
any other (the Dice coefficient of their lemmas). An occurrence is a sentence of the validation text with a form of the
source whose reference has a form of the target. Sentences whose reference inflects the term come first, until they are
`--inflected` of all occurrences; sentences are left out whose reference does not use one of their terms. Files may be
compressed. Three ways are compared:

none         translate without the glossary
placeholder  translate; where the target is missing as it stands, translate with a placeholder for the source, which is
             replaced by the target (what attendo did before it had `attendo.terms`)
forms        translate with the glossary

`used` is the share of occurrences whose translation has some form of the target, `reference form` of those whose
reference has the form that the translation has; both with Wilson's 95 % interval. Times are of the processor.
"""

import argparse
import json
import math
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from attendo.evaluation.scores import corpus_bleu
from attendo.terms.expected import ExpectedTerm, expected_terms
from attendo.terms.glossary import Glossary
from attendo.terms.inflection import forms_of
from attendo.terms.term import Term
from attendo.text.subwords.placeholders import placeholder
from attendo.text_tables import aligned_table
from attendo.workflow.engines.aids import Aids
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.translate import load
from attendo.workflow.lines import line_pairs_from

_WORD = re.compile(r"[^\W\d_]{4,}")
_MIN_COUNT, _MIN_DICE, _MAX_TERMS = 12, 0.45, 400
_Z = 1.96


@dataclass(frozen=True, kw_only=True)
class Result:
    """What one way of translating gives."""

    way: str
    used: int
    reference_form: int
    inflected_right: int
    bleu: float
    seconds: float


def lemmas(counts: Counter[str], language: str) -> dict[str, str]:
    """The lemma of each word: the shortest word of the text of which it is a form."""
    found: dict[str, str] = {}
    for word in sorted(counts, key=lambda word: (len(word), word)):
        if word in found:
            continue
        for form in forms_of(word, language):
            if form in counts:
                found.setdefault(form, word)
    return found


def drawn_terms(pairs: Sequence[tuple[str, str]], source: str, target: str) -> list[Term]:
    """Pairs of lemmas that stand in the same sentence pairs."""
    words = [(set(_nouns(one, source)), set(_nouns(other, target))) for one, other in pairs]
    sides = [
        lemmas(Counter(word for its in words for word in its[side]), code) for side, code in ((0, source), (1, target))
    ]
    alone: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    together: Counter[tuple[str, str]] = Counter()
    for its in words:
        left, right = ({sides[side][word] for word in its[side]} for side in (0, 1))
        alone[0].update(left)
        alone[1].update(right)
        together.update((one, other) for one in left for other in right)
    best: dict[str, tuple[float, str]] = {}
    for (one, other), count in together.items():
        dice = 2 * count / (alone[0][one] + alone[1][other])
        if count >= _MIN_COUNT and dice >= max(_MIN_DICE, best.get(one, (0.0, ""))[0]) and one != other.lower():
            best[one] = dice, other
    targets = Counter(other for _, other in best.values())
    ranked = sorted(best, key=lambda one: -alone[0][one])
    return [Term(source=one, target=best[one][1]) for one in ranked if targets[best[one][1]] == 1][:_MAX_TERMS]


def _nouns(text: str, language: str) -> Iterator[str]:
    """Words that may be nouns: in German those with a capital within a sentence, elsewhere those in small letters."""
    for found in _WORD.finditer(text):
        word = found[0]
        if language == "de":
            if word[0].isupper() and word[1:].islower() and text[: found.start()].rstrip(' "»„')[-1:].isalnum():
                yield word
        elif word.islower():
            yield word


def is_inflected(each: ExpectedTerm) -> bool:
    """Whether the reference has another form than the glossary."""
    return each.reference_form.casefold() != each.term.target.casefold()


def without_other_terms(
    found: Sequence[ExpectedTerm], glossary: Glossary, pairs: Sequence[tuple[str, str]]
) -> list[ExpectedTerm]:
    """The occurrences in sentences of which the reference uses every term.

    Terms that are drawn by a rule are sometimes wrong for a sentence, which those of a user's glossary are not.
    """
    return [
        each
        for each in found
        if all(
            glossary.requirement(other.term).form_in(pairs[each.line][1])
            for other in glossary.occurrences(pairs[each.line][0])
        )
    ]


def chosen(found: Sequence[ExpectedTerm], num_sentences: int, inflected: float, seed: int) -> list[ExpectedTerm]:
    """The occurrences of so many sentences, of which a share is inflected in the reference."""
    by_sentence: dict[int, list[ExpectedTerm]] = {}
    for each in found:
        by_sentence.setdefault(each.line, []).append(each)
    order = sorted(by_sentence)
    random.Random(seed).shuffle(order)
    first = [number for number in order if any(is_inflected(each) for each in by_sentence[number])]
    others = [number for number in order if number not in set(first)]
    taken: list[ExpectedTerm] = []
    for _ in range(min(num_sentences, len(order))):
        share = sum(is_inflected(each) for each in taken) / max(1, len(taken))
        queue = first if (share < inflected and first) or not others else others
        taken += by_sentence[queue.pop(0)]
    return taken


def translations(engine: Engine, glossary: Glossary, sources: Sequence[str], way: str) -> list[str]:
    """The translations by one way."""
    if way == "forms":
        return [str(each) for each in engine.translate(sources, aids=Aids(glossary=glossary))]
    plain = [str(each) for each in engine.translate(sources)]
    if way == "none":
        return plain
    again: dict[int, tuple[str, list[str]]] = {}
    for number, (source, text) in enumerate(zip(sources, plain, strict=True)):
        missing = [each for each in glossary.occurrences(source) if each.term.target.casefold() not in text.casefold()]
        if not missing:
            continue
        for place, each in reversed(list(enumerate(missing, start=1))):
            source = f"{source[: each.start]}{placeholder(place)}{source[each.end :]}"
        again[number] = source, [each.term.target for each in missing]
    for number, found in zip(again, engine.translate([source for source, _ in again.values()]), strict=True):
        text = str(found)
        for place, target in enumerate(again[number][1], start=1):
            text = text.replace(placeholder(place), target)
        plain[number] = text
    return plain


def measured(
    engine: Engine, glossary: Glossary, pairs: Sequence[tuple[str, str]], taken: Sequence[ExpectedTerm], way: str
) -> Result:
    """What a way of translating gives of the sentences of some occurrences."""
    numbers = sorted({each.line for each in taken})
    started = time.process_time()
    texts = dict(
        zip(numbers, translations(engine, glossary, [pairs[number][0] for number in numbers], way), strict=True)
    )
    seconds = time.process_time() - started
    uses = [(each, each.required.form_in(texts[each.line])) for each in taken]
    right = [each for each, form in uses if _has(each.reference_form, texts[each.line])]
    score = corpus_bleu(list(texts.values()), [pairs[number][1] for number in numbers]).score
    return Result(
        way=way,
        used=sum(form is not None for _, form in uses),
        reference_form=len(right),
        inflected_right=sum(is_inflected(each) for each in right),
        bleu=round(score, 2),
        seconds=round(seconds, 2),
    )


def _has(form: str, text: str) -> bool:
    return re.search(rf"(?i)(?<!\w){re.escape(form)}(?!\w)", text) is not None


def interval(count: int, total: int) -> str:
    """A share with Wilson's interval, in per cent."""
    share = count / total
    middle, width = share + _Z**2 / (2 * total), _Z * math.sqrt(share * (1 - share) / total + _Z**2 / (4 * total**2))
    low, high = ((middle + sign * width) / (1 + _Z**2 / total) for sign in (-1, 1))
    return f"{100 * share:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    for name in ("train_source", "train_target", "valid_source", "valid_target"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument(
        "--train-pairs", type=int, default=50_000, help="of the training text that terms are drawn from"
    )
    parser.add_argument("--inflected", type=float, default=0.4, help="the share of occurrences to inflect")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--dtype", default=None)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    engine = load(args.model, dtype=args.dtype, threads=args.threads)
    source, target = engine.source_language, engine.target_language
    training = list(islice(line_pairs_from(args.train_source, args.train_target), args.train_pairs))
    glossary = Glossary(
        terms=tuple(drawn_terms(training, source, target)), source_language=source, target_language=target
    )
    pairs = list(line_pairs_from(args.valid_source, args.valid_target))
    found = expected_terms(glossary, [one for one, _ in pairs], [other for _, other in pairs])
    taken = chosen(without_other_terms(found, glossary, pairs), args.sentences, args.inflected, args.seed)
    num_inflected = sum(is_inflected(each) for each in taken)
    results = [measured(engine, glossary, pairs, taken, way) for way in ("none", "placeholder", "forms")]
    facts = {
        "terms": len(glossary.terms),
        "occurrences_in_all": len(found),
        "sentences": len({each.line for each in taken}),
        "occurrences": len(taken),
        "inflected": num_inflected,
    }
    if args.json:
        json.dump({**facts, "ways": [asdict(each) for each in results]}, sys.stdout, indent=2)
        return 0
    rows = [
        (
            each.way,
            interval(each.used, len(taken)),
            interval(each.reference_form, len(taken)),
            f"{100 * each.inflected_right / max(1, num_inflected):.1f}",
            f"{each.bleu:.2f}",
            f"{each.seconds:.1f}",
        )
        for each in results
    ]
    caption = ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in facts.items())
    print(aligned_table(caption, ("way", "used", "reference form", "of inflected", "BLEU", "CPU s"), rows, words=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
