"""BLEU on others' tokens, against the Moses scripts themselves and against counts by hand."""

import math
from collections import Counter

import pytest

from attendo.errors import DataError
from attendo.evaluation.scores import evaluate_output
from attendo.evaluation.tokenized import MULTI30K, PAPER, multi30k_tokens, paper_tokens

OUTPUTS = [
    "Der neue S-Bahn-Halt „Am Wehr“ öffnet im Mai.",
    "Die Ost-West-Achse bleibt bis Freitag gesperrt, sagte Frau Lenz.",
    "Er kaufte zwei E-Bikes & einen Anhänger für 1.200 Euro…",
]
REFERENCES = [
    'Der neue S-Bahn-Halt "Am Wehr" wird im Mai geöffnet.',
    "Die Ost-West-Achse bleibt bis zum Freitag gesperrt, sagte Frau Lenz.",
    "Er kaufte zwei E-Bikes & einen Anhänger für 1.200 Euro...",
]


def test_papers_tokens_are_those_of_its_script() -> None:
    # What replace-unicode-punctuation.perl, tokenizer.perl -l de and get_ende_bleu.sh's split print for these lines
    # once „ is ", with tokenizer.perl's entities (&quot;, &amp;) written out again.
    assert paper_tokens(OUTPUTS, "de") == [
        'Der neue S ##AT##-##AT## Bahn ##AT##-##AT## Halt " Am Wehr " öffnet im Mai .',
        "Die Ost ##AT##-##AT## West ##AT##-##AT## Achse bleibt bis Freitag gesperrt , sagte Frau Lenz .",
        "Er kaufte zwei E ##AT##-##AT## Bikes & einen Anhänger für 1.200 Euro ...",
    ]


@pytest.mark.parametrize(
    ("language", "score"),
    [("de", 83.48), ("fr", 77.64)],  # printed by multi-bleu.perl for the output of the same scripts, with -l de and fr
)
def test_papers_figure_is_that_of_multi_bleu(language: str, score: float) -> None:
    scores = evaluate_output(OUTPUTS, REFERENCES, target_language=language, paper=True, num_resamples=0)
    assert scores.paper is not None
    assert scores.paper.score == pytest.approx(score, abs=0.005)
    assert scores.paper.score > scores.bleu.score
    assert ("split:atat" in scores.paper.signature) == (language == "de")
    for part in ("case:mixed", "tok:none", "smooth:none", "norm:unicode", f"pretok:moses.{language}", "sacremoses:"):
        assert part in scores.paper.signature


def test_papers_figure_by_its_definition() -> None:
    # Papineni et al. (2002), Section 2.3, as multi-bleu.perl has it: no smoothing.
    def ngrams(line: str, n: int) -> Counter[tuple[str, ...]]:
        words = line.split()
        return Counter(tuple(words[start : start + n]) for start in range(len(words) - n + 1))

    outputs, references = paper_tokens(OUTPUTS, "de"), paper_tokens(REFERENCES, "de")
    log_precisions = []
    for n in range(1, 5):
        pairs = [(ngrams(one, n), ngrams(other, n)) for one, other in zip(outputs, references, strict=True)]
        matches = sum((one & other).total() for one, other in pairs)
        log_precisions.append(math.log(matches / sum(one.total() for one, _ in pairs)))
    lengths = [sum(len(line.split()) for line in lines) for lines in (outputs, references)]
    expected = 100 * math.exp(min(0, 1 - lengths[1] / lengths[0]) + sum(log_precisions) / 4)
    scores = evaluate_output(OUTPUTS, REFERENCES, target_language="de", paper=True, num_resamples=0)
    assert scores.paper is not None
    assert scores.paper.score == pytest.approx(expected)


def test_papers_figure_is_not_smoothed() -> None:
    scores = evaluate_output(
        ["ein Haus am See"], ["das Haus im Wald"], target_language="de", paper=True, num_resamples=0
    )
    assert scores.paper is not None
    assert (scores.paper.score, scores.bleu.score > 0) == (0, True)


def test_every_figure_that_was_asked_for_is_reported() -> None:
    asked = evaluate_output(OUTPUTS, REFERENCES, target_language="de", paper=True, multi30k=True, num_resamples=20)
    assert [score.name for score in asked.figures] == ["BLEU", "chrF2", "TER", PAPER.name, MULTI30K.name]
    assert asked.paper is not None
    assert asked.paper.low is not None
    assert asked.to_json()["bleu_tokenized"] == asked.paper.to_json()
    assert asked.to_json()["bleu_tokenized"] == {
        "name": "BLEU-tok (as in the paper)",
        "score": asked.paper.score,
        "signature": asked.paper.signature,
        "low": asked.paper.low,
        "high": asked.paper.high,
        "recipe": PAPER.recipe,
    }
    for score in asked.figures:
        assert score.signature in asked.to_text()


@pytest.mark.parametrize("option", ["paper", "multi30k"])
def test_a_tokenised_figure_without_a_language_is_refused(option: str) -> None:
    with pytest.raises(DataError, match="needs the code of the target language"):
        evaluate_output(OUTPUTS, REFERENCES, paper=option == "paper", multi30k=option == "multi30k")


def test_multi30k_tokens_follow_the_moses_scripts() -> None:
    # By the rules of normalize-punctuation.perl and tokenizer.perl -no-escape: typographic quotes and the ellipsis
    # become ASCII, an abbreviation keeps its dot and the last word does not, nothing is written as an entity.
    lines = ["Dr. Weber ruft: „Komm & sieh“…", "Ein   Zelt, 3,5 Meter hoch.", ""]
    assert multi30k_tokens(lines, "de") == ['dr. weber ruft : " komm & sieh " ...', "ein zelt , 3,5 meter hoch .", ""]


def test_multi30k_figure_sees_neither_case_nor_typography() -> None:
    scores = evaluate_output(
        ["„Das Zelt“ steht heute im Garten."],
        ['"das zelt" steht HEUTE im Garten.'],
        target_language="de",
        multi30k=True,
        num_resamples=0,
    )
    assert scores.multi30k is not None
    assert scores.multi30k.name == MULTI30K.name
    assert scores.multi30k.score == pytest.approx(100)
    assert scores.bleu.score < 60
    for part in ("case:lc", "tok:none", "norm:moses.de", "pretok:moses.de", "sacremoses:"):
        assert part in scores.multi30k.signature
    assert scores.to_json()["bleu_tok_lc_multi30k"] == scores.multi30k.to_json()
    assert MULTI30K.name in scores.to_text()
