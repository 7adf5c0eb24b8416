"""Heads cut: the same as a model whose head finds nothing, and its BLEU beside the whole model's."""

from pathlib import Path

import numpy as np
import pytest
import torch
from sacrebleu.metrics.bleu import BLEU
from torch import Tensor, nn

from attendo.checkpoint.model_folder import LoadedModel, load_model
from attendo.errors import ModelError
from attendo.model.batch import collate
from attendo.paper.heads import ablation
from attendo.paper.heads.ablation import (
    AblationRunner,
    DevSet,
    ModelOutput,
    attention_of,
    bleu_of,
    compare_cuts,
    heads_of,
    without,
)
from attendo.paper.heads.head_attention import Head

SOURCE, TARGET = [[5, 9, 30, 0], [7, 0]], [[40, 3, 0], [12, 13, 14, 0]]
DEV = DevSet(name="two", sources=("a dog", "the old house"), references=("ein Hund", "das alte Haus"))


def written(outputs: tuple[str, ...]) -> ModelOutput:
    return ModelOutput(digest="", outputs=outputs, processor_s=1.5)


@pytest.fixture(scope="module")
def model(random_model: Path) -> LoadedModel:
    return load_model(random_model)


def test_all_heads_are_there_once(model: LoadedModel) -> None:
    heads = heads_of(model.transformer)
    config = model.transformer.config
    assert len(set(heads)) == len(heads) == (config.encoder_layers + 2 * config.decoder_layers) * config.num_heads
    assert [head.kind for head in heads] == sorted((h.kind for h in heads), key=["encoder", "decoder", "cross"].index)


def test_a_cut_head_is_one_whose_context_is_zero(model: LoadedModel) -> None:
    batch = collate(SOURCE, TARGET, start=model.transformer.config.start_id)
    with torch.no_grad():
        whole = model.transformer(batch)
        for head in heads_of(model.transformer):
            attention = attention_of(model.transformer, head)

            def silence(module: nn.Module, inputs: tuple[Tensor], head: Head = head) -> tuple[Tensor]:
                joined = inputs[0].clone()  # (batch, length, num_heads * d_v)
                size = joined.shape[-1] // model.transformer.config.num_heads
                joined[..., head.head * size : (head.head + 1) * size] = 0
                return (joined,)

            hook = attention.output.register_forward_pre_hook(silence)
            silenced = model.transformer(batch)
            hook.remove()
            cut = without(model, head).transformer(batch)
            assert cut == pytest.approx(silenced, abs=1e-6), head
            assert (cut - whole).abs().max() > 1e-4, head
        assert (model.transformer(batch) == whole).all()  # which itself stays as it is


@pytest.mark.parametrize("most", [1, 3, 40])  # of n-grams: none are right, or there are none of some length
def test_bleu_of_counts_is_sacrebleus(most: int) -> None:
    generator = np.random.default_rng(most)
    totals = generator.integers(0, most + 1, size=(500, 4))
    sums = np.concatenate(
        [generator.integers(0, totals + 1), totals, generator.integers(0, most + 1, (500, 1)), np.full((500, 1), most)],
        axis=1,
    )
    expected = [
        BLEU.compute_bleu(row[:4], row[4:8], sys_len=row[8], ref_len=row[9], smooth_method="exp").score
        for row in sums.tolist()
    ]
    assert bleu_of(sums) == pytest.approx(expected)
    assert len(set(expected)) > 2


def test_bleu_is_sacrebleus_and_differences_are_paired() -> None:
    references = tuple(f"the {number} old men went to the small house by the lake" for number in range(40))
    dev = DevSet(name="forty", sources=references, references=references)
    whole = tuple(text.replace("small", "little") if n % 2 else text for n, text in enumerate(references))
    worse = tuple(text.replace("old men", "men") for text in whole)
    heads = [Head(kind="encoder", layer=0, head=number) for number in range(2)]
    found = compare_cuts(dev, "en", written(whole), [(heads[0], written(whole)), (heads[1], written(worse))])
    expected = [BLEU(trg_lang="en").corpus_score(list(each), [list(references)]).score for each in (whole, worse)]
    assert found.bleu == pytest.approx(expected[0])
    same, cut = found.cuts
    assert (same.difference, same.low, same.high, same.changed, same.is_clear) == (0.0, 0.0, 0.0, 0, False)
    assert cut.bleu == pytest.approx(expected[1])
    assert cut.difference == pytest.approx(expected[1] - expected[0])
    assert cut.low <= cut.difference <= cut.high < 0
    assert cut.is_clear
    assert cut.changed == 40
    assert "tok:13a" in found.signature
    assert found.processor_s == 4.5


def test_a_difference_in_one_sentence_is_not_clear() -> None:
    references = tuple(f"the {number} old men went to the small house by the lake" for number in range(40))
    dev = DevSet(name="forty", sources=references, references=references)
    one = ("a wholly other sentence of some words", *references[1:])
    [cut] = compare_cuts(dev, "en", written(references), [(Head(kind="cross", layer=0, head=0), written(one))]).cuts
    assert cut.difference < 0
    assert cut.high == 0.0  # in a third of the draws that sentence is missing
    assert not cut.is_clear


def test_each_head_is_cut_once_and_other_studies_are_refused(
    model: LoadedModel, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = Head(kind="cross", layer=1, head=0)
    cutting = AblationRunner(tmp_path / "cuts", model, DEV, lambda: False)
    whole, cut = cutting.whole(), cutting.cut(head)
    assert whole is not None
    assert cut is not None
    assert len(whole.outputs) == len(cut.outputs) == 2
    assert cut.processor_s > 0
    assert {path.name for path in (tmp_path / "cuts").iterdir()} == {"all-heads.json", "cross-2-1.json"}

    def again(*arguments: object) -> None:
        raise AssertionError("it is kept")

    monkeypatch.setattr(ablation, "_translate", again)
    assert AblationRunner(tmp_path / "cuts", model, DEV, lambda: False).cut(head) == cut
    other = AblationRunner(tmp_path / "cuts", load_model(model_folder), DEV, lambda: False)
    with pytest.raises(ModelError, match="is of another model or other sentences"):
        other.whole()
    (tmp_path / "cuts" / "cross-2-1.json").write_text("{", encoding="utf-8")
    with pytest.raises(AssertionError, match="it is kept"):  # a torn file is made again
        AblationRunner(tmp_path / "cuts", model, DEV, lambda: False).cut(head)
