"""Against CTranslate2 itself: it must write what our forward says, with the same log-probability."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.interop.conftest import greedy, log_prob

from attendo.errors import ModelError
from attendo.interop.ctranslate2 import save, to_spec
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer

ctranslate2 = pytest.importorskip("ctranslate2")

SOURCES = [[5, 9, 30, 7], [2, 33], [11]]
LENGTH = 6


def tokens(size: int) -> list[str]:
    return ["</s>", "<unk>", *(f"t{number}" for number in range(2, size))]


def translate(model: Transformer, folder: Path, quantization: str | None = None) -> list[tuple[list[int], float]]:
    """What CTranslate2 writes, and its mean log-probability a token times their number."""
    source, target = tokens(model.src_vocab_size), tokens(model.tgt_vocab_size)
    save(to_spec(model, source_tokens=source, target_tokens=target), folder, quantization=quantization)
    translator = ctranslate2.Translator(str(folder), device="cpu", inter_threads=1, intra_threads=1)
    results = translator.translate_batch(
        [[source[number] for number in ids] for ids in SOURCES],
        beam_size=1,
        min_decoding_length=LENGTH,
        max_decoding_length=LENGTH,
        return_scores=True,
        length_penalty=0,
    )
    return [([target.index(token) for token in result.hypotheses[0]], result.scores[0]) for result in results]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"positions": "halves", "activation": "swish", "attention_bias": True, "output_bias": True},
        {"positions": "learned", "layer_norm_eps": 1e-3, "shared_embeddings": "target", "src_size": 37},
        {"start": 4, "shared_embeddings": "none", "src_size": 45, "tgt_size": 41},
    ],
)
def test_it_writes_what_our_forward_says(model: Callable[..., Transformer], options: Any, tmp_path: Path) -> None:
    ours = model(**options)
    for (ids, found), source in zip(translate(ours, tmp_path), SOURCES, strict=True):
        expected, expected_log_prob = greedy(ours, [*source, 0], LENGTH)
        assert ids == expected
        assert found == pytest.approx(expected_log_prob, abs=1e-4)


def test_the_test_has_something_to_tell(model: Callable[..., Transformer]) -> None:
    written = [tuple(greedy(model(), [*source, 0], LENGTH)[0]) for source in SOURCES]
    assert len(set(written)) == len(SOURCES)


def test_int8_is_near(model: Callable[..., Transformer], tmp_path: Path) -> None:
    ours = model(d_model=64, d_ff=64)
    for (ids, found), source in zip(translate(ours, tmp_path, "int8"), SOURCES, strict=True):
        expected = log_prob(ours, [*source, 0], ids)
        assert found != pytest.approx(expected, abs=1e-4)
        assert found == pytest.approx(expected, abs=0.5)


def test_heads_of_another_width_are_refused() -> None:
    odd = Transformer(ModelConfig(d_model=16, d_ff=32, num_layers=1, num_heads=2, d_k=4, d_v=5), 10, 10)
    with pytest.raises(ModelError, match=r"d_k = 4 and d_v = 5: CTranslate2 has only heads of the width .* = 8"):
        to_spec(odd, source_tokens=tokens(10), target_tokens=tokens(10))


def test_other_attention_is_refused() -> None:
    config = ModelConfig(d_model=16, d_ff=32, num_layers=1, num_heads=2, attention_function="dot-product", d_v=5)
    with pytest.raises(ModelError, match=r'attention_function = "dot-product": CTranslate2 has scaled .*; d_v = 5: CT'):
        to_spec(Transformer(config, 10, 10), source_tokens=tokens(10), target_tokens=tokens(10))


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
        ModelError,
        match=r'encoder_layer = "recurrent": CTranslate2 has .*; decoder_layer = "restricted-self-attention": CT',
    ):
        to_spec(model, source_tokens=tokens(10), target_tokens=tokens(10))
