"""The shape of a Transformer: the recipe's `model` section, with the base model of Section 3 as its defaults."""

import math
from dataclasses import dataclass
from typing import Literal

START = -1
"""The decoder's first input: no id of the vocabulary but the zero vector, as the paper's own code shifts the target."""

AttentionFunction = Literal["scaled-dot-product", "dot-product", "additive"]
"""Compatibility functions of queries and keys (Section 3.2.1)."""

MAX_D_MODEL = 1 << 16
"""A limit far beyond existing models; tables of sinusoids have hundreds of rows of this size, however small the rest
is."""
MAX_SIZE = 1 << 20
"""The most of any other width, or of learned positions."""
MAX_LAYERS = 1000
"""The most layers of a stack."""
MAX_DRAFT_TOKENS = 64
"""The most tokens that a drafter proposes at once; beyond a handful hardly one is right."""

EncoderLayerType = Literal[
    "self-attention",
    "recurrent",
    "convolutional",
    "dilated-convolutional",
    "separable-convolutional",
    "restricted-self-attention",
]
"""The layer types of Table 1, named after the part that mixes the positions."""
DecoderLayerType = Literal["self-attention", "restricted-self-attention"]
"""The layer types of a decoder."""


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The architecture; every default is the paper's base model.

    Raises:
        ValueError: a size is not positive or beyond what can be built, a probability is outside [0, 1), `num_heads`
            does not divide `d_model` where `d_k` or `d_v` is left open, or an encoder layer of another type than
            self-attention cannot be of such a size.
    """

    d_model: int = 512
    """Dimension of the embeddings and of every sub-layer's output."""
    d_ff: int = 2048
    """Inner dimension of the position-wise feed-forward network (Section 3.3)."""
    num_layers: int = 6
    """N: number of layers in the encoder and in the decoder."""
    num_encoder_layers: int | None = None
    """Number of encoder layers, if different from `num_layers`."""
    num_decoder_layers: int | None = None
    """Number of decoder layers, if different from `num_layers`."""
    encoder_layer: EncoderLayerType = "self-attention"
    """What mixes the positions in an encoder layer, one of the layer types of Table 1; residual connection,
    normalisation and feed-forward network are as always. `recurrent`: a GRU each way, of d_model / 2 each.
    `convolutional`: a convolution over `kernel_size` positions. `dilated-convolutional`: one whose taps are
    `kernel_size`^i positions apart in layer i, the lowest being 0. `separable-convolutional`: one within each of the
    d_model channels, then a matrix over the channels. `restricted-self-attention`: each position sees `window`
    positions, for long inputs."""
    decoder_layer: DecoderLayerType = "self-attention"
    """The decoder's self-attention: over all positions before, or restricted to the last `window`. The encoder-decoder
    attention sees the whole source in either."""
    kernel_size: int = 3
    """k: width of convolutions in positions, an odd number; for convolutional encoder layers only."""
    window: int = 128
    """r: positions that restricted self-attention sees in all, its own among them. In an encoder half of them lie
    behind and half ahead, where the number is even one more behind; in a decoder all lie behind."""
    num_heads: int = 8
    """h: number of attention heads (Section 3.2.2)."""
    d_k: int | None = None
    """Dimension of each head's queries and keys; default d_model / num_heads."""
    d_v: int | None = None
    """Dimension of each head's values; default d_model / num_heads."""
    attention_function: AttentionFunction = "scaled-dot-product"
    """Compatibility function of queries and keys (Section 3.2.1). `dot-product` omits the scale 1 / sqrt(d_k).
    `additive` learns v^T tanh(q + k) in each head and is several times as slow."""
    dropout: float = 0.1
    """P_drop: dropout on each sub-layer's output and on the sums of embeddings and positional encodings (Section
    5.4)."""
    attention_dropout: float = 0.0
    """Dropout of the attention weights; the paper uses none."""
    activation_dropout: float = 0.0
    """Dropout after the feed-forward network's activation; the paper uses none."""
    norm_order: Literal["post"] = "post"
    """Order of normalisation: `post` is the paper's LayerNorm(x + Dropout(Sublayer(x))), without a norm after the last
    layer."""
    positions: Literal["interleaved", "halves", "learned"] = "interleaved"
    """Positional encoding. `interleaved`: the paper's, sines and cosines alternating. `halves`: all sines, then all
    cosines, as in Marian. `learned`: a trained table (Table 3, row E)."""
    max_positions: int = 1024
    """Size of a learned positional table: the longest input or output in tokens. Sinusoids have no limit."""
    activation: Literal["relu", "swish"] = "relu"
    """Activation of the feed-forward network; OPUS-MT models use `swish`."""
    attention_bias: bool = False
    """Use biases in the attention projections; the paper uses none."""
    output_bias: bool = False
    """Add a bias to the logits; the paper has none."""
    layer_norm_eps: float = 1e-5
    """Epsilon added to the variance in layer normalisation."""
    shared_embeddings: Literal["all", "target", "none"] = "all"
    """Weight sharing. `all`: source embedding, target embedding and pre-softmax projection are one matrix (Section
    3.4). `target`: target embedding and projection. `none`: three matrices."""
    start: Literal["zero"] | int = "zero"
    """The decoder's first input: the zero vector, or a token's embedding in models imported from elsewhere."""
    next_word: bool = False
    """Give the decoder, at each position, the source word that its output has reached (Ma et al., 2017). For targets
    with one symbol for each source word, in order, such as the trees of `task = "parse"`."""
    parser_stack: bool = False
    """Give the decoder, at each position, the number of open constituents, the innermost and the last completed one,
    and where these begin. Requires `next_word`, and trees in brackets: those of `task = "parse"` with `parsing.order`
    in-order or top-down."""
    draft_tokens: int = 0
    """Number of tokens after the next one that a drafter proposes, so that greedy decoding takes fewer steps
    (docs/drafting.md); 0 for none. The drafter is trained for an existing model, given by `training.init_from`."""
    draft_vocabulary: int = 3072
    """Number of tokens a drafter can propose, the most frequent ones of its training data; scoring them takes half of
    its time."""

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
        if self.parser_stack and not self.next_word:
            problems.append("parser_stack = true goes with next_word = true; set that too, or leave both out")
        if self.positions != "learned" and self.d_model % 2:
            problems.append(f"d_model = {self.d_model} is odd, but sines and cosines come in pairs; take an even one")
        if isinstance(self.start, int) and self.start < 0:
            problems.append(f'start = {self.start} is no token id; take "zero" or an id of the vocabulary')
        if not 0 < self.layer_norm_eps <= 1:
            problems.append(f"layer_norm_eps = {self.layer_norm_eps} is not above 0 and at most 1; take 1e-5")
        problems += self._layer_problems()
        problems += self._drafter_problems()
        if problems:
            raise ValueError("; ".join(problems))

    def _layer_problems(self) -> list[str]:
        """Reports settings that the encoder's layer type does not allow."""
        problems = []
        if self.kernel_size % 2 == 0:
            problems.append(
                f"kernel_size = {self.kernel_size} is even, but a convolution sees as many positions behind as ahead; "
                f"take {self.kernel_size + 1}"
            )
        if self.encoder_layer == "recurrent" and self.d_model % 2:
            problems.append(
                f"d_model = {self.d_model} is odd, but a recurrence each way takes half of it; take an even one"
            )
        if self.encoder_layer == "dilated-convolutional" and 1 < self.kernel_size <= MAX_SIZE:
            most = int(math.log(MAX_SIZE, self.kernel_size))
            if self.encoder_layers > most:
                problems.append(
                    f"{self.encoder_layers} dilated layers of kernel_size = {self.kernel_size} see more than "
                    f"{MAX_SIZE:,} positions; take {most} or fewer"
                )
        return problems

    def _drafter_problems(self) -> list[str]:
        """Reports invalid settings of the drafter."""
        problems = []
        if not 0 <= self.draft_tokens <= MAX_DRAFT_TOKENS:
            problems.append(
                f"draft_tokens = {self.draft_tokens} is outside 0 to {MAX_DRAFT_TOKENS}; take 4, or 0 for no drafter"
            )
        if self.draft_tokens and self.decoder_layer != "self-attention":
            problems.append(
                f'draft_tokens = {self.draft_tokens} needs decoder_layer = "self-attention"; take 0 for no drafter'
            )
        if self.draft_tokens and self.next_word:
            problems.append(f"draft_tokens = {self.draft_tokens} is for text; with next_word = true take 0")
        return problems

    def _limits(self) -> list[tuple[str, int | None, int]]:
        """Keys, their values and their maxima; the least is 1."""
        sizes = ("d_ff", "num_heads", "d_k", "d_v", "max_positions", "kernel_size", "window", "draft_vocabulary")
        stacks = ("num_layers", "num_encoder_layers", "num_decoder_layers")
        most = {"d_model": MAX_D_MODEL} | dict.fromkeys(sizes, MAX_SIZE) | dict.fromkeys(stacks, MAX_LAYERS)
        return [(key, getattr(self, key), limit) for key, limit in most.items()]

    def vocabulary_problem(self, src_vocab_size: int, tgt_vocab_size: int) -> str | None:
        """Explains why the shape does not fit vocabularies of these sizes; None if it does."""
        if self.shared_embeddings != "all" or src_vocab_size == tgt_vocab_size:
            return None
        return (
            f'shared_embeddings = "all" needs one vocabulary, but the source has {src_vocab_size} entries and the '
            f'target {tgt_vocab_size}; take "target" or "none", or a joint vocabulary'
        )

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
        """Returns d_k, or its default."""
        return self.d_model // self.num_heads if self.d_k is None else self.d_k

    @property
    def value_size(self) -> int:
        """Returns d_v, or its default."""
        return self.d_model // self.num_heads if self.d_v is None else self.d_v

    @property
    def attention_scale(self) -> float:
        """Returns the factor of products of queries and keys (Equation 1); additive attention has none."""
        return 1 / math.sqrt(self.key_size) if self.attention_function == "scaled-dot-product" else 1.0

    @property
    def other_layers(self) -> tuple[str, ...]:
        """Layer types that are not the paper's, as `encoder_layer = "recurrent"`; empty for self-attention in both."""
        kinds = (("encoder_layer", self.encoder_layer), ("decoder_layer", self.decoder_layer))
        return tuple(f'{key} = "{kind}"' for key, kind in kinds if kind != "self-attention")

    @property
    def masks_targets(self) -> bool:
        """Whether the decoder's self-attention needs the causal mask; restricted to a window it does not."""
        return self.decoder_layer == "self-attention"

    @property
    def start_id(self) -> int:
        """The decoder's first input id: `START` for the zero vector, or a token's id."""
        return START if self.start == "zero" else self.start
