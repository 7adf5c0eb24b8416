"""Both figures of one output, counted by hand and by multi-bleu's formula."""

import math
from collections import Counter

import pytest

from attendo.evaluation.scores import corpus_bleu, evaluate_output
from attendo.paper.table2.systems import EXAMPLES, ladder, work_out


def multi_bleu(outputs: list[str], references: list[str]) -> float:
    """BLEU of tokens, in per cent: clipped n-gram precisions of 1 to 4, brevity penalty, no smoothing."""
    matches, totals = [0] * 4, [0] * 4
    for output, reference in zip(outputs, references, strict=True):
        for request in range(1, 5):
            ours, theirs = (
                Counter(zip(*(line.split()[start:] for start in range(request)), strict=False))
                for line in (output, reference)
            )
            matches[request - 1] += sum((ours & theirs).values())
            totals[request - 1] += sum(ours.values())
    length, wanted = (sum(len(line.split()) for line in lines) for lines in (outputs, references))
    penalty = 1.0 if length > wanted else math.exp(1 - wanted / length)
    return 100 * penalty * math.exp(sum(math.log(m / t) for m, t in zip(matches, totals, strict=True)) / 4)


# One token of eight or twelve is wrong; an n-gram that has it is wrong. Counted by hand.
BY_HAND = {
    "a compound with a hyphen": ("7/8 5/7 3/6 2/5", "11/12 9/11 7/10 5/9"),
    # sacreBLEU leaves the two marks in the reference with the words beside them: three tokens are in none.
    "quotation marks of another shape": ("9/12 7/11 5/10 3/9", "12/12 11/11 10/10 9/9"),
    # L' and n' are tokens of their own: one is right that was part of a wrong one.
    "an elision": ("7/8 5/7 4/6 3/5", "9/10 7/9 5/8 3/7"),
    "neither": ("9/10 7/9 5/8 3/7", "9/10 7/9 5/8 3/7"),
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.shows)
def test_worked_examples(example: object) -> None:
    found = work_out(example)  # type: ignore[arg-type]
    assert (found.sacrebleu.precisions, found.paper.precisions) == BY_HAND[found.example.shows]
    for counted in (found.sacrebleu, found.paper):
        product = math.prod(match / total for match, total in zip(counted.matches, counted.totals, strict=True))
        assert counted.bleu == pytest.approx(
            100 * product**0.25, abs=0.005
        )  # equally long, so that nothing is taken off


def test_tokens_are_told() -> None:
    found = {one.shows: work_out(one) for one in EXAMPLES}
    assert "U-Bahn-Haltestelle" in found["a compound with a hyphen"].sacrebleu.tokens.split()
    assert "##AT##-##AT##" in found["a compound with a hyphen"].paper.tokens.split()
    assert "L'hôtel" in found["an elision"].sacrebleu.tokens.split()
    assert "L'" in found["an elision"].paper.tokens.split()


def test_the_ladder_goes_from_one_figure_to_the_other() -> None:
    outputs, references = (
        [getattr(one, side) for one in EXAMPLES if one.language == "de"] for side in ("output", "reference")
    )
    steps = ladder(outputs, references, "de")
    scores = evaluate_output(outputs, references, target_language="de", paper=True, num_resamples=0)
    assert scores.paper is not None
    assert steps[0].bleu == pytest.approx(corpus_bleu(outputs, references, target_language="de").score)
    assert steps[-1].bleu == pytest.approx(scores.paper.score)
    assert len(steps) == 4
    # By hand: Moses parts a German opening mark from its word, but leaves it another mark than the output's.
    moses = [
        "Die neue U-Bahn-Haltestelle liegt direkt am Marktplatz .",
        'Sie rief : " Wir sehen uns morgen am Bahnhof ! "',
        "Der Zug nach Bremen fährt um acht Uhr ab .",
    ]
    wanted = [
        "Die neue U-Bahn-Station liegt direkt am Marktplatz .",
        "Sie rief : „ Wir sehen uns morgen am Bahnhof ! “",
        "Der Zug nach Bremen fährt um neun Uhr ab .",
    ]
    assert steps[1].bleu == pytest.approx(multi_bleu(moses, wanted))
    plain = [line.replace("„", '"').replace("“", '"') for line in wanted]
    assert steps[2].bleu == pytest.approx(multi_bleu(moses, plain))
    split = [[line.replace("-", " ##AT##-##AT## ") for line in lines] for lines in (moses, plain)]
    assert steps[3].bleu == pytest.approx(multi_bleu(*split))


def test_only_german_compounds_are_split() -> None:
    output, reference = ["The E-bikes were there at noon today."], ["The E-cars were there at noon today."]
    steps = ladder(output, reference, "en")
    assert [step.what for step in steps[1:]] == [
        "Moses tokens in place of sacreBLEU's",
        "and punctuation made plain before",
    ]
    assert steps[-1].bleu == pytest.approx(
        multi_bleu(["The E-bikes were there at noon today ."], ["The E-cars were there at noon today ."])
    )
