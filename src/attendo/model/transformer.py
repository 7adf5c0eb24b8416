"""The Transformer (Section 3, Figure 1): ids and masks in, logits out."""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attendo.model.attention import KeysValues
from attendo.model.batch import Batch, causal_mask
from attendo.model.cache import DecoderCache, extend
from attendo.model.config import ModelConfig
from attendo.model.drafter import CANDIDATES, Drafter
from attendo.model.dropout import Dropout
from attendo.model.layers import DecoderLayer, EncoderLayer, encoder_layer
from attendo.model.next_word import NextWord
from attendo.model.parser_stack import ParserStack
from attendo.model.positions import LearnedPositions, SinusoidalPositions
from attendo.model.weights.arrays import ModelArrays


@dataclass(frozen=True, kw_only=True)
class AttentionWeights:
    """The attention weights of every head and layer, for one batch."""

    encoder: Tensor
    """`(num_layers, batch, num_heads, src_len, src_len)`; of no layer where the encoder's do not attend."""
    decoder: Tensor
    """`(num_layers, batch, num_heads, tgt_len, tgt_len)`."""
    encoder_decoder: Tensor
    """`(num_layers, batch, num_heads, tgt_len, src_len)`."""


class Embedding(nn.Module):
    """Token embeddings times sqrt(d_model), plus positions, then dropout (Sections 3.4, 3.5 and 5.4)."""

    def __init__(self, config: ModelConfig, weight: nn.Parameter) -> None:
        super().__init__()
        self.weight = weight
        self.scale = math.sqrt(config.d_model)
        self.positions: SinusoidalPositions | LearnedPositions = (
            LearnedPositions(config.d_model, config.max_positions)
            if config.positions == "learned"
            else SinusoidalPositions(config.d_model, config.positions)
        )
        self.dropout = Dropout(config.dropout)

    def forward(self, ids: Tensor, first: int = 0) -> Tensor:
        """Computes the first layer's input.

        Args:
            ids: int64 `(batch, length)`; `START` is the zero vector.
            first: the position of the first column.

        Returns:
            `(batch, length, d_model)`.
        """
        embedded = self.scaled(ids)
        summed: Tensor = self.dropout(embedded + self.positions(first, ids.shape[1]).to(embedded))
        return summed

    def scaled(self, ids: Tensor) -> Tensor:
        """Embeddings times sqrt(d_model), `(..., d_model)`, of ids, `START` among them, `(...)`."""
        return self.look_up(ids.clamp(min=0)) * self.scale * (ids >= 0).unsqueeze(-1)

    def look_up(self, ids: Tensor) -> Tensor:
        """The matrix' rows, `(batch, length, d_model)`, of ids of the vocabulary, `(batch, length)`."""
        return F.embedding(ids, self.weight)


class Transformer(nn.Module):
    """The encoder-decoder of Section 3.

    Args:
        config: the architecture.
        src_vocab_size: ids of the source.
        tgt_vocab_size: ids of the target.

    Raises:
        ValueError: `shared_embeddings = "all"` with two vocabularies of different size.
    """

    def __init__(self, config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int) -> None:
        super().__init__()
        if problem := config.vocabulary_problem(src_vocab_size, tgt_vocab_size):
            raise ValueError(problem)
        self.config = config
        self.src_vocab_size, self.tgt_vocab_size = src_vocab_size, tgt_vocab_size
        source, target, output = _embedding_matrices(config, src_vocab_size, tgt_vocab_size)
        self.source_embedding = Embedding(config, source)
        self.target_embedding = Embedding(config, target)
        self.output_weight = output
        self.output_bias = nn.Parameter(torch.zeros(tgt_vocab_size)) if config.output_bias else None
        self.next_word = NextWord(config, src_vocab_size, tgt_vocab_size) if config.next_word else None
        self.parser_stack = ParserStack(config, tgt_vocab_size) if config.parser_stack else None
        self.encoder_layers = nn.ModuleList(encoder_layer(config, index) for index in range(config.encoder_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.drafter = Drafter(config, tgt_vocab_size) if config.draft_tokens else None
        _initialise_stack(self.encoder_layers, sub_layers=2 * config.encoder_layers)
        _initialise_stack(self.decoder_layers, sub_layers=3 * config.decoder_layers)

    @property
    def num_parameters(self) -> int:
        """Number of trained weights; each shared matrix counts once."""
        return sum(parameter.numel() for parameter in self.parameters())

    @property
    def device(self) -> torch.device:
        """The device of its weights."""
        return next(self.encoder_layers.parameters()).device

    def arrays(self) -> ModelArrays | None:
        """The weights as arrays over the same memory; None if they are not float32 in main memory."""
        weights = dict(self.named_parameters())
        if any(weight.dtype != torch.float32 or weight.device.type != "cpu" for weight in weights.values()):
            return None
        stack, sizes = self.parser_stack, (self.src_vocab_size, self.tgt_vocab_size)
        words = self.next_word.tables(None if stack is None else stack.kinds) if self.next_word is not None else None
        return ModelArrays(
            self.config, *sizes, {name: weight.detach().numpy() for name, weight in weights.items()}, words
        )

    def encode(self, src_ids: Tensor, src_mask: Tensor | None) -> Tensor:
        """Reads the source.

        Args:
            src_ids: int64 `(batch, src_len)`, each sentence with its `</s>`.
            src_mask: boolean `(batch, 1, 1, src_len)`, True at tokens; None without padding.

        Returns:
            The memory, `(batch, src_len, d_model)`.
        """
        hidden: Tensor = self.source_embedding(src_ids)
        for layer in self.encoder_layers:
            hidden = layer(hidden, src_mask)
        return hidden

    def decode(
        self,
        tgt_in_ids: Tensor,
        tgt_mask: Tensor | None,
        memory: Tensor,
        src_mask: Tensor | None,
        words: Tensor | None = None,
    ) -> Tensor:
        """Reads a whole target, each position seeing those before it.

        Args:
            tgt_in_ids: int64 `(batch, tgt_len)`, the start first.
            tgt_mask: boolean `(1, 1, tgt_len, tgt_len)`; not needed where self-attention is restricted.
            memory: `(batch, src_len, d_model)`.
            src_mask: boolean `(batch, 1, 1, src_len)`, or None.
            words: the result of `words`.

        Returns:
            The last layer's output, `(batch, tgt_len, d_model)`; `project` makes logits of it.
        """
        hidden = self._read_target(tgt_in_ids, words)
        for layer in self._decoder():
            hidden = layer(hidden, tgt_mask, layer.encoder_attention.look_at(memory), src_mask)
        return hidden

    def words(self, memory: Tensor, src_ids: Tensor) -> Tensor | None:
        """Computes the decoder's possible inputs for each source word; None for a model without them.

        Args:
            memory: `(batch, src_len, d_model)`.
            src_ids: int64 `(batch, src_len)`.

        Returns:
            `(batch, src_len, told, d_model)`: as the next word, then as the first word of the stack's top.
        """
        if self.next_word is None:
            return None
        inputs: Tensor = self.next_word.memory(memory)
        if self.parser_stack is not None:
            inputs = torch.cat((inputs, self.parser_stack.memory(memory)), dim=2)
        inputs = self.next_word.by_word(inputs, src_ids)
        return inputs.view(*src_ids.shape, -1, self.config.d_model)

    def _read_target(self, tgt_in_ids: Tensor, words: Tensor | None) -> Tensor:
        """Computes the input of the decoder's first layer, `(batch, tgt_len, d_model)`."""
        return self._with_word_inputs(self.target_embedding(tgt_in_ids), words, tgt_in_ids)

    def _with_word_inputs(self, hidden: Tensor, words: Tensor | None, read_ids: Tensor | None) -> Tensor:
        """Adds the next word and the parser's stack to the input of the decoder's first layer.

        Args:
            hidden: the tokens, `(rows, positions, d_model)`.
            words: the result of `words`, one row per sentence.
            read_ids: int64 `(rows, length)`, these tokens and all before them.
        """
        if self.next_word is None:
            return hidden
        assert words is not None
        assert read_ids is not None
        hidden = hidden + self.next_word(words[:, :, :1], read_ids, hidden.shape[1])
        if self.parser_stack is not None:
            hidden = hidden + self.parser_stack(words[:, :, 1:], read_ids, hidden.shape[1])
        return hidden

    def project(self, hidden: Tensor) -> Tensor:
        """Logits `(..., tgt_vocab_size)` of the decoder's output `(..., d_model)` (Section 3.4)."""
        return F.linear(hidden, self.output_weight, self.output_bias)

    def hidden(self, batch: Batch) -> Tensor:
        """The decoder's output for every target position of a batch, `(batch, tgt_len, d_model)`."""
        memory = self.encode(batch.src_ids, batch.src_mask)
        words = self.words(memory, batch.src_ids)
        return self.decode(batch.tgt_in_ids, batch.tgt_mask, memory, batch.src_mask, words)

    def forward(self, batch: Batch) -> Tensor:
        """Logits for every target position of a batch, `(batch, tgt_len, tgt_vocab_size)`."""
        return self.project(self.hidden(batch))

    def start_cache(self, memory: Tensor, src_mask: Tensor | None, words: Tensor | None = None) -> DecoderCache:
        """An empty cache over a memory `(batch, src_len, d_model)` and the result of `words`, one row per sentence."""
        layers = self._decoder()
        return DecoderCache(
            length=0,
            rows_per_sentence=1,
            memory=tuple(layer.encoder_attention.look_at(memory) for layer in layers),
            src_mask=src_mask,
            written=(None,) * len(layers),
            words=words,
        )

    def step(self, tgt_in_ids: Tensor, cache: DecoderCache) -> tuple[Tensor, DecoderCache]:
        """Decodes one position, with the same result as `forward`.

        Args:
            tgt_in_ids: int64 `(rows,)`, each hypothesis' last token, or the start.
            cache: the cache of the earlier steps.

        Returns:
            Logits, `(rows, tgt_vocab_size)`, and the cache with one more position.
        """
        hidden, cache = self.extend(tgt_in_ids[:, None], cache)
        return self.project(hidden.squeeze(1)), cache

    def extend(self, tgt_in_ids: Tensor, cache: DecoderCache) -> tuple[Tensor, DecoderCache]:
        """Decodes positions, with the same results as `decode`.

        Args:
            tgt_in_ids: int64 `(rows, new)`: for each hypothesis the tokens before the new positions. More than one
                requires a single hypothesis per sentence, and self-attention over all positions.
            cache: the cache of the earlier steps.

        Returns:
            The last layer's output, `(rows, new, d_model)`, and the cache with the new positions.
        """
        positions = tgt_in_ids.shape[1]
        assert positions == 1 or (cache.rows_per_sentence == 1 and self.config.masks_targets)
        hidden = self.target_embedding(tgt_in_ids, cache.length)
        read_ids = cache.read_ids
        if cache.words is not None:
            read_ids = tgt_in_ids if read_ids is None else torch.cat((read_ids, tgt_in_ids), dim=1)
        hidden = self._with_word_inputs(hidden, cache.words, read_ids)
        mask = None if positions == 1 else causal_mask(cache.length + positions, hidden.device)[:, :, cache.length :]
        # A sentence's hypotheses are several queries to one memory: (sentences, rows_per_sentence, d_model).
        separate_shape, joined_shape = hidden.shape, (-1, cache.rows_per_sentence * positions, self.config.d_model)
        written: list[KeysValues | None] = []
        for layer, seen, past in zip(self._decoder(), cache.memory, cache.written, strict=True):
            query, new = layer.self_attention.project(hidden)
            present = new if past is None else extend(layer.self_attention.still_seen(past), new)
            written.append(present)
            looked = layer.self_attention.attend(query, present, mask)
            hidden = layer.self_attention_norm(hidden, looked).view(joined_shape)
            hidden = layer.after_self_attention(hidden, seen, cache.src_mask).view(separate_shape)
        length = cache.length + positions
        return hidden, replace(cache, length=length, written=tuple(written), read_ids=read_ids)

    def draft(self, hidden: Tensor, next_ids: Tensor, seen: KeysValues, src_mask: Tensor | None) -> Tensor:
        """Computes the drafter's output for positions and the tokens that follow them.

        Args:
            hidden: the last layer's output, `(batch, length, d_model)`.
            next_ids: int64 `(batch, length)`, the token that follows each position. Before the first position there is
                the zero vector, which the start follows.
            seen: the memory's keys and values for the last layer.
            src_mask: boolean `(batch, 1, 1, src_len)`, or None.

        Returns:
            `(batch, length, draft_tokens, d_model)`; `propose` makes tokens of it.
        """
        assert self.drafter is not None
        drafted: Tensor = self.drafter(hidden, self.target_embedding.scaled(next_ids).to(hidden), seen, src_mask)
        return drafted

    def adjusted(self, drafted: Tensor, before_ids: Tensor) -> Tensor:
        """States of proposals `(..., d_model)`, made to go with the tokens before them, int64 `(...)`."""
        assert self.drafter is not None
        return self.drafter.adjusted(drafted, self.target_embedding.scaled(before_ids).to(drafted))

    def propose(self, drafted: Tensor) -> Tensor:
        """The proposed tokens, one after the other.

        Args:
            drafted: the drafter's output at one position, `(draft_tokens, d_model)`.

        Returns:
            int64 `(draft_tokens,)`: of the shortlist the most probable first one, and of the most probable of each
            further one that which goes best with the one before.
        """
        assert self.drafter is not None
        ids = self.drafter.ids
        candidates = self.project(drafted)[:, ids].topk(min(CANDIDATES, len(ids)), dim=1).indices
        found = [ids[candidates[0, 0]]]
        for state, places in zip(drafted[1:], candidates[1:], strict=True):
            logits = self.project(self.adjusted(state, found[-1]))[ids[places]]
            found.append(ids[places[logits.argmax()]])
        return torch.stack(found)

    def attention(self, batch: Batch) -> AttentionWeights:
        """Computes the attention of every head and layer for a batch (Figures 3-5)."""
        encoder, decoder, encoder_decoder = [], [], []
        memory: Tensor = self.source_embedding(batch.src_ids)
        for layer in self.encoder_layers:
            if isinstance(layer, EncoderLayer):
                encoder.append(layer.self_attention.weights(*layer.self_attention.project(memory), batch.src_mask))
            memory = layer(memory, batch.src_mask)
        hidden = self._read_target(batch.tgt_in_ids, self.words(memory, batch.src_ids))
        for decoder_layer in self._decoder():
            own, seen = decoder_layer.self_attention, decoder_layer.encoder_attention.look_at(memory)
            decoder.append(own.weights(*own.project(hidden), batch.tgt_mask))
            middle = decoder_layer.self_attention_norm(hidden, own(hidden, batch.tgt_mask))
            encoder_decoder.append(decoder_layer.encoder_attention.look(middle, seen, batch.src_mask))
            hidden = decoder_layer.after_self_attention(middle, seen, batch.src_mask)
        cross = torch.stack(encoder_decoder)
        none = cross.new_empty(0, *cross.shape[1:3], cross.shape[-1], cross.shape[-1])
        return AttentionWeights(
            encoder=torch.stack(encoder) if encoder else none, decoder=torch.stack(decoder), encoder_decoder=cross
        )

    def encoder_decoder_attention(self, batch: Batch, layer: int) -> Tensor:
        """Computes the encoder-decoder attention of one decoder layer, without the rest of `attention`.

        Args:
            batch: the pairs.
            layer: the layer's number, from 1, the lowest.

        Returns:
            `(batch, num_heads, tgt_len, src_len)`; 0 at the source's padding.
        """
        memory = self.encode(batch.src_ids, batch.src_mask)
        hidden = self._read_target(batch.tgt_in_ids, self.words(memory, batch.src_ids))
        *below, last = self._decoder()[:layer]
        for each in below:
            hidden = each(hidden, batch.tgt_mask, each.encoder_attention.look_at(memory), batch.src_mask)
        middle = last.self_attention_norm(hidden, last.self_attention(hidden, batch.tgt_mask))
        return last.encoder_attention.look(middle, last.encoder_attention.look_at(memory), batch.src_mask)

    def _decoder(self) -> list[DecoderLayer]:
        return [layer for layer in self.decoder_layers if isinstance(layer, DecoderLayer)]


def _embedding_matrices(config: ModelConfig, src_size: int, tgt_size: int) -> tuple[nn.Parameter, ...]:
    """Source, target and pre-softmax matrices, `(vocab_size, d_model)` each: one, two or three (Section 3.4)."""

    def matrix(size: int) -> nn.Parameter:
        # Times sqrt(d_model) an entry has variance 1, the size of a position's sines; as logits they have it too.
        drawn = torch.randn(size, config.d_model)
        # A skeleton needs no scaling, for which torch would import its compiler, which takes seconds.
        return nn.Parameter(drawn if drawn.is_meta else drawn * config.d_model**-0.5)

    target = matrix(tgt_size)
    source = target if config.shared_embeddings == "all" else matrix(src_size)
    output = matrix(tgt_size) if config.shared_embeddings == "none" else target
    return source, target, output


def _initialise_stack(layers: nn.ModuleList, sub_layers: int) -> None:
    """Initialises a stack's matrices by Glorot's uniform rule, smaller for those that end a sub-layer; biases are 0.

    The paper does not specify the initialisation. With Glorot's rule alone every sub-layer adds as much as its input,
    much of it the same for all positions: the positions of a new base encoder are similar (mean cosine 0.96), and under
    strong dropout training makes them equal permanently, so the decoder never learns where to attend. Divided by the
    square root of the number of sub-layers, all sub-layers together add as much as the input (cosine 0.29).

    Args:
        layers: the layers of one stack.
        sub_layers: number of residual connections that the signal passes in it.
    """
    for name, parameter in layers.named_parameters():
        owner, kind = name.split(".")[-2:]
        if parameter.dim() > 1:
            # Matrices that share a product are drawn as separate matrices, and so are those of a recurrence's gates.
            pieces = {"query_key_value": 3, "key_value": 2, "onwards": 3, "backwards": 3, "additive": len(parameter)}
            outputs = 1.0 if owner == "within_channels" else len(parameter) / pieces.get(owner, 1)
            taps = parameter[0, 0].numel()  # of a convolution; 1 of a matrix
            bound = math.sqrt(6 / (taps * (outputs + parameter.shape[1])))
            if owner in ("output", "outer", "convolution"):
                bound /= math.sqrt(sub_layers)
            nn.init.uniform_(parameter, -bound, bound)
        elif kind.startswith("bias"):
            nn.init.zeros_(parameter)
