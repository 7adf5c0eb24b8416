"""Against transformers itself: its Marian must give our forward's logits, and write what they say."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.interop.conftest import greedy

from attendo.errors import ModelError
from attendo.interop.huggingface import padding_id, to_marian
from attendo.model.batch import collate
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer

transformers = pytest.importorskip("transformers")

SOURCE = [5, 9, 30, 7, 0]
OPTIONS = [
    {},
    {"positions": "halves", "activation": "swish", "attention_bias": True, "output_bias": True},
    {"shared_embeddings": "target", "src_size": 37},
    {"shared_embeddings": "target", "src_size": 43},
    {"start": 4, "shared_embeddings": "none", "src_size": 45, "tgt_size": 41},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_the_logits_are_ours(model: Callable[..., Transformer], options: Any, tmp_path: Path) -> None:
    ours = model(**options)
    target = [3, 8, 1, 20]
    start = padding_id(ours) if ours.config.start == "zero" else ours.config.start
    marian = to_marian(ours)
    marian.save_pretrained(tmp_path)
    with torch.no_grad():
        expected = ours(collate([SOURCE], [[*target, 0]], start=ours.config.start_id))[0]
        for theirs in (marian, transformers.MarianMTModel.from_pretrained(tmp_path).eval()):
            found = theirs(input_ids=torch.tensor([SOURCE]), decoder_input_ids=torch.tensor([[start, *target]])).logits[
                0
            ]
            torch.testing.assert_close(found[:, : ours.tgt_vocab_size], expected, atol=1e-5, rtol=1e-5)
            assert (found[:, ours.tgt_vocab_size :] < -1000).all()


@pytest.mark.parametrize("options", OPTIONS)
def test_it_writes_what_our_forward_says(model: Callable[..., Transformer], options: Any) -> None:
    ours = model(**options)
    written = to_marian(ours).generate(
        torch.tensor([SOURCE]), num_beams=1, do_sample=False, min_new_tokens=6, max_new_tokens=6
    )
    assert written[0, 1:].tolist() == greedy(ours, SOURCE, 6)[0]


def test_everything_that_marian_cannot_carry_is_named() -> None:
    config = ModelConfig(
        d_model=16,
        d_ff=32,
        num_layers=1,
        num_heads=2,
        d_k=4,
        d_v=8,
        positions="learned",
        attention_function="additive",
        layer_norm_eps=1e-6,
    )
    problem = (
        'd_k = 4 is not .* = 8; positions = "learned", .*; attention_function = "additive", but Marian has scaled .*; '
        "layer_norm_eps = 1e-06, but Marian's is always 1e-05"
    )
    with pytest.raises(ModelError, match=problem):
        to_marian(Transformer(config, 10, 10))


def test_other_layers_are_refused() -> None:
    config = ModelConfig(
        d_model=16,
        d_ff=32,
        num_layers=1,
        num_heads=2,
        encoder_layer="recurrent",
        decoder_layer="restricted-self-attention",
    )
    model = Transformer(config, 10, 10)
    with pytest.raises(
        ModelError, match=r'encoder_layer = "recurrent", but Marian.*; decoder_layer = "restricted-self-attention", but'
    ):
        to_marian(model)
