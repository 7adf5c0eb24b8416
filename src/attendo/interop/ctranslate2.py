"""Export of a Transformer to CTranslate2: its specification, saved as a folder that a `Translator` reads."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from attendo.checkpoint.checksums import SOURCE_SPM, TARGET_SPM
from attendo.checkpoint.model_folder import LoadedModel
from attendo.errors import ModelError
from attendo.model.attention import EncoderDecoderAttention, SelfAttention
from attendo.model.config import ModelConfig
from attendo.model.layers import AddAndNorm, DecoderLayer, EncoderLayer, FeedForward
from attendo.model.positions import LearnedPositions, sinusoids
from attendo.model.transformer import Embedding, Transformer
from attendo.text.subwords.tokenization import Tokenizer

EOS, UNK = "</s>", "<unk>"
"""Names of the tokens with ids 0 and 1."""
Quantization = Literal["float32", "int8"]
"""Number type of an exported model's matrices."""


def to_spec(
    model: Transformer, *, source_tokens: Sequence[str], target_tokens: Sequence[str], max_positions: int = 1024
) -> Any:
    """Returns a Transformer's weights in a `ctranslate2.specs.TransformerSpec`, validated and not yet quantised.

    Args:
        model: a float32 model on the CPU.
        source_tokens: the token of each source id, all distinct, including `</s>` and `<unk>`.
        target_tokens: the token of each target id, all distinct, including `</s>` and `<unk>`; equal to `source_tokens`
            if the vocabulary is joint.
        max_positions: number of rows of the table of sinusoids, which is the longest text in tokens. Without a table
            CTranslate2 would build its own, by another formula and from position 1 on. A learned table is used
            unchanged.

    Returns:
        The specification. CTranslate2 adds the source's `</s>`, so callers pass only the pieces.

    Raises:
        ModelError: the model has something that CTranslate2 cannot represent; the message names all of it.
    """
    from ctranslate2.specs.common_spec import Activation
    from ctranslate2.specs.transformer_spec import TransformerSpec

    config = model.config
    _check(config)
    activation = {"relu": Activation.RELU, "swish": Activation.SWISH}[config.activation]
    layers = (config.encoder_layers, config.decoder_layers)
    spec = TransformerSpec.from_config(layers, config.num_heads, pre_norm=False, activation=activation)
    _set_embedding(spec.encoder, spec.encoder.embeddings[0], model.source_embedding, max_positions)
    _set_embedding(spec.decoder, spec.decoder.embeddings, model.target_embedding, max_positions)
    for stack, its_layers in ((spec.encoder, model.encoder_layers), (spec.decoder, model.decoder_layers)):
        for layer_spec, layer in zip(stack.layer, its_layers, strict=True):
            assert isinstance(layer, EncoderLayer | DecoderLayer)
            _set_layer(layer_spec, layer)
    spec.decoder.projection.weight = _array(model.output_weight)
    if model.output_bias is not None:
        spec.decoder.projection.bias = _array(model.output_bias)
    spec.decoder.start_from_zero_embedding = config.start == "zero"
    _set_vocabulary(spec, config, source_tokens, target_tokens)
    spec.validate()
    return spec


def save(spec: Any, folder: Path, *, quantization: str | None = None) -> None:
    """Writes a specification as a CTranslate2 model.

    Args:
        spec: the specification from `to_spec`; it is modified and must not be saved again.
        folder: the folder to write, created if it is missing.
        quantization: a number type such as `int8`; None keeps float32.
    """
    spec.optimize(quantization=quantization)
    folder.mkdir(parents=True, exist_ok=True)
    spec.save(str(folder))


def write_folder(model: LoadedModel, folder: Path, *, quantization: Quantization = "float32") -> None:
    """Writes a model as a folder that `ctranslate2.Translator` reads, including its SentencePiece files.

    Args:
        model: the model to write.
        folder: the folder to write, created if it is missing.
        quantization: number type of the matrices.

    Raises:
        ModelError: the model has something that CTranslate2 cannot represent.
    """
    source, target = vocabulary(model.source_tokenizer), vocabulary(model.target_tokenizer)
    spec = to_spec(model.transformer, source_tokens=source, target_tokens=target)
    save(spec, folder, quantization=None if quantization == "float32" else quantization)
    model.source_tokenizer.save(folder / SOURCE_SPM)
    if model.target_tokenizer is not model.source_tokenizer:
        model.target_tokenizer.save(folder / TARGET_SPM)


def vocabulary(tokenizer: Tokenizer) -> list[str]:
    """Returns the piece of each id."""
    return tokenizer.pieces(range(tokenizer.vocab_size))


class CTranslate2Runtime:
    """CTranslate2 as an `interop.parity.Runtime`, which takes and returns ids.

    Args:
        folder: a folder from `write_folder`.
        source_tokens: the token of each source id.
        target_tokens: the token of each target id.
        threads: number of processor threads.
        quantization: number type to compute in.
    """

    def __init__(
        self,
        folder: Path,
        source_tokens: Sequence[str],
        target_tokens: Sequence[str],
        *,
        threads: int,
        quantization: Quantization = "float32",
    ) -> None:
        import ctranslate2

        self._translator = ctranslate2.Translator(
            str(folder), device="cpu", compute_type=quantization, inter_threads=1, intra_threads=threads
        )
        self.name = f"CTranslate2 {ctranslate2.__version__} ({self._translator.compute_type})"
        self._source_tokens, self._target_tokens = source_tokens, target_tokens
        self._target_ids = {token: number for number, token in enumerate(target_tokens)}

    def token_log_probs(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        """Scores targets with CTranslate2's `score_batch`, which adds each `</s>` itself; see `Runtime`."""
        scored = self._translator.score_batch(
            self._without_eos(sources, self._source_tokens),
            self._without_eos(targets, self._target_tokens),
            max_input_length=0,
        )
        return [list(result.log_probs) for result in scored]

    def greedy(self, sources: Sequence[Sequence[int]], max_len: int) -> list[list[int]]:
        """Translates with CTranslate2's `translate_batch` and a beam of 1; see `Runtime`."""
        translated = self._translator.translate_batch(
            self._without_eos(sources, self._source_tokens),
            beam_size=1,
            max_input_length=0,
            min_decoding_length=0,
            max_decoding_length=max_len,
        )
        return [[self._target_ids[token] for token in result.hypotheses[0]] for result in translated]

    @staticmethod
    def _without_eos(rows: Sequence[Sequence[int]], tokens: Sequence[str]) -> list[list[str]]:
        return [[tokens[number] for number in ids[:-1]] for ids in rows]


def _check(config: ModelConfig) -> None:
    """Refuses other attention, and heads whose widths do not add up to d_model, from which CTranslate2 derives them."""
    problems = [
        f"{setting}: CTranslate2 has self-attention over all positions only; take a model that has it"
        for setting in config.other_layers
    ]
    if config.attention_function != "scaled-dot-product":
        problems.append(
            f'attention_function = "{config.attention_function}": CTranslate2 has scaled dot-product attention only; '
            "take a model that has it, or export to ONNX"
        )
    sizes = {"d_k": config.key_size, "d_v": config.value_size}
    odd = [f"{name} = {size}" for name, size in sizes.items() if size * config.num_heads != config.d_model]
    if odd:
        problems.append(
            f"{' and '.join(odd)}: CTranslate2 has only heads of the width d_model / num_heads = "
            f"{config.d_model / config.num_heads:g}; take a model with such heads"
        )
    if problems:
        raise ModelError("; ".join(problems))


def _set_embedding(stack: Any, spec: Any, embedding: Embedding, max_positions: int) -> None:
    spec.weight = _array(embedding.weight)
    stack.scale_embeddings = math.sqrt(embedding.weight.shape[1])
    positions = embedding.positions
    if isinstance(positions, LearnedPositions):
        stack.position_encodings.encodings = _array(positions.table)
    else:
        stack.position_encodings.encodings = _array(sinusoids(max_positions, positions.d_model, positions.layout))


def _set_layer(spec: Any, layer: EncoderLayer | DecoderLayer) -> None:
    _set_attention(spec.self_attention, layer.self_attention, layer.self_attention_norm)
    if isinstance(layer, DecoderLayer):
        _set_attention(spec.attention, layer.encoder_attention, layer.encoder_attention_norm)
    _set_feed_forward(spec.ffn, layer.feed_forward, layer.feed_forward_norm)


def _set_attention(spec: Any, attention: SelfAttention | EncoderDecoderAttention, norm: AddAndNorm) -> None:
    """Copies attention weights, whose matrices CTranslate2 fuses as attendo does: QKV, or Q alone and KV."""
    if isinstance(attention, SelfAttention):
        matrices = [attention.query_key_value, attention.output]
    else:
        matrices = [attention.query, attention.key_value, attention.output]
    for linear_spec, linear in zip(spec.linear, matrices, strict=True):
        _set_linear(linear_spec, linear)
    _set_norm(spec.layer_norm, norm)


def _set_feed_forward(spec: Any, feed_forward: FeedForward, norm: AddAndNorm) -> None:
    _set_linear(spec.linear_0, feed_forward.inner)
    _set_linear(spec.linear_1, feed_forward.outer)
    _set_norm(spec.layer_norm, norm)


def _set_linear(spec: Any, linear: nn.Linear) -> None:
    spec.weight = _array(linear.weight)
    if linear.bias is not None:
        spec.bias = _array(linear.bias)


def _set_norm(spec: Any, norm: AddAndNorm) -> None:
    spec.gamma, spec.beta = _array(norm.norm.weight), _array(norm.norm.bias)


def _set_vocabulary(spec: Any, config: ModelConfig, source: Sequence[str], target: Sequence[str]) -> None:
    spec.register_source_vocabulary(list(source))
    spec.register_target_vocabulary(list(target))
    spec.config.add_source_eos = True
    spec.config.bos_token = spec.config.eos_token = EOS
    spec.config.unk_token = UNK
    # If decoding starts with the zero vector, the start token is not used, but it has to be in the vocabulary.
    spec.config.decoder_start_token = EOS if config.start == "zero" else target[config.start_id]
    spec.config.layer_norm_epsilon = config.layer_norm_eps


def _array(tensor: Tensor) -> npt.NDArray[np.float32]:
    # A copy: quantisation scales the arrays of a specification in place.
    return tensor.detach().to(torch.float32, copy=True).contiguous().numpy()
