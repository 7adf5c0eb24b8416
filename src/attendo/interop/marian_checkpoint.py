"""Marian checkpoints as Hugging Face has them, the OPUS-MT models among them, as a Transformer of ours.

Their ids are those of `vocab.json`, in an order of their own. Ours are the same tokens with `</s>` and `<unk>` first
and without the padding token, which is the decoder's start: mostly a row of zeros, and then our start is the zero
vector. A start with weights stays a token, behind the others. Last come pieces that text is cut into but `vocab.json`
does not have: copies of `<unk>`, which is what they mean there. Neither of the two is ever written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from attendo.errors import ModelError
from attendo.interop.huggingface import NEVER
from attendo.interop.marian_files import (
    ACTIVATIONS,
    Weights,
    check_settings,
    read_bytes,
    read_card,
    read_json,
    read_vocabulary,
    read_weights,
    shown,
)
from attendo.interop.pieces import EOS, PAD, SPACE, UNK, is_language_code, renumbered, unnumbered
from attendo.model.config import ModelConfig
from attendo.model.layers import AddAndNorm, DecoderLayer, EncoderLayer
from attendo.model.positions import sinusoids
from attendo.model.transformer import Transformer
from attendo.model.weights.parameters import num_weights
from attendo.text.subwords.tokenization import Tokenizer


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """One side's tokens, and which of theirs each is."""

    names: tuple[str, ...]
    """The piece of each of our ids."""
    their_ids: tuple[int, ...]
    """Their id of each of ours."""
    num_writable: int
    """Ids below it can be written; those from it on are the start and copies of `<unk>`."""


@dataclass(frozen=True, kw_only=True)
class ImportedModel:
    """A checkpoint as ours."""

    transformer: Transformer
    """In evaluation mode, float32."""
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    """The same object where one file serves both sides."""
    source: Vocabulary
    target: Vocabulary
    source_language: str
    target_language: str
    search: dict[str, Any]
    """What its own settings say of searching, in our keys."""
    card: str
    """Its `README.md`, empty where it has none."""


def read_marian(folder: Path) -> ImportedModel:
    """Reads a checkpoint folder. Nothing in it is executed: weights are read as tensors and nothing else.

    Args:
        folder: with `config.json`, `model.safetensors` or `pytorch_model.bin`, `vocab.json`, `source.spm` and
            `target.spm`; with `target_vocab.json` where the vocabularies are separate.

    Raises:
        ModelError: a file is missing or torn, or the model has something that ours cannot be; all of it is named.
    """
    settings = read_json(folder / "config.json")
    check_settings(settings, folder)
    weights = read_weights(folder)
    tokenizer_settings = read_json(folder / "tokenizer_config.json", needed=False)
    embeddings = _embeddings(settings, weights, folder)
    start = _start(settings, embeddings[1], folder)
    source, target, files = _vocabularies(folder, bool(tokenizer_settings.get("separate_vocabs")), start)
    try:
        transformer = _transformer(settings, weights, embeddings, source, target, start=start)
    except (ModelError, ValueError, TypeError, IndexError, RuntimeError) as error:  # tensors of other shapes than meant
        raise ModelError(f"{folder}: {(str(error).splitlines() or [''])[0][:500]}") from error
    tokenizers = [Tokenizer(content, str(folder / name)) for name, content in files.items()]
    generation = read_json(folder / "generation_config.json", needed=False)
    return ImportedModel(
        transformer=transformer.eval(),
        source_tokenizer=tokenizers[0],
        target_tokenizer=tokenizers[0] if tokenizers[0].serialized == tokenizers[1].serialized else tokenizers[1],
        source=source,
        target=target,
        source_language=str(tokenizer_settings.get("source_lang") or ""),
        target_language=str(tokenizer_settings.get("target_lang") or ""),
        search={
            "beam_size": _beams(generation) or settings.get("num_beams") or 4,
            "max_source_tokens": (settings.get("max_position_embeddings") or 512) - 1,
        },
        card=read_card(folder),
    )


def _beams(generation: Mapping[str, Any]) -> int | None:
    beams = generation.get("num_beams")
    return beams if isinstance(beams, int) else None


def _embeddings(settings: Mapping[str, Any], weights: Weights, folder: Path) -> tuple[Tensor, Tensor, Tensor]:
    """The matrices of source, target and pre-softmax projection, `(their vocab_size, d_model)`; equal ones are one."""
    shared = weights.get("model.shared.weight")
    source = weights.get("model.encoder.embed_tokens.weight", shared)
    target = weights.get("model.decoder.embed_tokens.weight", shared)
    if settings.get("share_encoder_decoder_embeddings", True) and shared is not None:
        source = target = shared
    if source is None or target is None:
        raise ModelError(f"{folder}: the weights have no embeddings; this is no whole Marian checkpoint")
    output = target if settings.get("tie_word_embeddings", True) else weights.get("lm_head.weight", target)
    if source.shape == target.shape and torch.equal(source, target):
        source = target
    if output.shape == target.shape and torch.equal(output, target):
        output = target
    return source, target, output


def _start(settings: Mapping[str, Any], target: Tensor, folder: Path) -> int | None:
    """Their id of the decoder's first input; None where its row is zeros, and so our zero vector."""
    start = settings.get("decoder_start_token_id", settings.get("pad_token_id"))
    if not isinstance(start, int) or not 0 <= start < len(target):
        raise ModelError(f"{folder / 'config.json'}: decoder_start_token_id is {shown(start)}, no id of {len(target)}")
    return start if bool(target[start].any()) else None


def _vocabularies(folder: Path, separate: bool, start: int | None) -> tuple[Vocabulary, Vocabulary, dict[str, bytes]]:
    """Both sides' tokens, and their SentencePiece files in our order by their names.

    Args:
        folder: the checkpoint.
        separate: whether each side has a vocabulary of its own.
        start: their id of the decoder's start where it is a token with weights.
    """
    contents = {name: read_bytes(folder / name) for name in ("source.spm", "target.spm")}
    source_names = read_vocabulary(folder / "vocab.json")
    target_names = read_vocabulary(folder / "target_vocab.json") if separate else source_names
    try:
        missing = unnumbered(contents["source.spm"], list(source_names))
        if not separate:  # one numbering: the start and the copies have their places on both sides
            source = target = _vocabulary(source_names, start, missing)
        else:
            source, target = _vocabulary(source_names, None, missing), _vocabulary(target_names, start, [])
        files = {
            "source.spm": renumbered(contents["source.spm"], source.names),
            # A target scored from text must consist of what can be written.
            "target.spm": renumbered(contents["target.spm"], target.names, unused=target.names[target.num_writable :]),
        }
    except ModelError as error:
        raise ModelError(f"{folder}: source.spm or target.spm: {error}") from error
    return source, target, files


def _vocabulary(their_ids: Mapping[str, int], start: int | None, missing: Sequence[str]) -> Vocabulary:
    kept = sorted((number, name) for name, number in their_ids.items() if name not in (EOS, UNK, PAD))
    # A code stands before a text, and so behind the space that SentencePiece puts there.
    names = [EOS, UNK, *(SPACE + name if is_language_code(name) else name for _, name in kept)]
    ids = [their_ids[EOS], their_ids[UNK], *(number for number, _ in kept)]
    if start is not None and start not in ids:
        names, ids = [*names, PAD], [*ids, start]
        writable = len(ids) - 1
    else:
        writable = len(ids)
    return Vocabulary(
        names=(*names, *missing), their_ids=(*ids, *[their_ids[UNK]] * len(missing)), num_writable=writable
    )


def _transformer(
    settings: Mapping[str, Any],
    weights: Weights,
    embeddings: tuple[Tensor, Tensor, Tensor],
    source: Vocabulary,
    target: Vocabulary,
    *,
    start: int | None,
) -> Transformer:
    matrices = [_rows(matrix, side) for matrix, side in zip(embeddings, (source, target, target), strict=True)]
    bias = _rows(weights.get("final_logits_bias", torch.zeros(1, len(embeddings[2])))[0], target)
    bias[target.num_writable :] = NEVER
    shared: Literal["all", "target", "none"] = "none"
    if embeddings[1] is embeddings[2]:
        shared = "all" if embeddings[0] is embeddings[1] and source is target else "target"
    config = replace(
        _config(settings, weights),
        output_bias=bool(bias.any()),
        shared_embeddings=shared,
        start="zero" if start is None else target.their_ids.index(start),
    )
    claimed, there = num_weights(config, len(source.names), len(target.names)), sum(map(Tensor.numel, weights.values()))
    if claimed > 2 * there + bias.numel():
        raise ModelError(f"config.json describes a model of {claimed:,} weights, but there are {there:,}")
    transformer = Transformer(config, len(source.names), len(target.names))
    with torch.no_grad():
        for parameter, value in zip(_embedding_parameters(transformer), matrices, strict=True):
            parameter.copy_(value)
        if transformer.output_bias is not None:
            transformer.output_bias.copy_(bias)
        _fill(transformer, weights)
    return transformer


def _config(settings: Mapping[str, Any], weights: Weights) -> ModelConfig:
    """The architecture, but for what the vocabulary decides."""
    biases = [
        value for name, value in weights.items() if "attn" in name and name.endswith(".bias") and "norm" not in name
    ]
    return ModelConfig(
        d_model=settings["d_model"],
        d_ff=settings["encoder_ffn_dim"],
        num_layers=settings["encoder_layers"],
        num_decoder_layers=settings["decoder_layers"],
        num_heads=settings["encoder_attention_heads"],
        dropout=settings.get("dropout", 0.1),
        attention_dropout=settings.get("attention_dropout", 0.0),
        activation_dropout=settings.get("activation_dropout", 0.0),
        positions="halves",
        activation=ACTIVATIONS[settings["activation_function"]],
        attention_bias=any(bool(value.any()) for value in biases),
    )


def _rows(matrix: Tensor, side: Vocabulary) -> Tensor:
    """A matrix' rows in the order of our ids; one-dimensional for a bias."""
    if max(side.their_ids) >= len(matrix):
        raise ModelError(f"the vocabulary has the id {max(side.their_ids)}, the weights {len(matrix)} rows")
    return matrix[list(side.their_ids)]


def _embedding_parameters(model: Transformer) -> tuple[nn.Parameter, nn.Parameter, nn.Parameter]:
    return model.source_embedding.weight, model.target_embedding.weight, model.output_weight


def _fill(model: Transformer, weights: Weights) -> None:
    """Copies the layers, and looks that nothing is there which ours would leave out."""
    for stack, layers in (("encoder", model.encoder_layers), ("decoder", model.decoder_layers)):
        table = weights.get(f"model.{stack}.embed_positions.weight")
        if table is not None and not torch.allclose(table, sinusoids(len(table), table.shape[1], "halves"), atol=1e-3):
            raise ModelError(f"model.{stack}.embed_positions.weight is not Marian's table of sinusoids")
        for number, layer in enumerate(layers):
            assert isinstance(layer, EncoderLayer | DecoderLayer)
            _Layer(weights, f"model.{stack}.layers.{number}").fill(layer)


class _Layer:
    """Copies one layer's tensors.

    Args:
        weights: all of the checkpoint's.
        prefix: the layer's name there.
    """

    def __init__(self, weights: Weights, prefix: str) -> None:
        self._weights, self._prefix = weights, prefix

    def fill(self, layer: EncoderLayer | DecoderLayer) -> None:
        """Copies everything.

        Raises:
            ModelError: a tensor is missing or of another shape.
        """
        own = layer.self_attention
        self._linear(own.query_key_value, "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")
        self._linear(own.output, "self_attn.out_proj")
        self._norm(layer.self_attention_norm, "self_attn_layer_norm")
        if isinstance(layer, DecoderLayer):
            across = layer.encoder_attention
            self._linear(across.query, "encoder_attn.q_proj")
            self._linear(across.key_value, "encoder_attn.k_proj", "encoder_attn.v_proj")
            self._linear(across.output, "encoder_attn.out_proj")
            self._norm(layer.encoder_attention_norm, "encoder_attn_layer_norm")
        self._linear(layer.feed_forward.inner, "fc1")
        self._linear(layer.feed_forward.outer, "fc2")
        self._norm(layer.feed_forward_norm, "final_layer_norm")

    def _linear(self, linear: nn.Linear, *names: str) -> None:
        """Several matrices go one above the other."""
        self._copy(linear.weight, *(f"{name}.weight" for name in names))
        if linear.bias is not None:
            self._copy(linear.bias, *(f"{name}.bias" for name in names))

    def _norm(self, norm: AddAndNorm, name: str) -> None:
        self._copy(norm.norm.weight, f"{name}.weight")
        self._copy(norm.norm.bias, f"{name}.bias")

    def _copy(self, parameter: Tensor, *names: str) -> None:
        full = [f"{self._prefix}.{name}" for name in names]
        if missing := [name for name in full if name not in self._weights]:
            raise ModelError(f"the checkpoint has no {', '.join(missing)}; its config.json is of another model")
        value = torch.cat([self._weights[name] for name in full])
        if value.shape != parameter.shape:
            raise ModelError(
                f"{', '.join(full)}: is {tuple(value.shape)}, not {tuple(parameter.shape)}; its config.json "
                "is of another model"
            )
        parameter.copy_(value)
