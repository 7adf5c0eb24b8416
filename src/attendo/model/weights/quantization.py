"""Matrices in int8, in plain torch: 8-bit codes and a scale per row, for the weights and their inputs.

A row of numbers is written as integers from -127 to 127, times its largest absolute value / 127. Sums of products of
such integers are exact in int32, so that a result depends neither on the order of summation nor on the machine nor on
the other rows of a batch, and is the same with the native kernels. Keys and values kept for decoding are bfloat16,
since reading them limits its speed.
"""

import copy
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attendo.model.layers import DecoderLayer
from attendo.model.transformer import Embedding, Transformer
from attendo.model.weights import parameters
from attendo.model.weights.int8_rows import LARGEST, scales_name

EXACT_TERMS = 2**24 // LARGEST**2
"""Number of products of two codes whose sum is always exact in float32, whose integers are exact up to 2^24."""


def quantize_rows(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Writes each row as codes times a scale: scale = max |row| / 127, code = round(row * (127 / max |row|)).

    Halves are rounded to even. A row of zeros has the scale 1 and codes 0, and so has one whose numbers are all below
    4e-37, where 127 / max |row| is infinite. A row that has a NaN has the scale NaN, so that it stays one.

    Args:
        weight: `(rows, columns)`, with at least one column.

    Returns:
        The codes, int8 `(rows, columns)`, and the scales, float32 `(rows,)`.
    """
    weight = weight.float()
    largest = weight.abs().amax(dim=1)
    # A number by a tensor would be its reciprocal times the number, rounded twice.
    inverse = largest.new_tensor(LARGEST) / largest
    vanishing = inverse.isinf()
    scales = (largest / LARGEST).masked_fill(vanishing, 1.0)
    codes = (weight * inverse.masked_fill(vanishing, 0.0)[:, None]).round().to(torch.int8).contiguous()
    # Torch does not define the stride of a single row; `torch._int_mm` uses it, and returns garbage if it is less than
    # a row.
    return codes.as_strided(codes.shape, (codes.shape[1], 1)), scales


def matrix_names(transformer: Transformer) -> tuple[str, ...]:
    """The parameters that are codes and scales in int8; see `parameters.matrix_names`."""
    return parameters.matrix_names(transformer.config, transformer.src_vocab_size, transformer.tgt_vocab_size)


def to_int8(weights: Mapping[str, Tensor], names: Iterable[str]) -> dict[str, Tensor]:
    """Converts weights for storage: some matrices to codes with scales, the rest unchanged.

    Args:
        weights: the weights by name, float32.
        names: the names of the matrices `(rows, columns)`.

    Raises:
        ValueError: a number of a matrix is NaN, infinite, or too large for a scale.
    """
    stored = dict(weights)
    for name in names:
        codes, scales = quantize_rows(weights[name].detach())
        if not bool((scales * LARGEST).isfinite().all()):
            raise ValueError(f"{name} has numbers that are not finite, which int8 cannot hold")
        stored[name], stored[scales_name(name)] = codes, scales
    return stored


@cache
def int8_products_are_fast() -> bool:
    """Whether this processor multiplies int8 matrices in hardware, and torch's product of them is exact.

    Without VNNI instructions torch has a plain loop, and oneDNN sums that overflow 16 bits.
    """
    if not torch.cpu._is_vnni_supported():
        return False
    extreme = torch.full((33, 256), LARGEST, dtype=torch.int8)
    return all(
        bool((torch._int_mm(extreme[:rows], extreme.t()) == LARGEST**2 * 256).all()) for rows in (1, len(extreme))
    )


class Int8Linear(nn.Module):
    """A linear layer with an int8 weight, which quantises each row of its input.

    Args:
        codes: int8 `(out_features, in_features)`, from `quantize_rows`.
        scales: float32 `(out_features,)`.
        bias: float32 `(out_features,)`, or None.
        kept_from: index of the first output that is a key or value kept for decoding; these are rounded to bfloat16.
    """

    codes: Tensor
    scales: Tensor
    bias: Tensor | None
    float_codes: Tensor | None
    """The codes in float32, if the device does not multiply int8 fast."""

    def __init__(self, codes: Tensor, scales: Tensor, bias: Tensor | None, *, kept_from: int | None = None) -> None:
        super().__init__()
        self.kept_from = len(codes) if kept_from is None else kept_from
        self.register_buffer("codes", codes)
        self.register_buffer("scales", scales)
        self.register_buffer("bias", None if bias is None else bias.detach().float().clone())
        # `torch._int_mm` treats a single column as a row.
        fast = codes.device.type == "cpu" and int8_products_are_fast() and codes.shape[1] > 1
        self.register_buffer("float_codes", None if fast else codes.float(), persistent=False)

    def forward(self, hidden: Tensor) -> Tensor:
        """`(..., in_features)` to `(..., out_features)`, float32; each row independently, bit for bit."""
        codes, scales = quantize_rows(hidden.reshape(-1, hidden.shape[-1]))
        output = self._products(codes) * (scales[:, None] * self.scales)
        if self.bias is not None:
            output += self.bias
        output[:, self.kept_from :] = output[:, self.kept_from :].bfloat16()
        return output.view(*hidden.shape[:-1], len(self.codes))

    def _products(self, codes: Tensor) -> Tensor:
        """The exact sums of products of two rows of codes, rounded once to float32, `(rows, out_features)`."""
        if self.float_codes is None and codes.device.type == "cpu":
            return torch._int_mm(codes, self.codes.t()).float()
        weights = self.codes.float() if self.float_codes is None else self.float_codes
        columns = codes.shape[1]
        # Each product is exact in float32; together they may be too large for that, but not for an integer.
        pieces = [slice(start, start + EXACT_TERMS) for start in range(0, columns, EXACT_TERMS)]
        products = [torch.matmul(codes[:, piece].float(), weights[:, piece].t()) for piece in pieces]
        return (
            products[0] if len(products) == 1 else torch.stack([product.int() for product in products]).sum(0).float()
        )

    def extra_repr(self) -> str:
        """The sizes, for `print(model)`."""
        return f"in_features={self.codes.shape[1]}, out_features={self.codes.shape[0]}, bias={self.bias is not None}"


class Int8Embedding(Embedding):
    """An embedding in int8, which looks up codes and scales."""

    codes: Tensor
    scales: Tensor

    def __init__(self, embedding: Embedding, codes: Tensor, scales: Tensor) -> None:
        nn.Module.__init__(self)  # not the parent's, which expects the matrix that is missing here
        self.scale = embedding.scale
        self.positions = copy.deepcopy(embedding.positions)
        self.dropout = copy.deepcopy(embedding.dropout)
        self.register_buffer("codes", codes)
        self.register_buffer("scales", scales)

    def look_up(self, ids: Tensor) -> Tensor:
        """The matrix' rows, float32 `(batch, length, d_model)`, of ids of the vocabulary, `(batch, length)`."""
        return F.embedding(ids, self.codes).float() * self.scales[ids].unsqueeze(-1)


class Int8Transformer(Transformer):
    """A Transformer whose matrices are all in int8; attention, norms, biases and positions stay in float32.

    Args:
        transformer: the model to copy; shared matrices stay shared.
    """

    def __init__(self, transformer: Transformer) -> None:
        nn.Module.__init__(self)  # not the parent's, which draws new weights
        self.config = transformer.config
        self.src_vocab_size, self.tgt_vocab_size = transformer.src_vocab_size, transformer.tgt_vocab_size
        source, target = transformer.source_embedding, transformer.target_embedding
        matrices = {id(weight): weight for weight in (source.weight, target.weight, transformer.output_weight)}
        rows = {key: quantize_rows(weight.detach()) for key, weight in matrices.items()}
        self.source_embedding = Int8Embedding(source, *rows[id(source.weight)])
        self.target_embedding = Int8Embedding(target, *rows[id(target.weight)])
        self.output = Int8Linear(*rows[id(transformer.output_weight)], transformer.output_bias)
        self.encoder_layers = _in_int8(transformer.encoder_layers)
        self.decoder_layers = _in_int8(transformer.decoder_layers)
        self.next_word = None if transformer.next_word is None else _in_int8(transformer.next_word)
        self.parser_stack = None if transformer.parser_stack is None else _in_int8(transformer.parser_stack)
        self.drafter = None if transformer.drafter is None else _in_int8(transformer.drafter)

    def project(self, hidden: Tensor) -> Tensor:
        """Logits `(..., tgt_vocab_size)` of the decoder's output `(..., d_model)` (Section 3.4)."""
        logits: Tensor = self.output(hidden)
        return logits


def quantized(transformer: Transformer) -> Transformer:
    """Makes an int8 copy for decoding on the same device, in evaluation mode and without gradients."""
    return Int8Transformer(transformer).eval().requires_grad_(False)


ModuleT = TypeVar("ModuleT", bound=nn.Module)


def _in_int8(layers: ModuleT) -> ModuleT:
    """A copy of a stack, or of another part, in which every linear layer is replaced."""
    kept_from: dict[int, int] = {}
    for layer in layers.children():
        if isinstance(layer, DecoderLayer):
            own = layer.self_attention
            kept_from[id(own.query_key_value)] = own.num_heads * own.d_k
            kept_from[id(layer.encoder_attention.key_value)] = 0
    replaced: dict[int, object] = {
        id(module): Int8Linear(*quantize_rows(module.weight.detach()), module.bias, kept_from=kept_from.get(id(module)))
        for module in layers.modules()
        if isinstance(module, nn.Linear)
    }
    return copy.deepcopy(layers, replaced)  # treats the given modules as already copied
