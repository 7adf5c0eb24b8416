import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from attendo.checkpoint.checksums import verify_folder
from attendo.checkpoint.model_folder import replace_card
from attendo.decoding.config import GuardConfig
from attendo.errors import DataError
from attendo.evaluation.contrastive import Contrast, Preference
from attendo.evaluation.kept import kept_report
from attendo.workflow.cards.card_evaluations import (
    EVALUATIONS_START,
    check_section_name,
    evaluation_section,
    with_section,
    write_to_card,
)
from attendo.workflow.engines.translate import load
from attendo.workflow.evaluation.evaluate import evaluate
from attendo.workflow.evaluation.robustness import measure_robustness

TRAINED = f"# x\n\n## Scores\n\n{EVALUATIONS_START}\n\n## Limits\n\n- none\n"


def section(name: str, text: str) -> str:
    return f"<!-- evaluation: {name} -->\n{text}\n<!-- end of evaluation -->"


def test_sections_stand_in_their_place_in_the_order_they_came_and_each_once() -> None:
    card = with_section(TRAINED, "a", section("a", "first"))
    card = with_section(card, "b", section("b", "second"))
    card = with_section(card, "a", section("a", "third"))
    assert "first" not in card
    marks = [card.index(word) for word in ("## Scores", EVALUATIONS_START, "third", "second", "## Limits")]
    assert marks == sorted(marks)
    assert card.count("<!-- evaluation:") == 2
    assert card.endswith("## Limits\n\n- none\n")


def test_a_card_of_another_origin_gets_a_heading_at_its_end() -> None:
    assert with_section("# y\n", "a", section("a", "text")) == f"# y\n\n## Scores\n\n{section('a', 'text')}\n"


def test_a_section_has_the_scores_their_signatures_and_how_they_came_about(model_folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "model"
    shutil.copytree(model_folder, copy)
    engine = load(copy, search={"beam_size": 2, "max_len_offset": 2, "no_repeat_ngram": 3})
    sources, references = ["one red dogs see us.", "two old men hear them."], ["su ees", "meht raeh"]
    evaluation = evaluate(engine, sources, references, num_resamples=5)
    robustness = measure_robustness(engine, sources, references, evaluation.outputs, num_resamples=5)
    search = replace(engine.search, guards=GuardConfig(casing=False), window_lines=9)
    kept = kept_report(["a 1999 b", "4711"], ["1999", "4712"], ["x 1999", "4711"])
    one = Preference(pairs=4, preferred=3, low=0.301, high=0.954)
    contrast = Contrast(preferred={"name": one}, more_probable={"name": replace(one, preferred=2)})
    text = evaluation_section(
        "set (1)", evaluation, search=search, version="9.8", kept=kept, contrast=contrast, robustness=robustness
    )
    assert "2 sentences, by attendo 9.8 on" in text
    assert "beam_size 2, length_penalty 0.6, max_len_offset 2, no_repeat_ngram 3, guards.casing False." in text
    assert f"| BLEU | {evaluation.scores.bleu.score:.2f} | {evaluation.scores.bleu.low:.2f} to " in text
    assert evaluation.scores.chrf.signature.replace("|", "\\|") in text
    assert "| upper case | 2 |" in text
    assert "#### Values kept on set (1)" in text
    assert "| number | 2 | 1 | 50.00 | 1 |" in text
    assert "1 of 2 lines (50.00 %) have all that is wanted and nothing invented." in text
    assert "#### Right or wrong on set (1)" in text
    assert "| name | 4 | 75.0 [30.1, 95.4] | 50.0 [30.1, 95.4] |" in text
    for _ in range(2):
        assert write_to_card(str(copy), "set (1)", text) == copy / "README.md"
        assert verify_folder(copy) == []
    card = (copy / "README.md").read_text(encoding="utf-8")
    assert card.startswith("# Random\n")
    assert card.count("### set (1)") == 1
    replace_card(copy, "# Another\n")
    assert "set (1)" not in (copy / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["", " ", "a|b", "a -- b", "x" * 81, "two\nlines", "<b>"])
def test_names_that_would_spoil_the_card_are_refused(name: str) -> None:
    with pytest.raises(DataError, match="--card"):
        check_section_name(name)
    check_section_name("newstest2013 (out of domain), en-de")
