"""The names and shapes of a Transformer's weights, computed from its config before anything of that size is allocated.

They are those of `Transformer.named_parameters()`, each shared matrix once.
"""

import math
from collections.abc import Iterator

from attendo.model.config import ModelConfig
from attendo.model.words import MAX_DEPTH

Shape = tuple[int, ...]


def parameter_shapes(config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int) -> dict[str, Shape]:
    """The shape of each weight, by name.

    Args:
        config: the architecture.
        src_vocab_size: ids of the source.
        tgt_vocab_size: ids of the target.
    """
    shapes: dict[str, Shape] = {"output_weight": (tgt_vocab_size, config.d_model)}
    if config.output_bias:
        shapes["output_bias"] = (tgt_vocab_size,)
    if config.shared_embeddings != "all":
        shapes["source_embedding.weight"] = (src_vocab_size, config.d_model)
    if config.shared_embeddings == "none":
        shapes["target_embedding.weight"] = (tgt_vocab_size, config.d_model)
    if config.positions == "learned":
        for side in ("source", "target"):
            shapes[f"{side}_embedding.positions.table"] = (config.max_positions, config.d_model)
    shapes.update(_word_inputs(config, tgt_vocab_size))
    for index in range(config.encoder_layers):
        shapes.update(_within(f"encoder_layers.{index}", _encoder_layer(config)))
    for index in range(config.decoder_layers):
        shapes.update(_within(f"decoder_layers.{index}", _decoder_layer(config)))
    if config.draft_tokens:
        shapes.update(_within("drafter", _drafter(config, tgt_vocab_size)))
    return shapes


def matrix_names(config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int) -> tuple[str, ...]:
    """The weights that are codes and scales in int8: embeddings, projection and the linear layers' matrices.

    Args:
        config: the architecture.
        src_vocab_size: ids of the source.
        tgt_vocab_size: ids of the target.
    """
    shapes = parameter_shapes(config, src_vocab_size, tgt_vocab_size)
    return tuple(
        name
        for name, shape in shapes.items()
        if name == "output_weight"
        or (name.endswith(".weight") and len(shape) == 2 and not name.endswith(".additive.weight"))
    )


def num_weights(config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int) -> int:
    """Counts the trained weights of a Transformer; each shared matrix counts once.

    Args:
        config: the architecture.
        src_vocab_size: ids of the source.
        tgt_vocab_size: ids of the target.
    """
    return sum(map(math.prod, parameter_shapes(config, src_vocab_size, tgt_vocab_size).values()))


Shapes = Iterator[tuple[str, Shape]]


def _within(prefix: str, shapes: Shapes) -> Shapes:
    return ((f"{prefix}.{name}", shape) for name, shape in shapes)


def _linear(name: str, outputs: int, inputs: int, *, bias: bool = True) -> Shapes:
    yield f"{name}.weight", (outputs, inputs)
    if bias:
        yield f"{name}.bias", (outputs,)


def _norm(name: str, size: int) -> Shapes:
    yield f"{name}.norm.weight", (size,)
    yield f"{name}.norm.bias", (size,)


def _feed_forward(config: ModelConfig) -> Shapes:
    yield from _linear("feed_forward.inner", config.d_ff, config.d_model)
    yield from _linear("feed_forward.outer", config.d_model, config.d_ff)
    yield from _norm("feed_forward_norm", config.d_model)


def _attention_output(name: str, config: ModelConfig) -> Shapes:
    if config.attention_function == "additive":
        yield f"{name}.additive.weight", (config.num_heads, config.key_size)
    yield from _linear(
        f"{name}.output", config.d_model, config.num_heads * config.value_size, bias=config.attention_bias
    )


def _self_attention(config: ModelConfig) -> Shapes:
    yield from _attention_output("self_attention", config)
    outputs = config.num_heads * (2 * config.key_size + config.value_size)
    yield from _linear("self_attention.query_key_value", outputs, config.d_model, bias=config.attention_bias)
    yield from _norm("self_attention_norm", config.d_model)


def _query(name: str, config: ModelConfig) -> Shapes:
    yield from _linear(f"{name}.query", config.num_heads * config.key_size, config.d_model, bias=config.attention_bias)


def _encoder_layer(config: ModelConfig) -> Shapes:
    if config.encoder_layer in ("self-attention", "restricted-self-attention"):
        yield from _self_attention(config)
    else:
        yield from _within("mixing", _mixing(config))
        yield from _norm("mixing_norm", config.d_model)
    yield from _feed_forward(config)


def _mixing(config: ModelConfig) -> Shapes:
    """Lists the parameters of an encoder layer without attention."""
    size, kernel = config.d_model, config.kernel_size
    if config.encoder_layer == "recurrent":
        for way in ("onwards", "backwards"):  # 3 gates of half the width
            yield f"{way}.weight_ih_l0", (3 * (size // 2), size)
            yield f"{way}.weight_hh_l0", (3 * (size // 2), size // 2)
            yield f"{way}.bias_ih_l0", (3 * (size // 2),)
            yield f"{way}.bias_hh_l0", (3 * (size // 2),)
    elif config.encoder_layer == "separable-convolutional":
        yield "within_channels.weight", (size, 1, kernel)
        yield from _linear("output", size, size)
    else:
        yield "convolution.weight", (size, size, kernel)
        yield "convolution.bias", (size,)


def _decoder_layer(config: ModelConfig) -> Shapes:
    yield from _self_attention(config)
    yield from _attention_output("encoder_attention", config)
    yield from _query("encoder_attention", config)
    outputs = config.num_heads * (config.key_size + config.value_size)
    yield from _linear("encoder_attention.key_value", outputs, config.d_model, bias=config.attention_bias)
    yield from _norm("encoder_attention_norm", config.d_model)
    yield from _feed_forward(config)


def _word_inputs(config: ModelConfig, tgt_vocab_size: int) -> Shapes:
    """Lists the parameters of the inputs for the next word and the parser's stack."""
    size = config.d_model
    if config.next_word:
        yield from _linear("next_word.memory", size, size, bias=False)
    if config.parser_stack:
        yield "parser_stack.depths", (MAX_DEPTH + 1, size)
        yield "parser_stack.opened", (tgt_vocab_size + 1, size)
        yield "parser_stack.completed", (tgt_vocab_size + 1, size)
        yield from _linear("parser_stack.memory", 2 * size, size, bias=False)


def _drafter(config: ModelConfig, vocab_size: int) -> Shapes:
    size = config.d_model
    yield "shortlist", (min(config.draft_vocabulary, vocab_size),)
    yield "places", (config.draft_tokens, size)
    yield from _linear("joined", size, 2 * size)
    yield from _norm("joined_norm", size)
    yield from _attention_output("attention", config)
    yield from _query("attention", config)
    yield from _norm("attention_norm", size)
    yield from _feed_forward(config)
    yield from _linear("beside", size, 2 * size)
    yield from _linear("adjustment", size, size)
