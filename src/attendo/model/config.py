"""The shape of a Transformer: the recipe's `model` section, with the base model of Section 3 as its defaults."""

from dataclasses import dataclass
from typing import Literal

START = -1
"""The decoder's first input: no id of the vocabulary but the zero vector, as the paper's own code shifts the target."""

MAX_D_MODEL = 1 << 16
"""Far beyond every model there is; tables of sinusoids are some hundred rows of it, whatever else is small."""
MAX_SIZE = 1 << 20
"""The most of any other width, or of learned positions."""
MAX_LAYERS = 1000
"""The most layers of a stack."""


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The architecture; every default is the paper's base model.

    Raises:
        ValueError: a size is not positive or beyond what can be built, a probability is outside [0, 1), or `num_heads`
            does not divide `d_model` where `d_k` or `d_v` is left open.
    """

    d_model: int = 512
    """Width of every sub-layer's output and of the embeddings."""
    d_ff: int = 2048
    """Width inside the position-wise feed-forward network (Section 3.3)."""
    num_layers: int = 6
    """N: layers of each stack."""
    num_encoder_layers: int | None = None
    """Layers of the encoder alone, where it differs from `num_layers`."""
    num_decoder_layers: int | None = None
    """Layers of the decoder alone, where it differs from `num_layers`."""
    num_heads: int = 8
    """h: heads of each attention (Section 3.2.2)."""
    d_k: int | None = None
    """Width of a head's queries and keys; left open, d_model / num_heads."""
    d_v: int | None = None
    """Width of a head's values; left open, d_model / num_heads."""
    dropout: float = 0.1
    """P_drop: on each sub-layer's output and on the sums of embeddings and positions (Section 5.4)."""
    attention_dropout: float = 0.0
    """Dropout of the attention weights; the paper has none."""
    activation_dropout: float = 0.0
    """Dropout after the feed-forward network's activation; the paper has none."""
    norm_order: Literal["post"] = "post"
    """LayerNorm(x + Dropout(Sublayer(x))), the paper's order; no norm after the last layer."""
    positions: Literal["interleaved", "halves", "learned"] = "interleaved"
    """`interleaved`: the paper's sines and cosines by turns. `halves`: all sines, then all cosines, as Marian has them.
    `learned`: a trained table (Table 3, row E)."""
    max_positions: int = 1024
    """Rows of a learned table: the longest text it can read or write, in tokens; sinusoids have no limit."""
    activation: Literal["relu", "swish"] = "relu"
    """The feed-forward network's activation; `swish` is what OPUS-MT models have."""
    attention_bias: bool = False
    """Biases in the projections of the attention; the paper has none."""
    output_bias: bool = False
    """A bias for the logits; the paper has none."""
    layer_norm_eps: float = 1e-5
    """Added to the variance in each layer normalisation."""
    shared_embeddings: Literal["all", "target", "none"] = "all"
    """`all`: source, target and pre-softmax projection are one matrix (Section 3.4). `target`: target and projection.
    `none`: three matrices."""
    start: Literal["zero"] | int = "zero"
    """The decoder's first input: the zero vector, or a token's embedding in models imported from elsewhere."""

    def __post_init__(self) -> None:
        """Refuses shapes that cannot be built, all problems at once."""
        problems = [
            f"{key} = {value} is " + ("too small; take 1 or more" if value < 1 else f"too large; take {most} or less")
            for key, value, most in self._limits()
            if value is not None and not 1 <= value <= most
        ]
        for key in ("dropout", "attention_dropout", "activation_dropout"):
            if not 0 <= getattr(self, key) < 1:
                problems.append(f"{key} = {getattr(self, key)} is no probability below 1; take one such as 0.1")
        is_open = self.d_k is None or self.d_v is None
        if is_open and self.num_heads > 0 and self.d_model > 0 and self.d_model % self.num_heads:
            fitting = ", ".join(str(h) for h in range(1, min(self.d_model, 64) + 1) if self.d_model % h == 0)
            problems.append(
                f"num_heads = {self.num_heads} does not divide d_model = {self.d_model}; "
                f"take one of {fitting}, or set d_k and d_v"
            )
        if self.positions != "learned" and self.d_model % 2:
            problems.append(f"d_model = {self.d_model} is odd, but sines and cosines come in pairs; take an even one")
        if isinstance(self.start, int) and self.start < 0:
            problems.append(f'start = {self.start} is no token id; take "zero" or an id of the vocabulary')
        if not 0 < self.layer_norm_eps <= 1:
            problems.append(f"layer_norm_eps = {self.layer_norm_eps} is not above 0 and at most 1; take 1e-5")
        if problems:
            raise ValueError("; ".join(problems))

    def _limits(self) -> list[tuple[str, int | None, int]]:
        """Keys, their values and the most that each may be; the least is 1."""
        sizes = ("d_ff", "num_heads", "d_k", "d_v", "max_positions")
        stacks = ("num_layers", "num_encoder_layers", "num_decoder_layers")
        most = {"d_model": MAX_D_MODEL} | dict.fromkeys(sizes, MAX_SIZE) | dict.fromkeys(stacks, MAX_LAYERS)
        return [(key, getattr(self, key), limit) for key, limit in most.items()]

    @property
    def encoder_layers(self) -> int:
        """Layers of the encoder."""
        return self.num_layers if self.num_encoder_layers is None else self.num_encoder_layers

    @property
    def decoder_layers(self) -> int:
        """Layers of the decoder."""
        return self.num_layers if self.num_decoder_layers is None else self.num_decoder_layers

    @property
    def key_size(self) -> int:
        """d_k, worked out where it was left open."""
        return self.d_model // self.num_heads if self.d_k is None else self.d_k

    @property
    def value_size(self) -> int:
        """d_v, worked out where it was left open."""
        return self.d_model // self.num_heads if self.d_v is None else self.d_v

    @property
    def start_id(self) -> int:
        """The decoder's first input id: `START` for the zero vector, or a token's id."""
        return START if self.start == "zero" else self.start
