"""Import of Hugging Face's Marian checkpoints, such as the OPUS-MT models, as a Transformer of attendo.

Marian's ids are those of `vocab.json`, in an order of its own. Attendo's ids are the same tokens with `</s>` and
`<unk>` first and without the padding token, which is the decoder's start: usually its row is zero, and then attendo's
start is the zero vector. A start with weights stays a token, after the others. Last come pieces that text is split into
but that `vocab.json` lacks: copies of `<unk>`, as which Marian treats them. Neither of these two kinds is ever written.
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
    """The tokens of one side, with their ids in Marian."""

    names: tuple[str, ...]
    """The piece of each of attendo's ids."""
    their_ids: tuple[int, ...]
    """Marian's id of each of attendo's ids."""
    num_writable: int
    """Number of ids that can be written; those from it on are the start and copies of `<unk>`."""


@dataclass(frozen=True, kw_only=True)
class ImportedModel:
    """A checkpoint as a model of attendo."""

    transformer: Transformer
    """The model, in evaluation mode, float32."""
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    """The target's tokenizer; the same object as the source's if their files are equal."""
    source: Vocabulary
    target: Vocabulary
    source_language: str
    target_language: str
    search: dict[str, Any]
    """Search settings of the checkpoint, by attendo's keys."""
    card: str
    """The checkpoint's `README.md`; empty if it has none."""


def read_marian(folder: Path) -> ImportedModel:
    """Reads a checkpoint folder without executing anything in it: weights are only read as plain tensors.

    Args:
        folder: a folder with `config.json`, `model.safetensors` or `pytorch_model.bin`, `vocab.json`, `source.spm` and
            `target.spm`, and with `target_vocab.json` if the vocabularies are separate.

    Raises:
        ModelError: a file is missing or torn, or the model has something that attendo's Transformer lacks.
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
    except (ModelError, ValueError, TypeError, IndexError, RuntimeError) as error:  # tensors of unexpected shapes
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
    """Returns the source, target and output matrices, `(Marian's vocab_size, d_model)`; equal ones are one object."""
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
    """Returns Marian's id of the decoder's first input; None if its row is zero, and so attendo's zero vector."""
    start = settings.get("decoder_start_token_id", settings.get("pad_token_id"))
    if not isinstance(start, int) or not 0 <= start < len(target):
        raise ModelError(f"{folder / 'config.json'}: decoder_start_token_id is {shown(start)}, no id of {len(target)}")
    return start if bool(target[start].any()) else None


def _vocabularies(folder: Path, separate: bool, start: int | None) -> tuple[Vocabulary, Vocabulary, dict[str, bytes]]:
    """Returns the tokens of both sides, and by name their SentencePiece files in attendo's order of ids.

    Args:
        folder: the folder of the checkpoint.
        separate: whether each side has a vocabulary of its own.
        start: Marian's id of the decoder's start if it is a token with weights, else None.
    """
    contents = {name: read_bytes(folder / name) for name in ("source.spm", "target.spm")}
    source_names = read_vocabulary(folder / "vocab.json")
    target_names = read_vocabulary(folder / "target_vocab.json") if separate else source_names
    try:
        missing = unnumbered(contents["source.spm"], list(source_names))
        if not separate:  # with common ids, the start and the copies are on both sides
            source = target = _vocabulary(source_names, start, missing)
        else:
            source, target = _vocabulary(source_names, None, missing), _vocabulary(target_names, start, [])
        files = {
            "source.spm": renumbered(contents["source.spm"], source.names),
            # A target that is scored from text must consist of tokens that can be written.
            "target.spm": renumbered(contents["target.spm"], target.names, unused=target.names[target.num_writable :]),
        }
    except ModelError as error:
        raise ModelError(f"{folder}: source.spm or target.spm: {error}") from error
    return source, target, files


def _vocabulary(their_ids: Mapping[str, int], start: int | None, missing: Sequence[str]) -> Vocabulary:
    kept = sorted((number, name) for name, number in their_ids.items() if name not in (EOS, UNK, PAD))
    # A language code comes at the start of a text, and therefore after the space that SentencePiece inserts there.
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
    claimed, available = (
        num_weights(config, len(source.names), len(target.names)),
        sum(map(Tensor.numel, weights.values())),
    )
    if claimed > 2 * available + bias.numel():
        raise ModelError(f"config.json describes a model of {claimed:,} weights, but there are {available:,}")
    transformer = Transformer(config, len(source.names), len(target.names))
    with torch.no_grad():
        for parameter, value in zip(_embedding_parameters(transformer), matrices, strict=True):
            parameter.copy_(value)
        if transformer.output_bias is not None:
            transformer.output_bias.copy_(bias)
        _fill(transformer, weights)
    return transformer


def _config(settings: Mapping[str, Any], weights: Weights) -> ModelConfig:
    """Returns the architecture, without the settings that depend on the vocabulary."""
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
    """Returns the rows of a matrix, or the entries of a bias, in the order of attendo's ids."""
    if max(side.their_ids) >= len(matrix):
        raise ModelError(f"the vocabulary has the id {max(side.their_ids)}, the weights {len(matrix)} rows")
    return matrix[list(side.their_ids)]


def _embedding_parameters(model: Transformer) -> tuple[nn.Parameter, nn.Parameter, nn.Parameter]:
    return model.source_embedding.weight, model.target_embedding.weight, model.output_weight


def _fill(model: Transformer, weights: Weights) -> None:
    """Copies the layers, and refuses tables of positions other than Marian's sinusoids, which would be lost."""
    for stack, layers in (("encoder", model.encoder_layers), ("decoder", model.decoder_layers)):
        table = weights.get(f"model.{stack}.embed_positions.weight")
        if table is not None and not torch.allclose(table, sinusoids(len(table), table.shape[1], "halves"), atol=1e-3):
            raise ModelError(f"model.{stack}.embed_positions.weight is not Marian's table of sinusoids")
        for number, layer in enumerate(layers):
            assert isinstance(layer, EncoderLayer | DecoderLayer)
            _Layer(weights, f"model.{stack}.layers.{number}").fill(layer)


class _Layer:
    """Copies the tensors of one layer.

    Args:
        weights: all weights of the checkpoint.
        prefix: prefix of the layer's names in the checkpoint.
    """

    def __init__(self, weights: Weights, prefix: str) -> None:
        self._weights, self._prefix = weights, prefix

    def fill(self, layer: EncoderLayer | DecoderLayer) -> None:
        """Copies all tensors of the layer.

        Raises:
            ModelError: a tensor is missing or has another shape.
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
        """Copies a linear layer; several matrices are stacked."""
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
