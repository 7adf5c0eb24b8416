// Scaled dot-product attention (Section 3.2.1) of a few queries at a time: to a source, which stays as it is, and to
// what a hypothesis has written, which is a different mixture of rows for every hypothesis.
//
// Keys and values that are kept are float32, or bfloat16 (`Half`) beside other weights: reading them is what decoding
// many sentences waits for. All sums are over even and odd places apart, whatever is beside a query, so its result has
// the same bits alone.
#pragma once

#include "lanes.h"

namespace attendo::ATTENDO_VARIANT {

struct Heads {
  int count, d_k, d_v;  // sizes filled up to PADDED
  float scale;          // 1 / sqrt(d_k), the size before it was filled up

  int keys() const { return count * d_k; }
  int values() const { return count * d_v; }
};

// e^(w - largest w), divided by their sum.
static inline void softmax(float *weights, int count) {
  Floats most = all(-INFINITE);
  for (int i = count; i < padded(count); ++i) weights[i] = -INFINITE;
  for (int i = 0; i < count; i += LANES) most = larger(load(weights + i), most);
  const Floats top = all(largest(most));
  const float total = sum_of(count, [=](int i) {
    const Floats w = load(weights + i);
    const Floats power = w == -INFINITE ? Floats{} : exponential(w - top);
    store(weights + i, power);
    return power;
  });
  const Floats inverse = all(1.0f / total);
  for (int i = 0; i < count; i += LANES) store(weights + i, load(weights + i) * inverse);
}

// Sums of rows weighted: `VECTORS` vectors of each query's context, from values that `at` finds by position.
template <int QUERIES, int VECTORS, class At>
static inline void weighted_sum(const float *weights, size_t weights_stride, int count, const At &at, float *context,
                                size_t context_stride) {
  Floats even[QUERIES][VECTORS] = {}, odd[QUERIES][VECTORS] = {};
  int i = 0;
  for (; i + 1 < count; i += 2) {
    const auto *first = at(i), *second = at(i + 1);
#pragma GCC unroll 8
    for (int v = 0; v < VECTORS; ++v) {
      const Floats one = load(first + v * LANES), two = load(second + v * LANES);
#pragma GCC unroll 8
      for (int q = 0; q < QUERIES; ++q) {
        even[q][v] += one * weights[q * weights_stride + i];
        odd[q][v] += two * weights[q * weights_stride + i + 1];
      }
    }
  }
  if (i < count) {
    const auto *last = at(i);
    for (int v = 0; v < VECTORS; ++v)
      for (int q = 0; q < QUERIES; ++q) even[q][v] += load(last + v * LANES) * weights[q * weights_stride + i];
  }
  for (int q = 0; q < QUERIES; ++q)
    for (int v = 0; v < VECTORS; ++v) store(context + q * context_stride + v * LANES, even[q][v] + odd[q][v]);
}

// A head's whole context, as many vectors at a time as the registers hold sums.
template <int QUERIES, class At>
static inline void head_context(const float *weights, size_t weights_stride, int count, int d_v, const At &at,
                                float *context, size_t context_stride) {
  constexpr int WIDE = QUERIES == 1 ? 4 : QUERIES == 2 ? 2 : 1;
  int from = 0;
  for (; from + WIDE * LANES <= d_v; from += WIDE * LANES) {
    const auto here = [&at, from](int i) { return at(i) + from; };
    weighted_sum<QUERIES, WIDE>(weights, weights_stride, count, here, context + from, context_stride);
  }
  for (; from < d_v; from += LANES) {
    const auto here = [&at, from](int i) { return at(i) + from; };
    weighted_sum<QUERIES, 1>(weights, weights_stride, count, here, context + from, context_stride);
  }
}

// A source as its queries see it: keys turned so that 16 positions lie side by side, values as they came.
constexpr int SIDE_BY_SIDE = 16;
constexpr int MOST_QUERIES = LANES == 4 ? 2 : 4;  // at a time: their sums for SIDE_BY_SIDE positions stay in registers

template <class T>
struct Source {
  const T *keys;    // [head][block of positions][d_k][SIDE_BY_SIDE]; what is behind the last position is 0
  const T *values;  // by position and head, d_v of each
  size_t position_stride, head_stride;
  int count;
};

static size_t turned_size(int count, const Heads &heads) {
  return static_cast<size_t>(padded(count, SIDE_BY_SIDE)) * heads.keys();
}

// Turns keys, a row a position, into a Source's.
template <class T>
static void turn_keys(const float *rows, size_t stride, int count, const Heads &heads, T *to) {
  const int all_positions = padded(count, SIDE_BY_SIDE);
  for (int head = 0; head < heads.count; ++head) {
    for (int first = 0; first < all_positions; first += SIDE_BY_SIDE, to += heads.d_k * SIDE_BY_SIDE) {
      for (int i = 0; i < SIDE_BY_SIDE; ++i) {
        const float *row = rows + (first + i) * stride + head * heads.d_k;
        for (int j = 0; j < heads.d_k; ++j) to[j * SIDE_BY_SIDE + i] = as_stored(first + i < count ? row[j] : 0.0f, to);
      }
    }
  }
}

// Brings values, a row a position, together by heads.
template <class T>
static void gather_values(const float *rows, size_t stride, int count, const Heads &heads, T *to) {
  for (int head = 0; head < heads.count; ++head) {
    for (int position = 0; position < count; ++position, to += heads.d_v) {
      const float *from = rows + position * stride + head * heads.d_v;
      for (int i = 0; i < heads.d_v; i += LANES) store(to + i, load(from + i));
    }
  }
}

template <int QUERIES, class T>
static void look_at_source(const float *query, size_t query_stride, const Source<T> &source, const Heads &heads,
                           float *weights, float *context, size_t context_stride) {
  constexpr int VECTORS = SIDE_BY_SIDE / LANES;
  const int all_positions = padded(source.count, SIDE_BY_SIDE);
  const T *keys = source.keys;
  for (int head = 0; head < heads.count; ++head) {
    for (int first = 0; first < all_positions; first += SIDE_BY_SIDE) {
      Floats even[QUERIES][VECTORS] = {}, odd[QUERIES][VECTORS] = {};
      for (int j = 0; j < heads.d_k; j += 2, keys += 2 * SIDE_BY_SIDE) {
        const float *q = query + head * heads.d_k + j;
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; ++v) {
          const Floats one = load(keys + v * LANES), two = load(keys + SIDE_BY_SIDE + v * LANES);
#pragma GCC unroll 4
          for (int i = 0; i < QUERIES; ++i) {
            even[i][v] += one * q[i * query_stride];
            odd[i][v] += two * q[i * query_stride + 1];
          }
        }
      }
      for (int i = 0; i < QUERIES; ++i)
        for (int v = 0; v < VECTORS; ++v)
          store(weights + i * all_positions + first + v * LANES, (even[i][v] + odd[i][v]) * heads.scale);
    }
    for (int i = 0; i < QUERIES; ++i) softmax(weights + i * all_positions, source.count);
    const T *values = source.values + head * source.head_stride;
    const auto at = [values, &source](int i) { return values + i * source.position_stride; };
    head_context<QUERIES>(weights, all_positions, source.count, heads.d_v, at, context + head * heads.d_v,
                          context_stride);
  }
}

// Contexts of up to MOST_QUERIES queries; `weights` has room for as many times all positions, filled up.
template <class T>
static void attend_to_source(int queries, const float *query, size_t query_stride, const Source<T> &source,
                             const Heads &heads, float *weights, float *context, size_t context_stride) {
  using Look = void (*)(const float *, size_t, const Source<T> &, const Heads &, float *, float *, size_t);
  static const Look looks[] = {look_at_source<1, T>, look_at_source<2, T>, look_at_source<3, T>, look_at_source<4, T>};
  looks[queries - 1](query, query_stride, source, heads, weights, context, context_stride);
}

// What a hypothesis has written: `at` says where each position's keys of all heads are, the values right behind them,
// so that hypotheses of a beam share what they share, and nothing moves when the beam is reordered.
template <class T>
struct Written {
  const T *pairs;
  const size_t *at;  // of each position, in values
  int count;
};

// Positions of a beam lie too far apart for the processor to guess which it will need: it is told, some ahead.
constexpr int AHEAD = 4;

template <class T>
static inline void ask_for(const T *from, int count) {
  constexpr int CACHE_LINE = 64 / sizeof(T);
  for (int i = 0; i < count; i += CACHE_LINE) __builtin_prefetch(from + i);
}

// The inner product of a query with a key; SIZE is d_k, 0 where it is not known beforehand.
template <int SIZE, class T>
static inline float dot(const float *query, const T *key, int size) {
  const auto products = [=](int i) { return load(query + i) * load(key + i); };
  if constexpr (SIZE == 0) return sum_of(size, products);
  static_assert(SIZE % (2 * PADDED) == 0);
  Floats even[PARTS] = {}, odd[PARTS] = {};
#pragma GCC unroll 4
  for (int i = 0; i < SIZE; i += 2 * PADDED) {
#pragma GCC unroll 4
    for (int part = 0; part < PARTS; ++part) {
      even[part] += products(i + part * LANES);
      odd[part] += products(i + PADDED + part * LANES);
    }
  }
#pragma GCC unroll 4
  for (int part = 0; part < PARTS; ++part) even[part] += odd[part];
  return sum(even);
}

template <int SIZE, class T>
static void look_at_written(const float *query, const Written<T> &written, const Heads &heads, float *weights,
                            float *context) {
  for (int head = 0; head < heads.count; ++head) {
    const float *q = query + head * heads.d_k;
    const T *keys = written.pairs + head * heads.d_k, *values = written.pairs + heads.keys() + head * heads.d_v;
    for (int i = 0; i < written.count; ++i) {
      if (!head && i + AHEAD < written.count) ask_for(keys + written.at[i + AHEAD], heads.keys() + heads.values());
      weights[i] = dot<SIZE>(q, keys + written.at[i], heads.d_k) * heads.scale;
    }
    softmax(weights, written.count);
    const auto at = [values, &written](int i) { return values + written.at[i]; };
    head_context<1>(weights, 0, written.count, heads.d_v, at, context + head * heads.d_v, 0);
  }
}

// The context of one query; `weights` has room for all positions, filled up.
template <class T>
static void attend_to_written(const float *query, const Written<T> &written, const Heads &heads, float *weights,
                              float *context) {
  if (heads.d_k == 64) look_at_written<64>(query, written, heads, weights, context);  // the paper's
  else if (heads.d_k == 32) look_at_written<32>(query, written, heads, weights, context);
  else look_at_written<0>(query, written, heads, weights, context);
}

}  // namespace attendo::ATTENDO_VARIANT
