"""Export of a Transformer to Hugging Face as a `MarianMTModel`, the class of the OPUS-MT models.

Marian differs from the paper in two ways. Its sinusoids have all sines first and then all cosines; the paper's table
has the same columns in another order, so for a model with the paper's order every matrix that touches the residual
stream is permuted, which changes no result. And its decoder starts with the padding token, whose row of the embedding
is zero: the export adds it as a last row after the model's own vocabulary (the larger one of two), and the token can
never be written.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from attendo.checkpoint.checksums import SOURCE_SPM, TARGET_SPM
from attendo.checkpoint.model_folder import LoadedModel, ModelDescription
from attendo.errors import ModelError
from attendo.files import write_json
from attendo.model.config import ModelConfig
from attendo.model.layers import AddAndNorm, DecoderLayer, EncoderLayer
from attendo.model.transformer import Transformer
from attendo.text.subwords.tokenization import EOS_ID, Tokenizer

LAYER_NORM_EPS = 1e-5
"""Marian's epsilon of layer normalisation, which no setting changes."""
NEVER = -1e4
"""The logit of the padding token; its probability is 0 in every dtype, float16 included, and no sum becomes NaN."""
EOS, UNK, PAD = "</s>", "<unk>", "<pad>"
"""Marian's names of its control symbols."""
MAX_POSITIONS = 1024
"""Length in tokens of the longest text of an exported model."""


def to_marian(model: Transformer, *, max_positions: int = MAX_POSITIONS) -> Any:
    """Returns the same model as a `transformers.MarianMTModel`, float32, in evaluation mode.

    Args:
        model: a float32 model on the CPU.
        max_positions: length in tokens of the longest text.

    Returns:
        The model. Its vocabularies have one more entry, the padding token, which is also the decoder's start if the
        given model starts with the zero vector.

    Raises:
        ModelError: the model has something that Marian cannot represent; the message names all of it.
    """
    from transformers import MarianConfig, MarianMTModel

    _check(model.config)
    marian = MarianMTModel(MarianConfig(**_settings(model, max_positions)))
    weights = _weights(model)
    missing, unexpected = marian.load_state_dict(weights, strict=False)
    # Marian computes its sinusoids, and knows a shared matrix by several names.
    own = ("embed_positions.weight", "embed_tokens.weight", "lm_head.weight")
    assert not unexpected, unexpected
    assert all(name.endswith(own) for name in missing), missing
    marian.tie_weights()
    return marian.eval()


def padding_id(model: Transformer) -> int:
    """Returns the id of the padding token in `to_marian`'s model, which follows the ids of both sides."""
    return max(model.src_vocab_size, model.tgt_vocab_size)


def write_folder(model: LoadedModel, folder: Path) -> None:
    """Writes a model as a folder that `AutoModelForSeq2SeqLM` and `AutoTokenizer` read.

    Args:
        model: the model to write.
        folder: an existing folder.

    Raises:
        ModelError: the model has something that Marian cannot represent.
    """
    marian = to_marian(model.transformer)
    with quiet_transformers():
        marian.save_pretrained(folder)
    write_settings(model, folder)


def write_settings(model: LoadedModel, folder: Path) -> None:
    """Writes a Hugging Face folder except the weights: configuration, search settings and the tokenizer's files.

    Args:
        model: the model whose settings and tokenizers are written.
        folder: an existing folder; its `config.json` is replaced.

    Raises:
        ModelError: the model has something that Marian cannot represent, or a piece `<pad>`.
    """
    transformer = model.transformer
    _check(transformer.config)
    settings = _settings(transformer, MAX_POSITIONS)
    for name, tokenizer in ((SOURCE_SPM, model.source_tokenizer), (TARGET_SPM, model.target_tokenizer)):
        tokenizer.save(folder / name)
    sides = {"vocab.json": model.source_tokenizer, "target_vocab.json": model.target_tokenizer}
    separate = model.target_tokenizer is not model.source_tokenizer
    for name, tokenizer in sides.items() if separate else (("vocab.json", model.source_tokenizer),):
        write_json(folder / name, _vocabulary(tokenizer, padding_id(transformer)))
    description = model.description
    write_json(folder / "tokenizer_config.json", _tokenizer_settings(description, separate=separate))
    write_json(folder / "special_tokens_map.json", {"eos_token": EOS, "unk_token": UNK, "pad_token": PAD})
    write_json(folder / "config.json", {**_class_settings(), **settings})
    search = {"num_beams": 4, "length_penalty": 0.6}
    search["num_beams"] = description.search.get("beam_size", search["num_beams"])
    search["length_penalty"] = description.search.get("length_penalty", search["length_penalty"])
    ids = {key: settings[key] for key in ("decoder_start_token_id", "eos_token_id", "pad_token_id")}
    write_json(
        folder / "generation_config.json",
        {**search, **ids, "bad_words_ids": [[padding_id(transformer)]], "max_length": 512},
    )


def _vocabulary(tokenizer: Tokenizer, pad_id: int) -> dict[str, int]:
    """Returns the content of `vocab.json`: the id of each piece, including the padding token."""
    pieces = tokenizer.pieces(range(tokenizer.vocab_size))
    if PAD in pieces:
        raise ModelError(
            f"the vocabulary has a piece {PAD}, which is what Hugging Face's Marian calls its padding; clean the text "
            "of it and learn the vocabulary again"
        )
    return {**{piece: number for number, piece in enumerate(pieces)}, PAD: pad_id}


def _class_settings() -> dict[str, Any]:
    """Returns the settings that name the model's class, and those of OPUS-MT's models that other readers need."""
    return {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        "is_encoder_decoder": True,
        "normalize_before": False,
        "normalize_embedding": False,
        "add_final_layer_norm": False,
        "static_position_embeddings": True,
        "dtype": "float32",
    }


def _tokenizer_settings(description: ModelDescription, *, separate: bool) -> dict[str, Any]:
    return {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": description.source_language or None,
        "target_lang": description.target_language or None,
        "separate_vocabs": separate,
        "model_max_length": MAX_POSITIONS,
        "clean_up_tokenization_spaces": False,
    }


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Silences the progress bars and messages of transformers within a block."""
    from transformers.utils import logging

    verbosity, had_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if had_bars:
            logging.enable_progress_bar()


def start_id(model: Transformer) -> int:
    """Returns the decoder's first input in `to_marian`'s ids, where the padding token stands for the zero vector."""
    return padding_id(model) if model.config.start == "zero" else model.config.start


def obstacles(config: ModelConfig) -> list[str]:
    """Returns the properties of a model that Marian cannot represent; empty if it can represent the model."""
    problems = []
    for name, size in (("d_k", config.key_size), ("d_v", config.value_size)):
        if size * config.num_heads != config.d_model:
            problems.append(f"{name} = {size} is not d_model / num_heads = {config.d_model / config.num_heads:g}")
    if config.positions == "learned":
        problems.append('positions = "learned", but Marian has sinusoids only')
    problems += [f"{setting}, but Marian's self-attention is over all positions" for setting in config.other_layers]
    if config.attention_function != "scaled-dot-product":
        problems.append(
            f'attention_function = "{config.attention_function}", but Marian has scaled dot-product attention only'
        )
    if config.layer_norm_eps != LAYER_NORM_EPS:
        problems.append(f"layer_norm_eps = {config.layer_norm_eps:g}, but Marian's is always {LAYER_NORM_EPS:g}")
    return problems


def _check(config: ModelConfig) -> None:
    """Refuses a model that Marian cannot represent; the message names all reasons."""
    if problems := obstacles(config):
        raise ModelError(f"Hugging Face's Marian cannot represent this model: {'; '.join(problems)}")


def _settings(model: Transformer, max_positions: int) -> dict[str, Any]:
    """Returns the settings for the `config.json` of a Marian model."""
    config = model.config
    pad_id = padding_id(model)
    return {
        "vocab_size": pad_id + 1,
        "decoder_vocab_size": pad_id + 1,
        "d_model": config.d_model,
        "encoder_layers": config.encoder_layers,
        "decoder_layers": config.decoder_layers,
        "encoder_attention_heads": config.num_heads,
        "decoder_attention_heads": config.num_heads,
        "encoder_ffn_dim": config.d_ff,
        "decoder_ffn_dim": config.d_ff,
        "activation_function": config.activation,
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "activation_dropout": config.activation_dropout,
        "max_position_embeddings": max_positions,
        "scale_embedding": True,
        "share_encoder_decoder_embeddings": config.shared_embeddings == "all",
        "tie_word_embeddings": config.shared_embeddings != "none",
        "pad_token_id": pad_id,
        "eos_token_id": EOS_ID,
        "forced_eos_token_id": None,
        "decoder_start_token_id": start_id(model),
    }


def _weights(model: Transformer) -> dict[str, Tensor]:
    """Returns all tensors by their names in Marian."""
    order, rows = _residual_order(model.config), padding_id(model) + 1
    weights = {
        "model.encoder.embed_tokens.weight": _with_padding(model.source_embedding.weight, order, rows),
        "model.decoder.embed_tokens.weight": _with_padding(model.target_embedding.weight, order, rows),
        "lm_head.weight": _with_padding(model.output_weight, order, rows),
        "final_logits_bias": torch.zeros(1, rows),
    }
    if model.config.shared_embeddings == "all":
        weights["model.shared.weight"] = weights["model.encoder.embed_tokens.weight"]
    if model.output_bias is not None:
        weights["final_logits_bias"][0, : model.tgt_vocab_size] = model.output_bias.detach()
    weights["final_logits_bias"][0, model.tgt_vocab_size :] = NEVER
    for stack, layers in (("encoder", model.encoder_layers), ("decoder", model.decoder_layers)):
        for number, layer in enumerate(layers):
            assert isinstance(layer, EncoderLayer | DecoderLayer)
            weights |= {f"model.{stack}.layers.{number}.{name}": value for name, value in _layer(layer, order).items()}
    return weights


def _residual_order(config: ModelConfig) -> Tensor:
    """Returns the model's dimension for each of Marian's, int64 `(d_model,)`: sines first if they are interleaved."""
    order = torch.arange(config.d_model)
    return order if config.positions == "halves" else torch.cat((order[0::2], order[1::2]))


def _with_padding(matrix: Tensor, order: Tensor, rows: int) -> Tensor:
    """Returns a matrix `(vocab_size, d_model)` in Marian's order of dimensions, padded with zeros to `rows` rows."""
    return torch.cat((matrix.detach()[:, order], torch.zeros(rows - len(matrix), len(order))))


def _layer(layer: EncoderLayer | DecoderLayer, order: Tensor) -> dict[str, Tensor]:
    """Returns a layer's tensors by their names within the layer."""
    own = layer.self_attention
    weights = _reading(("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"), own.query_key_value, order)
    weights |= _writing("self_attn.out_proj", own.output, order)
    weights |= _norm("self_attn_layer_norm", layer.self_attention_norm, order)
    if isinstance(layer, DecoderLayer):
        across = layer.encoder_attention
        weights |= _reading(("encoder_attn.q_proj",), across.query, order)
        weights |= _reading(("encoder_attn.k_proj", "encoder_attn.v_proj"), across.key_value, order)
        weights |= _writing("encoder_attn.out_proj", across.output, order)
        weights |= _norm("encoder_attn_layer_norm", layer.encoder_attention_norm, order)
    weights |= _reading(("fc1",), layer.feed_forward.inner, order)
    weights |= _writing("fc2", layer.feed_forward.outer, order)
    return weights | _norm("final_layer_norm", layer.feed_forward_norm, order)


def _reading(names: tuple[str, ...], linear: nn.Linear, order: Tensor) -> dict[str, Tensor]:
    """Returns linear layers that read the residual stream, from one matrix in which they are stacked."""
    matrices = linear.weight.detach()[:, order].chunk(len(names))
    biases = _bias(linear).chunk(len(names))
    weights = {f"{name}.weight": matrix for name, matrix in zip(names, matrices, strict=True)}
    return weights | {f"{name}.bias": bias for name, bias in zip(names, biases, strict=True)}


def _writing(name: str, linear: nn.Linear, order: Tensor) -> dict[str, Tensor]:
    """Returns a linear layer whose output is added to the residual stream."""
    return {f"{name}.weight": linear.weight.detach()[order], f"{name}.bias": _bias(linear)[order]}


def _norm(name: str, norm: AddAndNorm, order: Tensor) -> dict[str, Tensor]:
    weight, bias = norm.norm.weight.detach(), norm.norm.bias.detach()
    return {f"{name}.weight": weight[order], f"{name}.bias": bias[order]}


def _bias(linear: nn.Linear) -> Tensor:
    """Returns the bias of a layer; zeros if it has none, as all of Marian's layers have one."""
    return torch.zeros(linear.out_features) if linear.bias is None else linear.bias.detach()
