"""Titles and sizes of modules in the paper's words, read from the modules themselves."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from attendo.diagrams.structure import Kind
from attendo.diagrams.tracing import Step
from attendo.model.attention import EncoderDecoderAttention, MultiHeadAttention
from attendo.model.layers import FeedForward
from attendo.model.mixing.convolution import Convolution, SeparableConvolution
from attendo.model.mixing.recurrent import Recurrence
from attendo.model.mixing.restricted import RestrictedSelfAttention
from attendo.model.next_word import NextWord
from attendo.model.parser_stack import ParserStack
from attendo.model.positions import LearnedPositions, SinusoidalPositions
from attendo.model.transformer import Embedding

_ACTIVATIONS = {"relu": "ReLU", "silu": "swish"}


@dataclass(frozen=True, kw_only=True)
class BlockLabel:
    """The kind and text of a block."""

    kind: Kind
    title: str
    details: tuple[str, ...] = ()


def described(step: Step, model: nn.Module) -> BlockLabel:
    """Describes a step, with the sizes of its matrices; an unknown module is titled by its class."""
    module = step.module
    match module:
        case MultiHeadAttention():
            return _attention(module, step)
        case FeedForward():
            inner, outer = module.inner, module.outer
            sizes = f"{inner.in_features:,} → {inner.out_features:,} → {outer.out_features:,}"
            details = [sizes, _activation(module.activation)]
            if module.dropout.p:
                details[1] += f", then dropout {module.dropout.p:g}"
            return BlockLabel(kind="feed-forward", title="Feed Forward", details=tuple(details))
        case Recurrence():
            size = f"two GRUs of {module.onwards.hidden_size:,}, one each way"
            return BlockLabel(kind="mixing", title="Recurrence", details=(size,))
        case Convolution():
            return _convolution(module.convolution)
        case SeparableConvolution():
            taps = f"kernel {module.within_channels.kernel_size[0]} within {module.within_channels.groups:,} channels"
            matrix = f"then {module.output.in_features:,} × {module.output.out_features:,}"
            return BlockLabel(kind="mixing", title="Separable Convolution", details=(taps, matrix))
        case LearnedPositions():
            rows, width = module.table.shape
            return BlockLabel(
                kind="positions", title="Positional Encoding", details=("learned", f"{rows:,} × {width:,}")
            )
        case SinusoidalPositions():
            order = "by turns" if module.layout == "interleaved" else "in halves"
            return BlockLabel(kind="positions", title="Positional Encoding", details=(f"sines and cosines {order}",))
        case NextWord():
            return BlockLabel(kind="told", title="Next Word", details=("its place in the memory",))
        case ParserStack():
            return BlockLabel(kind="told", title="Parser Stack", details=("depth, what is open, what is complete",))
        case nn.Module():
            return BlockLabel(kind="step", title=type(module).__name__)
    return _operation(step, model)


def _operation(step: Step, model: nn.Module) -> BlockLabel:
    weights = [model.get_parameter(name) for name in step.weights]
    if step.operation == "embedding" and isinstance(model.get_submodule(step.path), Embedding):
        title = "Input Embedding" if step.path.startswith("source") else "Output Embedding"
        rows, width = weights[0].shape
        return BlockLabel(kind="embedding", title=title, details=(f"{rows:,} × {width:,}",))
    if step.operation == "linear":
        outputs, inputs = weights[0].shape
        bias = " and a bias" if len(weights) > 1 else ""
        return BlockLabel(kind="linear", title="Linear", details=(f"{inputs:,} → {outputs:,}{bias}",))
    return BlockLabel(kind="step", title=step.operation)


def _attention(module: MultiHeadAttention, step: Step) -> BlockLabel:
    looks_back = len(step.mask_shape) > 1 and 1 < step.mask_shape[-2] == step.mask_shape[-1]
    details = [heads_text(module)]
    if isinstance(module, RestrictedSelfAttention):
        looks_back = module.ahead == 0
        seen = module.behind + 1 + module.ahead
        details.append(f"a window of {seen:,}: {module.behind:,} behind, {module.ahead:,} ahead")
    if isinstance(module, EncoderDecoderAttention):
        details.append("queries from below, keys and values from the encoder")
    if module.additive is not None:
        details.append("additive: v·tanh(q + k)")
    elif module.scale == 1:
        details.append("dot products, not scaled")
    if module.output.bias is not None:
        details.append("with biases")
    if module.dropout.p:
        details.append(f"dropout {module.dropout.p:g} of weights")
    title = "Masked Multi-Head Attention" if looks_back else "Multi-Head Attention"
    return BlockLabel(kind="attention", title=title, details=tuple(details))


def heads_text(module: MultiHeadAttention) -> str:
    """Returns h, d_k and d_v of an attention as text."""
    if module.d_k == module.d_v:
        return f"h = {module.num_heads}, d_k = d_v = {module.d_k:,}"
    return f"h = {module.num_heads}, d_k = {module.d_k:,}, d_v = {module.d_v:,}"


def _convolution(convolution: nn.Conv1d) -> BlockLabel:
    (taps,), (dilation,) = convolution.kernel_size, convolution.dilation
    details = (f"kernel {taps}, {convolution.in_channels:,} → {convolution.out_channels:,}", f"dilation {dilation:,}")
    return BlockLabel(kind="mixing", title="Convolution", details=details)


def _activation(function: Callable[..., object]) -> str:
    name = getattr(function, "__name__", "activation")
    return _ACTIVATIONS.get(name, name)
