"""Scores against counts by hand, brute force over the metrics' definitions, and sacreBLEU's own command line."""

import json
import math
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.evaluation.scores import check_parallel, corpus_bleu, evaluate_output

OUTPUTS = [
    "The little bear sleeps in the green house.",
    "Two women read a letter, slowly and aloud.",
    "A boat without sail crosses the lake today.",
    "Nobody had seen the old teacher since Monday.",
]
REFERENCES = [
    "The small bear is sleeping in a green house.",
    "Two women slowly read a letter aloud.",
    "A boat without sails crosses the lake today.",
    "Nobody has seen the old teacher since Monday.",
]


def test_bleu_of_one_sentence_by_hand() -> None:
    # Of 6 words 5 match (`the` twice, cat, on, mat), of 5 pairs 3, of 4 triples 1, of 3 quadruples none; the NIST
    # smoothing of mteval-v13a counts the first empty order as 1/2.
    expected = 100 * (5 / 6 * 3 / 5 * 1 / 4 * (1 / 2) / 3) ** (1 / 4)
    assert corpus_bleu(["the cat sat on the mat"], ["the cat is on the mat"]).score == pytest.approx(expected)


def test_bleu_clips_repeated_words() -> None:
    # Papineni et al. (2002), Section 2.1: seven times `the` against two in the reference is a precision of 2/7.
    expected = 100 * (2 / 7 * (1 / 2) / 6 * (1 / 4) / 5 * (1 / 8) / 4) ** (1 / 4)
    assert corpus_bleu(["the the the the the the the"], ["the cat is on the mat"]).score == pytest.approx(expected)


def test_bleu_sums_counts_over_sentences_and_punishes_shortness() -> None:
    # 5 and 4 words, all right, against 7 and 4: the penalty is exp(1 - 11/9) on the whole corpus.
    found = corpus_bleu(["a b c d e", "f g h i"], ["a b c d e x y", "f g h i"]).score
    assert found == pytest.approx(100 * math.exp(1 - 11 / 9))


def test_chrf_by_its_definition() -> None:
    # Popovic (2015): precision and recall of character n-grams up to 6, averaged over n, recall weighing twice.
    def counts(lines: list[str], n: int) -> list[Counter[str]]:
        texts = ["".join(line.split()) for line in lines]
        return [Counter(text[start : start + n] for start in range(len(text) - n + 1)) for text in texts]

    precisions, recalls = [], []
    for n in range(1, 7):
        output_counts, reference_counts = counts(OUTPUTS, n), counts(REFERENCES, n)
        matches = sum((one & other).total() for one, other in zip(output_counts, reference_counts, strict=True))
        precisions.append(matches / sum(count.total() for count in output_counts))
        recalls.append(matches / sum(count.total() for count in reference_counts))
    precision, recall = sum(precisions) / 6, sum(recalls) / 6
    expected = 100 * 5 * precision * recall / (4 * precision + recall)
    assert evaluate_output(OUTPUTS, REFERENCES, num_resamples=0).chrf.score == pytest.approx(expected)


@pytest.mark.parametrize(
    ("output", "edits"),
    [
        ("a b c d e f", 0),
        ("a b x d e f", 1),
        ("d e f a b c", 1),  # a block that stands elsewhere is one shift (Snover et al. 2006)
        ("a b c", 3),
    ],
)
def test_ter_counts_edits(output: str, edits: int) -> None:
    assert evaluate_output([output], ["a b c d e f"], num_resamples=0).ter.score == pytest.approx(100 * edits / 6)


def test_scores_intervals_and_signatures_are_those_of_sacrebleu_itself(tmp_path: Path) -> None:
    (tmp_path / "output").write_text("\n".join(OUTPUTS) + "\n", encoding="utf-8")
    (tmp_path / "reference").write_text("\n".join(REFERENCES) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "sacrebleu", "reference", "-i", "output", "-m", "bleu", "chrf", "ter"]
    options = ["--confidence", "--confidence-n", "200", "-w", "6", "-f", "json"]
    done = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, check=True, text=True)
    found = evaluate_output(OUTPUTS, REFERENCES, num_resamples=200)
    for told, ours in zip(json.loads(done.stdout), (found.bleu, found.chrf, found.ter), strict=True):
        assert ours.name == told["name"]
        assert ours.score == pytest.approx(told["score"], abs=1e-6)
        assert ours.signature == told["signature"]
        assert ours.low is not None
        assert ours.high is not None
        assert (ours.low + ours.high) / 2 == pytest.approx(told["confidence_mean"], abs=1e-5)
        assert (ours.high - ours.low) / 2 == pytest.approx(told["confidence_var"], abs=1e-5)


def test_interval_has_no_width_where_every_sentence_is_alike() -> None:
    score = evaluate_output(["the cat sat on the mat"] * 5, ["the cat is on the mat"] * 5, num_resamples=50).bleu
    assert score.low == pytest.approx(score.score, abs=1e-4)
    assert score.high == pytest.approx(score.score, abs=1e-4)


def test_interval_of_an_output_without_any_match_is_zero() -> None:
    score = evaluate_output(["x y"] * 3, ["a b"] * 3, num_resamples=20).bleu
    assert (score.score, score.low, score.high) == (0.0, 0.0, 0.0)


def test_json_has_the_agreed_shape() -> None:
    scores = evaluate_output(OUTPUTS, REFERENCES, num_resamples=20)
    found = json.loads(json.dumps(scores.to_json()))
    assert set(found) == {"num_sentences", "bleu", "chrf", "ter"}
    assert set(found["bleu"]) == set(found["chrf"]) == set(found["ter"]) == {"score", "signature", "low", "high"}
    assert "bs:20" in found["bleu"]["signature"]


def test_without_resamples_there_is_no_interval() -> None:
    score = evaluate_output(OUTPUTS, REFERENCES, num_resamples=0).bleu
    assert (score.low, score.high) == (None, None)
    assert "bs:" not in score.signature


def test_chinese_has_its_own_tokeniser() -> None:
    assert "tok:zh" in evaluate_output(["我喝茶。"], ["我喝茶。"], target_language="zh", num_resamples=0).bleu.signature


def test_texts_of_unequal_length_are_named_with_both_counts() -> None:
    with pytest.raises(DataError, match=r"output has 2 lines, reference has 3"):
        evaluate_output(["a", "b"], ["a", "b", "c"])
    with pytest.raises(DataError, match=r"output has 2 lines, reference has 3"):
        corpus_bleu(["a", "b"], ["a", "b", "c"])


def test_every_text_that_does_not_fit_is_named() -> None:
    with pytest.raises(DataError, match=r"one has 2 lines, ref has 1; two has 3 lines, ref has 1"):
        check_parallel({"one": ["a", "b"], "two": ["a", "b", "c"], "ref": ["a"]})


def test_empty_texts_are_refused() -> None:
    with pytest.raises(DataError, match="output and reference: no line at all"):
        evaluate_output([], [])


@pytest.mark.parametrize("num_resamples", [-1, 1])
def test_senseless_numbers_of_resamples_are_refused(num_resamples: int) -> None:
    with pytest.raises(DataError, match=f"num_resamples = {num_resamples}: take 0"):
        evaluate_output(OUTPUTS, REFERENCES, num_resamples=num_resamples)


def test_missing_tokeniser_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sacrebleu.tokenizers.tokenizer_ja_mecab.MeCab", None)
    with pytest.raises(DataError, match=r"'ja': .*sacrebleu\[ja\]"):
        evaluate_output(["茶"], ["茶"], target_language="ja")


def test_resamples_of_which_some_match_nothing() -> None:
    """sacreBLEU's chrF mixes float and numpy's float32 then, which Python 3.11 cannot average."""
    found = evaluate_output(["abc def ghi", "zzz"], ["abc def ghi", "qqq"], num_resamples=50)
    assert found.chrf.low is not None
    assert found.chrf.high is not None
    assert found.chrf.low <= found.chrf.high
