// Attention of training, forward and back, over packed rows: every sentence by itself, head by head.
#pragma once

#include "training_rows.h"

namespace attendo::ATTENDO_VARIANT {

// c[r][j] = sum over k in [from(r), to(r)) of a[r * a_row + k * a_step] * b[k * b_stride + j], for ROWS rows of a tile.
struct Factor {
  const float *at;
  size_t row, step;
};

template <int ROWS, int VECTORS>
static inline void product_tile(const Factor &a, const float *b, size_t b_stride, int from, int to, float *c,
                                size_t c_stride) {
  Floats sums[ROWS][VECTORS] = {};
  for (int k = from; k < to; ++k) {
    const float *row = b + k * b_stride;
    Floats right[VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; ++v) right[v] = load(row + v * LANES);
#pragma GCC unroll 4
    for (int r = 0; r < ROWS; ++r) {
      const float left = a.at[r * a.row + k * a.step];
#pragma GCC unroll 4
      for (int v = 0; v < VECTORS; ++v) sums[r][v] += right[v] * left;
    }
  }
  for (int r = 0; r < ROWS; ++r)
    for (int v = 0; v < VECTORS; ++v) store(c + r * c_stride + v * LANES, sums[r][v]);
}

template <int ROWS>
static inline void product_rows(const Factor &a, const float *b, size_t b_stride, int from, int to, int columns,
                                float *c, size_t c_stride) {
#if defined(__AVX512F__) || defined(__aarch64__)
  constexpr int WIDE = 4;  // there are 32 registers
#else
  constexpr int WIDE = 2;
#endif
  int j = 0;
  for (; j + WIDE * LANES <= columns; j += WIDE * LANES)
    product_tile<ROWS, WIDE>(a, b + j, b_stride, from, to, c + j, c_stride);
  for (; j + 2 * LANES <= columns; j += 2 * LANES)
    product_tile<ROWS, 2>(a, b + j, b_stride, from, to, c + j, c_stride);
  for (; j < columns; j += LANES) product_tile<ROWS, 1>(a, b + j, b_stride, from, to, c + j, c_stride);
}

constexpr int TILE = 6;

// The first row of a tile, where `rows` are cut into tiles of about equal size: a last one of one row would cost nearly
// as much as a whole one.
static inline int tiles_of(int rows) { return (rows + TILE - 1) / TILE; }
static inline int tile_start(int rows, int tile) { return static_cast<int>(static_cast<int64_t>(rows) * tile / tiles_of(rows)); }

// The range of k, and the columns, that a tile's rows need.
struct Limits {
  int from, to, columns;
};

// All rows of a product; `limits(first, last)` is asked for each tile's.
template <class Bounds>
static void product(int rows, const Factor &a, const float *b, size_t b_stride, const Bounds &limits, float *c,
                    size_t c_stride) {
  using Rows = void (*)(const Factor &, const float *, size_t, int, int, int, float *, size_t);
  static const Rows by_rows[TILE] = {product_rows<1>, product_rows<2>, product_rows<3>,
                                     product_rows<4>, product_rows<5>, product_rows<6>};
  for (int tile = 0; tile < tiles_of(rows); ++tile) {
    const int first = tile_start(rows, tile), last = tile_start(rows, tile + 1);
    const Limits own = limits(first, last);
    by_rows[last - first - 1](Factor{a.at + first * a.row, a.row, a.step}, b, b_stride, own.from, own.to, own.columns,
                              c + first * c_stride, c_stride);
  }
}

// Attention of packed rows: every sentence's queries look at its own keys, in a decoder's own attention at those up to
// their own position. Row strides are in elements; heads lie side by side in a row.
template <class T>
struct PackedAttention {
  int32_t sentences, heads, d_k, d_v, causal;
  int32_t most_queries, most_keys;  // of a sentence
  const int32_t *query_starts, *key_starts;  // (sentences + 1)
  const T *query, *key, *value;
  int64_t query_stride, key_stride, value_stride;
  float scale;
  Dropout dropout;
  T *context;      // (queries, heads * d_v)
  float *softmax;  // (heads, queries, 2): the largest logit, and one over the sum of powers above it

  int queries(int sentence) const { return query_starts[sentence + 1] - query_starts[sentence]; }
  int keys(int sentence) const { return key_starts[sentence + 1] - key_starts[sentence]; }
  // Keys that the rows before `last` see.
  int seen(int last, int keys) const { return causal && last < keys ? last : keys; }

  // Room that one thread needs, in floats.
  size_t room() const {
    const size_t n = most_queries, m = padded(most_keys), d = d_k > d_v ? d_k : d_v;
    return 4 * (n + m) * d + 2 * n * m;
  }

  // A head's share of some rows, as floats; `turned`: a column a row.
  static void take(const T *from, int64_t stride, int rows, int width, float *to, float factor = 1.0f) {
    for (int r = 0; r < rows; ++r)
      for (int i = 0; i < width; i += LANES) store(to + r * width + i, load(from + r * stride + i) * factor);
  }
  // Room behind the last row is filled up with zeros.
  static void turn_rows(const float *from, int rows, int width, float *to, int to_stride) {
    for (int r = 0; r < to_stride; r += LANES)
      for (int i = 0; i < width; i += LANES) turn_block(from + r * width + i, rows - r, width, to + i * to_stride + r, to_stride);
  }

  // What a sentence's weights are multiplied with; a row of a head is a row of its own to dropout.
  template <class Apply>
  void drop(int sentence, int head, int query, int keys, const Apply &apply) const {
    // Rows are numbered by where they are, so that neither other heads nor other sentences draw the same numbers.
    const int64_t row = static_cast<int64_t>(head) * query_starts[sentences] + query_starts[sentence] + query;
    RowDropout factors(dropout, row, most_keys);
    for (int i = 0; i < keys; i += LANES) apply(i, factors.factors(i / LANES));
  }

  void forward(const Crew &crew) const {
    Buffer<float> room_of_all;
    const size_t each = room();
    room_of_all.reserve(each * (crew.threads > 1 ? crew.threads : 1));
    share(crew, sentences * heads,
          [&](int item, int thread) { forward_head(item / heads, item % heads, room_of_all.get() + thread * each); });
  }

  void forward_head(int sentence, int head, float *room) const {
    const int n = queries(sentence), m = keys(sentence), wide = padded(m);
    const int64_t first_query = query_starts[sentence], first_key = key_starts[sentence];
    float *q = room, *k = q + n * d_k, *turned = k + m * d_k, *v = turned + wide * d_k, *weights = v + m * d_v;
    float *out = weights + static_cast<size_t>(n) * wide;
    take(query + first_query * query_stride + head * d_k, query_stride, n, d_k, q, scale);
    take(key + first_key * key_stride + head * d_k, key_stride, m, d_k, k);
    take(value + first_key * value_stride + head * d_v, value_stride, m, d_v, v);
    turn_rows(k, m, d_k, turned, wide);
    product(n, Factor{q, static_cast<size_t>(d_k), 1}, turned, wide,
            [&](int, int last) { return Limits{0, d_k, padded(seen(last, m))}; }, weights, wide);
    float *found = softmax_of(head, first_query);
    for (int tile = 0; tile < tiles_of(n); ++tile) {
      const int last = tile_start(n, tile + 1);
      for (int i = tile_start(n, tile); i < last; ++i) {
        float *row = weights + static_cast<size_t>(i) * wide;
        const int count = seen(i + 1, m);
        powers(row, count, padded(seen(last, m)), found + 2 * i);
        if (!dropout.on()) continue;
        drop(sentence, head, i, count, [row](int at, Floats factors) { store(row + at, load(row + at) * factors); });
      }
    }
    product(n, Factor{weights, static_cast<size_t>(wide), 1}, v, d_v,
            [&](int, int last) { return Limits{0, seen(last, m), d_v}; }, out, d_v);
    T *to = context + first_query * heads * d_v + head * d_v;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < d_v; j += LANES) {
        store(to + static_cast<size_t>(i) * heads * d_v + j, load(out + i * d_v + j) * found[2 * i + 1]);
      }
    }
  }

  // Where a head keeps what softmax has found for a sentence's queries.
  float *softmax_of(int head, int64_t first_query) const {
    return softmax + 2 * (static_cast<size_t>(head) * query_starts[sentences] + first_query);
  }

  // Logits to e^(logit - largest), zeros behind the first `count` of them; `found` is told the largest, and one over the
  // sum, which is left to be multiplied with.
  static void powers(float *row, int count, int wide, float *found) {
    Floats most = all(-INFINITE);
    for (int i = 0; i < wide; i += LANES) most = larger(only(load(row + i), count - i, -INFINITE), most);
    const float top = largest(most);
    Floats total{};
    for (int i = 0; i < wide; i += LANES) {
      const Floats power = only(exponential(load(row + i) - top), count - i, 0.0f);
      store(row + i, power);
      total += power;
    }
    found[0] = top;
    found[1] = 1.0f / sum(total);
  }
};

// The way back; `room` is that of the way forward.
template <class T>
struct PackedAttentionBack {
  PackedAttention<T> its;
  const T *grad_context;
  T *grad_query, *grad_key, *grad_value;  // with the strides below
  int64_t grad_query_stride, grad_key_stride, grad_value_stride;

  void backward(const Crew &crew) const {
    Buffer<float> room_of_all;
    const size_t each = its.room();
    room_of_all.reserve(each * (crew.threads > 1 ? crew.threads : 1));
    share(crew, its.sentences * its.heads, [&](int item, int thread) {
      backward_head(item / its.heads, item % its.heads, room_of_all.get() + thread * each);
    });
  }

  void backward_head(int sentence, int head, float *room) const {
    const int d_k = its.d_k, d_v = its.d_v, n = its.queries(sentence), m = its.keys(sentence), wide = padded(m);
    const int64_t first_query = its.query_starts[sentence], first_key = its.key_starts[sentence];
    float *q = room, *k = q + n * d_k, *turned = k + m * d_k, *v = turned + wide * (d_k > d_v ? d_k : d_v);
    float *grad = v + m * d_v, *context = grad + n * d_v, *result = context + n * d_v;
    float *weights = result + static_cast<size_t>(n > wide ? n : wide) * (d_k > d_v ? d_k : d_v);
    float *grad_weights = weights + static_cast<size_t>(n) * wide;
    const int64_t context_stride = static_cast<int64_t>(its.heads) * d_v, context_at = first_query * context_stride + head * d_v;
    its.take(its.query + first_query * its.query_stride + head * d_k, its.query_stride, n, d_k, q, its.scale);
    its.take(its.key + first_key * its.key_stride + head * d_k, its.key_stride, m, d_k, k);
    its.take(its.value + first_key * its.value_stride + head * d_v, its.value_stride, m, d_v, v);
    its.take(grad_context + context_at, context_stride, n, d_v, grad);
    its.take(its.context + context_at, context_stride, n, d_v, context);

    // The weights again, and the gradients of what the values were weighted with.
    const auto rows_by_keys = [&](int size) {
      return [&, size](int, int last) { return Limits{0, size, padded(its.seen(last, m))}; };
    };
    its.turn_rows(k, m, d_k, turned, wide);
    product(n, Factor{q, static_cast<size_t>(d_k), 1}, turned, wide, rows_by_keys(d_k), weights, wide);
    its.turn_rows(v, m, d_v, turned, wide);
    product(n, Factor{grad, static_cast<size_t>(d_v), 1}, turned, wide, rows_by_keys(d_v), grad_weights, wide);
    const float *found = its.softmax_of(head, first_query);
    for (int tile = 0; tile < tiles_of(n); ++tile) {
      const int last = tile_start(n, tile + 1), seen_by_tile = its.seen(last, m);
      for (int i = tile_start(n, tile); i < last; ++i) {
        float *row = weights + static_cast<size_t>(i) * wide, *grad_row = grad_weights + static_cast<size_t>(i) * wide;
        Floats along{};
        for (int j = 0; j < d_v; j += LANES) along += load(grad + i * d_v + j) * load(context + i * d_v + j);
        const float mean = sum(along), top = found[2 * i], inverse = found[2 * i + 1];
        const int count = its.seen(i + 1, m);
        const auto weight_at = [=](int j) { return only(exponential(load(row + j) - top) * inverse, count - j, 0.0f); };
        if (its.dropout.on()) {
          its.drop(sentence, head, i, padded(count), [&](int j, Floats factors) {
            const Floats weight = weight_at(j);
            store(grad_row + j, weight * (load(grad_row + j) * factors - mean));
            store(row + j, weight * factors);
          });
        } else {
          for (int j = 0; j < padded(count); j += LANES) {
            const Floats weight = weight_at(j);
            store(grad_row + j, weight * (load(grad_row + j) - mean));
            store(row + j, weight);
          }
        }
        // What later queries of the tile see, and this one does not.
        for (int j = padded(count); j < padded(seen_by_tile); j += LANES) {
          store(row + j, Floats{});
          store(grad_row + j, Floats{});
        }
      }
    }

    // A key is seen by the queries from its own position on: a tile's first key, by the most of them.
    const auto by_queries = [&](int size) {
      return [&, size](int first, int) { return Limits{its.causal ? first : 0, n, size}; };
    };
    product(n, Factor{grad_weights, static_cast<size_t>(wide), 1}, k, d_k,
            [&](int, int last) { return Limits{0, its.seen(last, m), d_k}; }, result, d_k);
    put(result, n, d_k, its.scale, grad_query + first_query * grad_query_stride + head * d_k, grad_query_stride);
    product(m, Factor{grad_weights, 1, static_cast<size_t>(wide)}, q, d_k, by_queries(d_k), result, d_k);
    put(result, m, d_k, 1.0f, grad_key + first_key * grad_key_stride + head * d_k, grad_key_stride);
    product(m, Factor{weights, 1, static_cast<size_t>(wide)}, grad, d_v, by_queries(d_v), result, d_v);
    put(result, m, d_v, 1.0f, grad_value + first_key * grad_value_stride + head * d_v, grad_value_stride);
  }

  static void put(const float *from, int rows, int width, float factor, T *to, int64_t stride) {
    for (int r = 0; r < rows; ++r)
      for (int i = 0; i < width; i += LANES) store(to + r * stride + i, load(from + r * width + i) * factor);
  }
};

}  // namespace attendo::ATTENDO_VARIANT
