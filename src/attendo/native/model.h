// A Transformer's weights, packed: what `decoding/backends/native_model.py` hands over, once.
#pragma once

#include <memory>

#include "attention.h"
#include "multiply.h"

namespace attendo::ATTENDO_VARIANT {

// LayerNorm's gain and bias (Section 3.1); they stay where the caller has them.
struct Norm {
  const float *gain = nullptr, *bias = nullptr;
};

// Rows of a vocabulary to be looked up, in the caller's memory: floats, or codes with a scale a row.
struct Embedding {
  const float *floats = nullptr;
  const int8_t *codes = nullptr;
  const float *scales = nullptr;
};

struct EncoderLayer {
  Matrix query_key_value, output, inner, outer;
  Norm attention_norm, feed_forward_norm;
};

struct DecoderLayer {
  Matrix query_key_value, output, query, key_value, memory_output, inner, outer;
  Norm attention_norm, memory_norm, feed_forward_norm;
};

// What proposes tokens behind the next one (`model/drafter.py`).
struct Drafter {
  Matrix joined, query, output, inner, outer, projection;  // to what is beside a token before, then to logits of `ids`
  Norm joined_norm, attention_norm, feed_forward_norm;
  const float *places = nullptr;    // (draft_tokens, d_model); in the caller's memory, as are the next four
  const int64_t *ids = nullptr;     // the shortlist
  const float *before = nullptr;    // (ids, d_model): what each brings with it as the token before
  const float *adjusted = nullptr;  // (ids, d_model): what each one's logit gains by what is beside it
  const float *shifts = nullptr;    // (ids,): and by any token before it
};

// What the decoder is told of the word that is next (`model/next_word.py`).
struct NextWord {
  Matrix memory;
  const uint8_t *begins = nullptr, *writes = nullptr;  // by id of the source, of the target; in the caller's memory
  int64_t eos = 0;
};

// What the decoder is told of the parser's stack (`model/parser_stack.py`).
struct ParserStack {
  Matrix memory;
  // Tables of d_model: (most + 1), and of the target's ids and none; in the caller's memory, as is what follows.
  const float *depths = nullptr, *opened = nullptr, *completed = nullptr;
  const uint8_t *kinds = nullptr;  // by id of the target
  int most = 0;
};

// `SymbolKind` there. What is a word here is one for `NextWord` too.
enum class SymbolKind : uint8_t { other, word, opens_behind, opens_before, closes };

// In the order of `Shape` in `native/library.py`.
struct Shape {
  int32_t d_model, d_ff, num_heads, d_k, d_v;  // filled up, but for d_model, which is a multiple of PADDED
  int32_t encoder_layers, decoder_layers, src_vocab_size, tgt_vocab_size;
  int32_t start_id;  // -1: the zero vector
  int32_t swish;
  int32_t draft_tokens;  // 0 without a drafter
  int32_t next_word;     // whether the decoder is told it
  int32_t parser_stack;  // and, where it is, this
  float scale;           // of a query: 1 / sqrt(d_k)
  float layer_norm_eps;
  float embedding_scale; // sqrt(d_model)
};

struct Model {
  Shape shape;
  Heads heads;
  Embedding source, target;
  std::unique_ptr<EncoderLayer[]> encoder;
  std::unique_ptr<DecoderLayer[]> decoder;
  Matrix projection;
  Drafter drafter;
  NextWord next_word;
  ParserStack parser_stack;

  explicit Model(const Shape &given)
      : shape(given),
        heads{given.num_heads, given.d_k, given.d_v, given.scale},
        encoder(new EncoderLayer[given.encoder_layers]),
        decoder(new DecoderLayer[given.decoder_layers]) {}

  // Numbered as in `decoding/backends/native_model.py`; null for a number that is none.
  Matrix *matrix(int which, int layer) {
    if (which == 0) return &projection;
    if (which <= 4) {
      if (layer >= shape.encoder_layers) return nullptr;
      EncoderLayer &l = encoder[layer];
      Matrix *matrices[] = {&l.query_key_value, &l.output, &l.inner, &l.outer};
      return matrices[which - 1];
    }
    if (which == 18) return layer || !shape.next_word ? nullptr : &next_word.memory;
    if (which == 19) return layer || !shape.parser_stack ? nullptr : &parser_stack.memory;
    if (which > 11) {
      Matrix *matrices[] = {&drafter.joined, &drafter.query, &drafter.output,
                            &drafter.inner,  &drafter.outer, &drafter.projection};
      return which > 17 || layer || !shape.draft_tokens ? nullptr : matrices[which - 12];
    }
    if (layer >= shape.decoder_layers) return nullptr;
    DecoderLayer &l = decoder[layer];
    Matrix *matrices[] = {&l.query_key_value, &l.output, &l.query, &l.key_value, &l.memory_output, &l.inner, &l.outer};
    return matrices[which - 5];
  }

  Norm *norm(int which, int layer) {
    if (which < 2) {
      if (layer >= shape.encoder_layers) return nullptr;
      return which == 0 ? &encoder[layer].attention_norm : &encoder[layer].feed_forward_norm;
    }
    if (which > 4) {
      Norm *norms[] = {&drafter.joined_norm, &drafter.attention_norm, &drafter.feed_forward_norm};
      return which > 7 || layer || !shape.draft_tokens ? nullptr : norms[which - 5];
    }
    if (layer >= shape.decoder_layers) return nullptr;
    DecoderLayer &l = decoder[layer];
    Norm *norms[] = {&l.attention_norm, &l.memory_norm, &l.feed_forward_norm};
    return norms[which - 2];
  }

  // An id's embedding times sqrt(d_model), plus its position's encoding (Sections 3.4 and 3.5).
  void embed(const Embedding &table, int64_t id, const float *position, float *to) const {
    const int size = shape.d_model;
    if (id < 0) {
      memcpy(to, position, size * sizeof(float));
    } else if (table.codes) {
      const int8_t *from = table.codes + id * size;
      const float scale = table.scales[id];
      for (int i = 0; i < size; ++i) to[i] = from[i] * scale * shape.embedding_scale + position[i];
    } else {
      const float *from = table.floats + id * size;
      for (int i = 0; i < size; ++i) to[i] = from[i] * shape.embedding_scale + position[i];
    }
  }

  // hidden = LayerNorm(hidden + output): the residual connection around every sub-layer (Section 3.1).
  void add_and_norm(const Norm &norm, const float *output, float *hidden) const {
    const int size = shape.d_model;
    const float total = sum_of(size, [=](int i) {
      const Floats value = load(hidden + i) + load(output + i);
      store(hidden + i, value);
      return value;
    });
    const Floats mean = all(total / size);
    const float squares = sum_of(size, [=](int i) {
      const Floats difference = load(hidden + i) - mean;
      return difference * difference;
    });
    const Floats inverse = all(1.0f / __builtin_sqrtf(squares / size + shape.layer_norm_eps));
    for (int i = 0; i < size; i += LANES) {
      store(hidden + i, (load(hidden + i) - mean) * inverse * load(norm.gain + i) + load(norm.bias + i));
    }
  }
};

// x / (1 + e^-x), in place.
static inline void swish(float *values, int size) {
  for (int i = 0; i < size; i += LANES) {
    const Floats value = load(values + i);
    store(values + i, value / (exponential(-value) + 1.0f));
  }
}

}  // namespace attendo::ATTENDO_VARIANT
