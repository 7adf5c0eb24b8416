import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sacrebleu import corpus_bleu
from tests.tiny_parser import trees

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
    asked = ["--tokenized", "--tokenized-lowercased"]
    text = attendo("evaluate", model_folder, *files, *asked, "--resamples", "10").out
    assert text.splitlines()[0].startswith("BLEU ")
    assert "perplexity" in text
    assert "BLEU-tok (as in the paper)" in text
    assert "BLEU-tok-lc (Multi30k literature)" in text


def test_sides_of_unequal_length_are_refused_before_any_work(
    attendo: Command, model_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "s").write_text("a\nb\n")
    (tmp_path / "r").write_text("a\n")
    finished = attendo("evaluate", model_folder, "--source", tmp_path / "s", "--reference", tmp_path / "r")
    assert finished.status == 1
    assert f"{tmp_path / 's'} has 2 lines and {tmp_path / 'r'} has 1" in finished.err


@pytest.fixture
def small(tmp_path: Path, model_folder: Path) -> tuple[Path, list[object]]:
    """A copy of the model that writes short lines, and the files of a test set of two."""
    (tmp_path / "s").write_text("one red dogs see us.\nsome old kings hear them.\n")
    (tmp_path / "r").write_text("su ees sgod der eno.\nmeht raeh sgnik dlo emos.\n")
    shutil.copytree(model_folder, tmp_path / "model")
    files: list[object] = ["--source", tmp_path / "s", "--reference", tmp_path / "r"]
    return tmp_path / "model", [*files, "--beam-size", "1", "--set", "search.max_len_offset=1", "--resamples", "0"]


def test_robustness_is_printed_as_tables_and_as_json(attendo: Command, small: tuple[Path, list[object]]) -> None:
    model, options = small
    text = attendo("evaluate", model, *options, "--robustness").out
    assert text.startswith("BLEU ")
    assert "\nupper case  " in text
    assert "another language: the references" in text
    other = model.parent / "fi.txt"
    other.write_text("Hyvää iltaa kaikille.\n", encoding="utf-8")
    finished = attendo("evaluate", model, *options, "--robustness", "--seed", "2", "--other-language", other, "--json")
    assert finished.status == 0, finished.err
    found = json.loads(finished.out)
    assert found["num_sentences"] == 2
    assert found["robustness"]["seed"] == 2
    assert found["robustness"]["effects"][0]["name"] == "upper case"
    assert found["robustness"]["effects"][0]["lines"] == 2
    assert found["robustness"]["other_language"]["origin"] == "fi.txt"
    plain = json.loads(attendo("evaluate", model, *options, "--json").out)
    assert "robustness" not in plain
    assert "float32" in plain["kernel"]


def test_figures_go_into_the_models_card(attendo: Command, small: tuple[Path, list[object]]) -> None:
    model, options = small
    finished = attendo("evaluate", model, *options, "--no-guards", "--card", "two lines")
    assert finished.status == 0, finished.err
    assert f"wrote the figures into {model / 'README.md'}" in finished.err
    card = (model / "README.md").read_text(encoding="utf-8")
    assert "### two lines\n\n2 sentences, by attendo" in card
    assert "max_len_offset 1" in card
    assert "guards.casing False" in card
    assert attendo("info", model, "--verify").status == 0


@pytest.mark.parametrize(
    ("wrong", "status", "told"),
    [
        (["--other-language", "FILE"], 2, "needs --robustness"),
        (["--card", "x", "--ensemble", "MODEL"], 2, "leave --ensemble out"),
        (["--card", "x", "--reverse", "MODEL"], 2, "leave --reverse out"),
        (["--reverse", "MODEL"], 1, "has to translate from"),
        (["--card", "a|b"], 1, "take the test set's name"),
        (["--robustness", "--other-language", "MISSING"], 1, "missing.txt: there is no such file"),
    ],
)
def test_what_does_not_go_together_is_refused_before_any_work(
    attendo: Command, small: tuple[Path, list[object]], wrong: list[str], status: int, told: str
) -> None:
    model, options = small
    names = {"MODEL": str(model), "FILE": str(model / "config.json"), "MISSING": str(model / "missing.txt")}
    finished = attendo("evaluate", model, *options, *(names.get(part, part) for part in wrong))
    assert finished.status == status
    assert told in finished.err
    assert "BLEU" not in finished.out


def test_a_parser_is_evaluated_on_a_treebank(attendo: Command, parser_folder: Path, tmp_path: Path) -> None:
    gold = trees(12, seed=21)
    (tmp_path / "gold").mkdir()
    (tmp_path / "gold" / "a.mrg").write_text("".join(f"( {tree} )\n" for tree in gold) + "(S (NN\n")
    model, output = tmp_path / "model", tmp_path / "parses.txt"
    shutil.copytree(parser_folder, model)
    asked = ["--trees", tmp_path / "gold", "-o", output]
    finished = attendo("evaluate", model, *asked, "--card", "small trees")
    assert finished.status == 0, finished.err
    assert "left out: " in finished.err
    assert "a.mrg: line 13: not closed" in finished.err
    # EVALB's own summary of these trees, as `attendo evalb` prints it.
    (tmp_path / "gold.txt").write_text("".join(f"{tree}\n" for tree in gold))
    evalb = attendo("evalb", tmp_path / "gold.txt", output).out.split("=== Summary ===\n\n")[1]
    assert finished.out.startswith(evalb)
    card = (model / "README.md").read_text(encoding="utf-8")
    assert "### small trees\n\n12 sentences from words alone, by attendo" in card
    assert "| label | in the treebank | recall | precision | F1 |\n|---|---|---|---|---|\n| NP | " in card
    assert attendo("info", model, "--verify").status == 0
    with_tags = json.loads(attendo("evaluate", model, *asked, "--input", "gold-tags", "-p", "nk", "--json").out)
    assert (with_tags["input"], with_tags["parameters"], with_tags["unread"]) == ("gold-tags", "nk", 1)
    assert with_tags["all"]["tagging_accuracy"] == 100
    assert with_tags["failures"] == {"not_parsed": 0, "tags": 0, "others": 0, "tagged": []}
    found = json.loads(attendo("evaluate", model, *asked, "--unconstrained", "--json").out)
    assert found["constrained"] is False
    assert found["malformed"]["count"] == round(12 * found["malformed"]["share"])


@pytest.mark.parametrize(
    ("given", "status", "told"),
    [
        (["--source", "x", "--reference", "x", "-p", "nk"], 2, "needs --trees"),
        (["--source", "x", "--reference", "x", "--input", "words"], 2, "needs --trees"),
        (["--trees", "x", "--source", "x"], 2, "is for translations"),
        (["--trees", "x", "--resamples", "0"], 2, "is for translations"),
        (["--source", "x"], 2, "or give --trees for a parser"),
        (["--trees", "nowhere.mrg"], 1, "nowhere.mrg: "),
        (["--trees", __file__, "--card", "a|b"], 1, "take the test set's name"),
    ],
)
def test_a_parsers_options_and_a_translators_are_kept_apart(
    attendo: Command, parser_folder: Path, given: list[str], status: int, told: str
) -> None:
    finished = attendo("evaluate", parser_folder, *given)
    assert finished.status == status
    assert told in finished.err


def test_what_is_kept_is_printed_as_a_table_and_as_json(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "s").write_text("one red dogs see 1250 of us.\n")
    (tmp_path / "r").write_text("su 1250 ees sgod der eno.\n")
    files = ["--source", tmp_path / "s", "--reference", tmp_path / "r"]
    quick = ["--beam-size", "1", "--set", "search.max_len_offset=1", "--resamples", "0"]
    text = attendo("evaluate", model_folder, *files, *quick, "--kept", "--contrastive").out
    assert "\nkept\n" in text
    assert "\ncontrastive pairs\n" in text
    found = json.loads(attendo("evaluate", model_folder, *files, *quick, "--kept", "--contrastive", "--json").out)
    assert found["kept"]["kinds"]["number"]["wanted"] == 1
    assert found["contrast"]["preferred"]["omission"]["pairs"] == 1
    neither = json.loads(attendo("evaluate", model_folder, *files, *quick, "--json").out)
    assert not {"kept", "contrast"} & set(neither)


XLIFF = (
    '<xliff version="1.2"><file source-language="en" target-language="de-AT"><body>'
    '<trans-unit id="1"><source>one <g id="1">red</g> dogs see us.</source><target>su ees sgod der eno.</target>'
    '</trans-unit><trans-unit id="2"><source>some old kings hear them.</source>'
    '<target state="final">meht raeh sgnik dlo emos.</target></trans-unit>'
    '<trans-unit id="3"><source>men</source><target state="needs-review-translation">nem</target></trans-unit>'
    '<trans-unit id="4"><source>queens</source></trans-unit></body></file></xliff>'
)


def test_a_file_of_units_is_source_and_reference(
    attendo: Command, small: tuple[Path, list[object]], tmp_path: Path
) -> None:
    model, options = small
    (tmp_path / "test.xlf").write_text(XLIFF)
    lines = attendo("evaluate", model, *options, "--json")
    found = attendo("evaluate", model, "--source", tmp_path / "test.xlf", *options[4:], "--json")
    assert found.status == 0, found.err
    assert f"{tmp_path / 'test.xlf'}: 2 pairs; left out: 1 state, 1 untranslated" in found.err
    figures = [json.loads(finished.out) for finished in (found, lines)]
    for name in ("bleu", "chrf", "perplexity", "num_sentences", "reference_tokens"):
        assert figures[0][name] == figures[1][name]


@pytest.mark.parametrize(
    ("name", "content", "status", "message"),
    [
        ("test.en", "a\n", 2, "TMX, XLIFF, PO, CSV, TSV and JSON lines (.jsonl) need none"),
        ("none.xlf", None, 1, "none.xlf: there is no such file"),
        ("test.xlf", XLIFF.replace("de-AT", "fr"), 1, "there is no pair from en to de (4 language); name a file with"),
        ("test.xlf", XLIFF[:500], 1, "test.xlf: line 1 is not well-formed XML"),
        ("test.jsonl", '{"en": "a", "de": "b"}\n{}\n', 1, "test.jsonl: line 2 cannot be used (no_json); correct it"),
        ("test.csv", "en,de\na,\udcfc\n", 1, "test.csv: line 2 is not UTF-8; convert the file"),
    ],
)
def test_a_file_without_both_sides_is_refused(
    attendo: Command, model_folder: Path, tmp_path: Path, name: str, content: str | None, status: int, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8", errors="surrogateescape")
    finished = attendo("evaluate", model_folder, "--source", tmp_path / name)
    assert finished.status == status
    assert message in " ".join(finished.err.replace("│", " ").split())
