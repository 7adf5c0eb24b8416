import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sacrebleu import corpus_bleu

Command = Callable[..., Any]


def test_evaluate_prints_scores_with_signatures(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    source, reference, output = tmp_path / "s", tmp_path / "r", tmp_path / "o"
    references = ["su ees sgod der eno.", "meht raeh sgnik dlo emos."]
    source.write_text("one red dogs see us.\nsome old kings hear them.\n")
    reference.write_text("".join(f"{line}\n" for line in references))
    files = ["--source", source, "--reference", reference]
    finished = attendo("evaluate", model_folder, *files, "-o", output, "--json", "--resamples", "10")
    assert finished.status == 0
    found = json.loads(finished.out)
    outputs = output.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    assert found["bleu"]["score"] == corpus_bleu(outputs, [references]).score
    for name in ("bleu", "chrf", "ter"):
        assert {"score", "signature", "low", "high"} <= found[name].keys()
    assert found["perplexity"] > 1
    text = attendo("evaluate", model_folder, *files, "--tokenized-lowercased", "--resamples", "10").out
    assert text.splitlines()[0].startswith("BLEU ")
    assert "perplexity" in text
    assert "BLEU-tok-lc (Multi30k literature)" in text


def test_sides_of_unequal_length_are_refused_before_any_work(
    attendo: Command, model_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "s").write_text("a\nb\n")
    (tmp_path / "r").write_text("a\n")
    finished = attendo("evaluate", model_folder, "--source", tmp_path / "s", "--reference", tmp_path / "r")
    assert finished.status == 1
    assert f"{tmp_path / 's'} has 2 lines and {tmp_path / 'r'} has 1" in finished.err
