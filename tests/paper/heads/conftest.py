"""Attention that nobody's model has: all heads alike, but for what a test plants."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from attendo.attention_maps.weights import AttentionMap
from attendo.checkpoint.model_folder import ModelDescription
from attendo.checkpoint.saving import save_model
from attendo.checkpoint.weights import named_weights
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.paper.heads.head_attention import CorpusAttention, SentenceAttention
from attendo.paper.heads.sentences import anaphor_pairs, dependency_pairs
from attendo.synthetic.annotated.markup import Pair
from attendo.text.subwords.learning import learn_tokenizer
from attendo.text.subwords.tokenization import TokenizerConfig

LAYERS, HEADS = 2, 3
PLANTED = (1, 2)
"""Layer and head."""

Plant = Callable[[SentenceAttention], NDArray[np.float64]]
"""A head's weights in the source, `(src_len, src_len)`."""
MakeLooks = Callable[..., CorpusAttention]


def look_of(pair: Pair) -> SentenceAttention:
    """A sentence in which every head looks at everything that it may see."""
    source, target = pair.sides("en")
    src_len, tgt_len = len(source.words) + 1, len(target.words) + 1
    shape = (LAYERS, HEADS)
    causal = np.tril(np.ones((tgt_len, tgt_len)))
    words = AttentionMap(
        source=(*source.words, "</s>"),
        target=(*target.words, "</s>"),
        encoder=np.full((*shape, src_len, src_len), 1 / src_len, dtype=np.float32),
        decoder=np.broadcast_to(causal / causal.sum(axis=1, keepdims=True), (*shape, tgt_len, tgt_len)).astype(
            np.float32
        ),
        cross=np.full((*shape, tgt_len, src_len), 1 / src_len, dtype=np.float32),
        unit="words",
    )
    return SentenceAttention(pair=pair, source=source, target=target, words=words)


@pytest.fixture
def make_looks() -> MakeLooks:
    """Sentences, with one encoder head planted."""

    def make(pairs: tuple[Pair, ...], plant: Plant | None = None) -> CorpusAttention:
        looks = [look_of(pair) for pair in pairs]
        for look in looks:
            if plant is not None:
                assert look.words.encoder is not None
                look.words.encoder[PLANTED] = plant(look)
        return CorpusAttention(all=tuple(looks), skipped=0)

    return make


@pytest.fixture(scope="session")
def random_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder with random weights, whose vocabulary is that of the sentences."""
    folder = tmp_path_factory.mktemp("heads")
    pairs = (*dependency_pairs(48, 1), *anaphor_pairs(48, 1))
    text = [side.text for pair in pairs for side in (pair.english, pair.german)]
    tokenizer = learn_tokenizer(text, TokenizerConfig(vocab_size=500), folder / "500.spm")
    torch.manual_seed(1)
    config = ModelConfig(d_model=16, d_ff=32, num_layers=2, num_heads=2)
    transformer = Transformer(config, tokenizer.vocab_size, tokenizer.vocab_size)
    description = ModelDescription(
        source_language="en",
        target_language="de",
        src_vocab_size=tokenizer.vocab_size,
        tgt_vocab_size=tokenizer.vocab_size,
        model=config,
        search={"max_len_offset": 5},
        training={},
    )
    save_model(folder / "model", description, named_weights(transformer), tokenizer, tokenizer, "# Random\n")
    return folder / "model"
