"""What a proof is made on, and how it reads."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attendo.checkpoint.model_folder import load_model
from attendo.demo.samples import phrasebook_sample
from attendo.errors import DataError
from attendo.interop.parity import Parity, ParityError
from attendo.workflow.exchange.parity_report import (
    Bleu,
    ParityReport,
    Sample,
    bleu_of,
    chosen,
    invented_sample,
    read_sample,
)

PARITY = Parity(
    ours="attendo",
    theirs="other",
    sentences=2,
    tokens=10,
    max_difference=2e-5,
    mean_difference=1e-6,
    identical=2,
    ties=0,
    our_outputs=((3, 4), (5,)),
    their_outputs=((3, 4), (5,)),
)
REPORT = ParityReport(
    what="out", origin="a file", parity=PARITY, exact=True, bleu=None, differing_texts=None, remarks=("a remark",)
)


def bleu(theirs: float) -> Bleu:
    return Bleu(ours=30.0, theirs=theirs, signature="s", by_people=True)


def test_a_proof_reads_as_lines() -> None:
    lines = REPORT.to_text().splitlines()
    assert lines[4] == "log-prob.  10 target tokens, largest difference 2.0e-05 (allowed 0.0001), in nats"
    assert lines[5] == "greedy     2 of 2 outputs identical (100.0 %)"
    assert lines[-2:] == ["note       a remark", "result     parity"]
    REPORT.check()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"parity": replace(PARITY, max_difference=2e-4)}, "log-probabilities differ by up to 0.0002"),
        ({"parity": replace(PARITY, identical=1)}, "1 greedy outputs differ"),
        ({"differing_texts": ("a text",)}, "1 texts are cut into other pieces, such as 'a text'"),
        ({"exact": False, "bleu": bleu(28.9)}, "BLEU falls by 1.10, more than 1"),
        ({"exact": False, "parity": replace(PARITY, mean_difference=0.2)}, "differ by 0.2 on the average"),
    ],
)
def test_what_is_no_parity_is_an_error(changes: dict[str, Any], problem: str) -> None:
    report = replace(REPORT, **changes)
    with pytest.raises(ParityError, match=f"^out: no parity, so nothing is kept: .*{problem}"):
        report.check()
    assert problem in report.to_text().splitlines()[-1]


def test_int8_may_cost_a_little() -> None:
    near = replace(PARITY, max_difference=0.3, identical=1, mean_difference=0.02)
    replace(REPORT, exact=False, bleu=bleu(29.1), parity=near).check()


def test_sentences_of_files(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("one\n\n two \n")
    (tmp_path / "t").write_text("eins\nx\nzwei\n")
    assert read_sample(tmp_path / "s", None).sources == ("one", " two ")
    assert read_sample(tmp_path / "s", None).references is None
    assert read_sample(tmp_path / "s", tmp_path / "t").references == ("eins", "zwei")
    (tmp_path / "t").write_text("eins\n")
    with pytest.raises(DataError, match="line"):
        read_sample(tmp_path / "s", tmp_path / "t")
    (tmp_path / "s").write_text("\n")
    with pytest.raises(DataError, match="no sentence, so nothing to compare"):
        read_sample(tmp_path / "s", None)


def test_500_sentences_that_are_not_too_long(model_folder: Path) -> None:
    model = load_model(model_folder)
    many = Sample(origin="x", sources=("one " * 300, *["one red dogs"] * 600), references=("", *["a"] * 600))
    found = chosen(lambda source, target: many, model)
    assert found.sources == ("one red dogs",) * 500
    assert found.references == ("a",) * 500
    with pytest.raises(DataError, match="x: no sentence has 256 tokens or fewer"):
        chosen(lambda source, target: Sample(origin="x", sources=("one " * 300,)), model)


def test_where_there_are_none_they_are_invented(model_folder: Path) -> None:
    model = load_model(model_folder)
    found = chosen(lambda source, target: None, model)
    assert found == invented_sample(model)
    assert len(found.sources) == len(set(found.sources)) == 500
    assert found.references is None


@pytest.mark.parametrize(
    ("source", "target", "references"),
    [("en", "de", True), ("deu", "eng", True), ("en-GB", "fr", False), ("fr", "en", None), ("", "", None)],
)
def test_the_phrasebook_has_two_languages(source: str, target: str, references: bool | None) -> None:
    found = phrasebook_sample(source, target)
    if references is None:
        assert found is None
        return
    assert found is not None
    assert len(found.sources) == 500
    assert (found.references is not None) == references
    assert any(" the " in line for line in found.sources) == source.startswith("en")


def test_bleu_without_references_is_of_one_by_the_other(model_folder: Path) -> None:
    model = load_model(model_folder)
    words = [
        tuple(model.target_tokenizer.encode(text)[:-1]) for text in ("one two three four five", "one two three four")
    ]
    parity = replace(PARITY, our_outputs=(words[0], words[0]), their_outputs=(words[0], words[1]), identical=1)
    sample = Sample(origin="x", sources=("a", "b"))
    assert bleu_of(PARITY, sample, model) is None  # there is nothing to tell
    found = bleu_of(parity, sample, model)
    assert found is not None
    assert found.ours == pytest.approx(100)
    assert 50 < found.theirs < 100
    assert "no" not in found.signature.split("|")[0]
    assert "outputs here as the reference" in found.of
    # Nobody says which of the two is right, so this is no loss; of two models for French 7 sentences of 100 differed.
    assert found.delta < -1
    replace(REPORT, exact=False, bleu=found).check()
    with pytest.raises(ParityError, match="BLEU falls by"):
        replace(REPORT, exact=False, bleu=replace(found, by_people=True)).check()
