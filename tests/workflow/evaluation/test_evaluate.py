import math
from pathlib import Path

import pytest
from sacrebleu import corpus_bleu, corpus_chrf, corpus_ter

from attendo.workflow.engines.translate import load
from attendo.workflow.evaluation.evaluate import evaluate

SOURCES = ["one red dogs see us.", "some old kings hear them.", "two small birds see here."]
REFERENCES = ["su ees sgod der eno.", "meht raeh sgnik dlo emos.", "ereh ees sdrib llams owt."]


def test_an_evaluation_is_sacrebleus_of_the_outputs(model_folder: Path) -> None:
    engine = load(model_folder)
    told: list[int] = []
    evaluation = evaluate(engine, SOURCES, REFERENCES, num_resamples=0, progress=told.append)
    outputs = list(evaluation.outputs)
    assert outputs == [translation.text for translation in engine.translate(SOURCES)]
    assert told == [1, 2, 3]
    found = evaluation.to_json()
    for name, reference in (("bleu", corpus_bleu), ("chrf", corpus_chrf), ("ter", corpus_ter)):
        assert found[name]["score"] == pytest.approx(reference(outputs, [REFERENCES]).score)
        assert "version:" in found[name]["signature"]


def test_perplexity_is_that_of_the_references(model_folder: Path) -> None:
    engine = load(model_folder)
    evaluation = evaluate(engine, SOURCES, REFERENCES, num_resamples=0)
    log_probs = [p for score in engine.score(zip(SOURCES, REFERENCES, strict=True)) for p in score.token_log_probs]
    assert evaluation.to_json()["perplexity"] == pytest.approx(math.exp(-sum(log_probs) / len(log_probs)), rel=1e-6)
    assert evaluation.to_json()["reference_tokens"] == len(log_probs)


def test_the_text_names_what_was_cut_and_the_literatures_figure(model_folder: Path) -> None:
    engine = load(model_folder, search={"max_source_tokens": 2})
    text = evaluate(engine, SOURCES, REFERENCES, multi30k=True, num_resamples=2).to_text()
    assert "3 source lines were too long and cut; see search.max_source_tokens" in text
    assert "BLEU-tok-lc (Multi30k literature)" in text
    assert "tok:none" in text
