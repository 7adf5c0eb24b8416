// What training does between its matrix products, each in one passage over the rows and back: attention over packed
// rows, residual connections with dropout and layer normalisation, embeddings, the softmax at the end.
//
// Rows are the tokens of all sentences of a batch, one sentence behind the other, without padding. `T` is what the
// matrix products take: float, or bfloat16 (`Half`); sums, norms and the residual stream are float32 in either case.
// Work is cut into the same items for any number of threads, and each sum belongs to one item: results have the same
// bits however many threads there are.
#pragma once

#include <atomic>
#include <cmath>

#include "lanes.h"

namespace attendo::ATTENDO_VARIANT {

// The threads to work with: those of the OpenMP runtime that torch uses, since two sets of threads that wait awake for
// work would stand in each other's way. Without it there is one.
struct Crew {
  void (*parallel)(void (*)(void *), void *, unsigned, unsigned);  // GOMP_parallel, or null
  int32_t threads;
};

// Calls `work(item, thread)` for each item, whichever thread is free.
template <class Work>
static void share(const Crew &crew, int items, const Work &work) {
  struct Shared {
    const Work *work;
    int items;
    std::atomic<int> next{0}, threads{0};
  } shared{&work, items};
  const auto job = [](void *context) {
    Shared &its = *static_cast<Shared *>(context);
    const int thread = its.threads.fetch_add(1);
    for (int item; (item = its.next.fetch_add(1)) < its.items;) (*its.work)(item, thread);
  };
  if (crew.parallel && crew.threads > 1 && items > 1) crew.parallel(job, &shared, crew.threads, 0);
  else job(&shared);
}

// Dropout. Whether an element is kept follows from its number and a seed alone, so that the way back draws what the way
// forward drew. A 32-bit hash decides two elements: LANES of them from its lower halves, LANES from its upper ones.
struct Dropout {
  uint64_t seed;
  uint32_t kept;  // of 65536; all: no dropout
  float scale;    // 65536 / kept

  bool on() const { return kept < 65536; }

  // What the elements `2 * LANES * block` and those behind it are multiplied with: 0, or the scale.
  void factors(uint32_t block, Floats *first, Floats *second) const {
    const FloatBits number = block * LANES + lane_numbers();
    FloatBits x = number ^ static_cast<uint32_t>(seed);
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= static_cast<uint32_t>(seed >> 32);
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    *first = (x & 0xFFFF) < kept ? all(scale) : Floats{};
    *second = (x >> 16) < kept ? all(scale) : Floats{};
  }

 private:
  static FloatBits lane_numbers() {
    FloatBits numbers;
    for (int i = 0; i < LANES; ++i) numbers[i] = i;
    return numbers;
  }
};

// Blocks of 2 * LANES elements that a row has, its last one perhaps half full.
static inline uint32_t dropout_blocks(int width) { return (width + 2 * LANES - 1) / (2 * LANES); }

// A row's factors, one vector after the other.
class RowDropout {
 public:
  RowDropout(const Dropout &dropout, int64_t row, int width)
      : dropout_(dropout), block_(static_cast<uint32_t>(row * dropout_blocks(width))) {}

  // Of the `vector`-th LANES elements; asked for in their order.
  Floats factors(int vector) {
    if (vector % 2) return second_;
    Floats first;
    dropout_.factors(block_ + vector / 2, &first, &second_);
    return first;
  }

 private:
  const Dropout &dropout_;
  const uint32_t block_;
  Floats second_{};
};

static inline float as_float(float value) { return value; }
static inline float as_float(Half value) {
  const uint32_t bits = static_cast<uint32_t>(value.bits) << 16;
  float wide;
  memcpy(&wide, &bits, sizeof wide);
  return wide;
}

constexpr int ROWS_AT_ONCE = 16;

// LayerNorm(residual + Dropout(output)): `normed`, the same as `low` for products in bfloat16, and what the way back
// needs: the sum before gain and bias are applied, and one over its standard deviation.
template <class T>
struct AddAndNorm {
  int32_t rows, width;
  const float *residual;
  const T *output;
  Dropout dropout;
  const float *gain, *bias;
  float epsilon;
  float *normed;
  Half *low;  // or null
  float *centred, *inverse;

  void forward(const Crew &crew) const {
    share(crew, (rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, [this](int item, int) {
      for (int row = item * ROWS_AT_ONCE; row < rows && row < (item + 1) * ROWS_AT_ONCE; ++row) forward_row(row);
    });
  }

  void forward_row(int row) const {
    const size_t at = static_cast<size_t>(row) * width;
    RowDropout dropped(dropout, row, width);
    Floats total{};
    for (int i = 0; i < width; i += LANES) {
      Floats value = load(output + at + i);
      if (dropout.on()) value *= dropped.factors(i / LANES);
      value += load(residual + at + i);
      store(centred + at + i, value);
      total += value;
    }
    const Floats mean = all(sum(total) / width);
    Floats squares{};
    for (int i = 0; i < width; i += LANES) {
      const Floats distance = load(centred + at + i) - mean;
      squares += distance * distance;
    }
    inverse[row] = 1.0f / std::sqrt(sum(squares) / width + epsilon);
    const Floats scale = all(inverse[row]);
    for (int i = 0; i < width; i += LANES) {
      const Floats value = (load(centred + at + i) - mean) * scale;
      store(centred + at + i, value);
      const Floats result = value * load(gain + i) + load(bias + i);
      store(normed + at + i, result);
      if (low) store(low + at + i, result);
    }
  }
};

constexpr int GAIN_PARTS = 32;  // sums of a norm's gradients are over so many parts of the rows, then over the parts

// The way back. `grad` and `grad_low` are those of `normed` and `low`; either may be null, but not both.
template <class T>
struct AddAndNormBack {
  int32_t rows, width;
  const float *grad;
  const T *grad_low;
  const float *centred, *inverse, *gain;
  Dropout dropout;
  float *grad_residual;
  T *grad_output;
  float *parts;  // (GAIN_PARTS, 2, width)
  float *grad_gain, *grad_bias;

  void backward(const Crew &crew) const {
    share(crew, GAIN_PARTS, [this](int part, int) {
      float *gains = parts + static_cast<size_t>(part) * 2 * width, *biases = gains + width;
      memset(gains, 0, 2 * width * sizeof(float));
      const int64_t all_rows = rows;
      const int from = static_cast<int>(all_rows * part / GAIN_PARTS);
      const int to = static_cast<int>(all_rows * (part + 1) / GAIN_PARTS);
      for (int row = from; row < to; ++row) backward_row(row, gains, biases);
    });
    for (int i = 0; i < width; i += LANES) {
      Floats gains{}, biases{};
      for (int part = 0; part < GAIN_PARTS; ++part) {
        gains += load(parts + static_cast<size_t>(part) * 2 * width + i);
        biases += load(parts + static_cast<size_t>(part) * 2 * width + width + i);
      }
      store(grad_gain + i, gains);
      store(grad_bias + i, biases);
    }
  }

  void backward_row(int row, float *gains, float *biases) const {
    const size_t at = static_cast<size_t>(row) * width;
    Floats total{}, along{};
    for (int i = 0; i < width; i += LANES) {
      Floats value{};
      if (grad) value = load(grad + at + i);
      if (grad_low) value += load(grad_low + at + i);
      const Floats place = load(centred + at + i);
      store(biases + i, load(biases + i) + value);
      store(gains + i, load(gains + i) + value * place);
      value *= load(gain + i);
      total += value;
      along += value * place;
      store(grad_residual + at + i, value);
    }
    const Floats mean = all(sum(total) / width), slope = all(sum(along) / width), scale = all(inverse[row]);
    RowDropout dropped(dropout, row, width);
    for (int i = 0; i < width; i += LANES) {
      Floats value = (load(grad_residual + at + i) - mean - load(centred + at + i) * slope) * scale;
      store(grad_residual + at + i, value);
      if (dropout.on()) value *= dropped.factors(i / LANES);
      store(grad_output + at + i, value);
    }
  }
};

// Rows of an embedding times a scale, plus positions, dropped out; a negative id is the zero vector.
struct Embed {
  int32_t rows, width;
  const int64_t *ids;
  const int64_t *positions;
  const float *weight, *table;
  float scale;
  Dropout dropout;
  float *embedded;
  Half *low;  // or null

  void forward(const Crew &crew) const {
    share(crew, (rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, [this](int item, int) {
      for (int row = item * ROWS_AT_ONCE; row < rows && row < (item + 1) * ROWS_AT_ONCE; ++row) forward_row(row);
    });
  }

  void forward_row(int row) const {
    const size_t at = static_cast<size_t>(row) * width;
    const float *position = table + positions[row] * width;
    const float *from = ids[row] < 0 ? nullptr : weight + ids[row] * width;
    RowDropout dropped(dropout, row, width);
    for (int i = 0; i < width; i += LANES) {
      Floats value = load(position + i);
      if (from) value += load(from + i) * scale;
      if (dropout.on()) value *= dropped.factors(i / LANES);
      store(embedded + at + i, value);
      if (low) store(low + at + i, value);
    }
  }
};

constexpr int COLUMNS_AT_ONCE = 4 * LANES;

// The way back: adds to the gradient of each id's row, by columns, so that no two threads meet in one.
template <class T>
struct EmbedBack {
  int32_t rows, width;
  const int64_t *ids;
  const float *grad;   // or null
  const T *grad_low;   // or null, but not both
  float scale;
  Dropout dropout;
  float *grad_weight;

  void backward(const Crew &crew) const {
    share(crew, (width + COLUMNS_AT_ONCE - 1) / COLUMNS_AT_ONCE, [this](int item, int) {
      const int from = item * COLUMNS_AT_ONCE, to = from + COLUMNS_AT_ONCE < width ? from + COLUMNS_AT_ONCE : width;
      for (int row = 0; row < rows; ++row) {
        if (ids[row] < 0) continue;
        const size_t at = static_cast<size_t>(row) * width;
        RowDropout dropped(dropout, row, width);
        float *sums = grad_weight + ids[row] * width;
        for (int i = from; i < to; i += LANES) {
          Floats value{};
          if (grad) value = load(grad + at + i);
          if (grad_low) value += load(grad_low + at + i);
          if (dropout.on()) value *= dropped.factors(i / LANES);
          store(sums + i, load(sums + i) + value * scale);
        }
      }
    });
  }
};

// Logits of some tokens, row after row, to the gradients of their label-smoothed cross-entropy, in place, and the two
// losses of each token: smoothed, and without smoothing.
template <class T>
struct CrossEntropy {
  int32_t rows, vocabulary;
  T *logits;
  const float *bias;  // or null
  const int64_t *targets;
  float smoothing;
  int32_t gradients;  // 0: the losses alone
  float *smoothed, *log_loss;

  void forward(const Crew &crew) const {
    Buffer<float> powers;
    const size_t stride = padded(vocabulary);
    powers.reserve(stride * (crew.threads > 1 ? crew.threads : 1));
    share(crew, rows, [&](int row, int thread) { forward_row(row, powers.get() + thread * stride); });
  }

  void forward_row(int row, float *powers) const {
    T *own = logits + static_cast<size_t>(row) * vocabulary;
    const int whole_vectors = vocabulary / LANES * LANES;
    Floats most = all(-INFINITE), total{};
    const auto take = [&](int i, Floats value, Floats counted) {
      store(powers + i, value);
      most = larger(value, most);
      total += counted;
    };
    for (int i = 0; i < whole_vectors; i += LANES) {
      Floats value = load(own + i);
      if (bias) value += load(bias + i);
      take(i, value, value);
    }
    if (whole_vectors < vocabulary) {
      Floats value = all(-INFINITE), counted{};
      for (int i = whole_vectors; i < vocabulary; ++i) {
        const float one = as_float(own[i]) + (bias ? bias[i] : 0.0f);
        value[i - whole_vectors] = counted[i - whole_vectors] = one;
      }
      take(whole_vectors, value, counted);
    }
    const float right = powers[targets[row]], top = largest(most);
    Floats powers_total{};
    for (int i = 0; i < vocabulary; i += LANES) {
      const Floats value = load(powers + i);
      const Floats power = value == -INFINITE ? Floats{} : exponential(value - top);
      store(powers + i, power);
      powers_total += power;
    }
    const float sum_of_powers = sum(powers_total), log_total = top + std::log(sum_of_powers);
    log_loss[row] = log_total - right;
    smoothed[row] = (1.0f - smoothing) * log_loss[row] + smoothing * (log_total - sum(total) / vocabulary);
    if (!gradients) return;
    const float inverse = 1.0f / sum_of_powers, spread = smoothing / vocabulary;
    for (int i = 0; i < whole_vectors; i += LANES) store(own + i, load(powers + i) * inverse - spread);
    for (int i = whole_vectors; i < vocabulary; ++i) own[i] = as_stored(powers[i] * inverse - spread, own);
    own[targets[row]] = as_stored(powers[targets[row]] * inverse - spread - (1.0f - smoothing), own);
  }
};

// One of the steps in which a block of LANES rows of LANES elements is turned: rows that are STEP apart exchange what is
// STEP away from where it belongs.
template <int STEP>
static inline void turn_step(Floats *rows) {
  Ints low, high;
  for (int j = 0; j < LANES; ++j) {
    low[j] = j & STEP ? LANES + j - STEP : j;
    high[j] = j & STEP ? LANES + j : j + STEP;
  }
#pragma GCC unroll 16
  for (int i = 0; i < LANES; ++i) {
    if (i & STEP) continue;
    const Floats a = rows[i], b = rows[i + STEP];
    rows[i] = __builtin_shuffle(a, b, low);
    rows[i + STEP] = __builtin_shuffle(a, b, high);
  }
}

// Turns a block in registers.
static inline void turn(Floats *rows) {
  turn_step<1>(rows);
  turn_step<2>(rows);
  if constexpr (LANES > 4) turn_step<4>(rows);
  if constexpr (LANES > 8) turn_step<8>(rows);
}

// Turns a block of up to LANES rows; zeros stand for those that are not there.
static inline void turn_block(const float *from, int there, size_t stride, float *to, size_t to_stride) {
  Floats rows[LANES];
#pragma GCC unroll 16
  for (int i = 0; i < LANES; ++i) rows[i] = i < there ? load(from + i * stride) : Floats{};
  turn(rows);
#pragma GCC unroll 16
  for (int i = 0; i < LANES; ++i) store(to + i * to_stride, rows[i]);
}

// A weight as products want it: each row's numbers rounded to T, and the same turned, so that the product with rows and
// that with their gradients both read from end to end. `low` is null where T is float: it would be the weight itself.
template <class T>
struct Turn {
  int32_t rows, columns;
  const float *weight;  // (rows, columns)
  T *low;               // (rows, columns), or null
  T *turned;            // (columns, rows)

  void run(const Crew &crew) const {
    constexpr int AT_ONCE = 64;
    share(crew, (rows + AT_ONCE - 1) / AT_ONCE, [this](int item, int) {
      const int last = (item + 1) * AT_ONCE < rows ? (item + 1) * AT_ONCE : rows;
      for (int column = 0; column < columns; column += LANES)
        for (int row = item * AT_ONCE; row < last; row += LANES) turn_one(row, last, column);
    });
  }

  void turn_one(int first, int last, int column) const {
    Floats block[LANES];
#pragma GCC unroll 16
    for (int i = 0; i < LANES; ++i) {
      const size_t at = static_cast<size_t>(first + i) * columns + column;
      block[i] = first + i < last ? load(weight + at) : Floats{};
      if (low && first + i < last) store(low + at, block[i]);
    }
    turn(block);
    for (int i = 0; i < LANES; ++i) {
      T *to = turned + static_cast<size_t>(column + i) * rows + first;
      if (first + LANES <= last) {
        store(to, block[i]);
      } else {
        for (int j = 0; first + j < last; ++j) to[j] = as_stored(block[i][j], to);
      }
    }
  }
};

// The way back through a bias and, where `output` is given, through the ReLU behind it, which gave that output.
template <class T>
struct BiasBack {
  int32_t rows, width;
  const T *grad, *output;  // (rows, width); output or null
  T *masked;               // the gradient before the ReLU; null without one
  float *parts;            // (GAIN_PARTS, width)
  float *grad_bias;

  void backward(const Crew &crew) const {
    share(crew, GAIN_PARTS, [this](int part, int) {
      float *sums = parts + static_cast<size_t>(part) * width;
      memset(sums, 0, width * sizeof(float));
      const int64_t all_rows = rows;
      const int to = static_cast<int>(all_rows * (part + 1) / GAIN_PARTS);
      for (int row = static_cast<int>(all_rows * part / GAIN_PARTS); row < to; ++row) {
        const size_t at = static_cast<size_t>(row) * width;
        for (int i = 0; i < width; i += LANES) {
          Floats value = load(grad + at + i);
          if (output) {
            value = load(output + at + i) > 0.0f ? value : Floats{};
            store(masked + at + i, value);
          }
          store(sums + i, load(sums + i) + value);
        }
      }
    });
    for (int i = 0; i < width; i += LANES) {
      Floats sums{};
      for (int part = 0; part < GAIN_PARTS; ++part) sums += load(parts + static_cast<size_t>(part) * width + i);
      store(grad_bias + i, sums);
    }
  }
};

// sums[i] += addends[i]: what a product in bfloat16 adds to a gradient in float32.
template <class T>
static void accumulate(const Crew &crew, float *sums, const T *addends, int64_t size) {
  constexpr int64_t PART = 1 << 16;
  share(crew, static_cast<int>((size + PART - 1) / PART), [=](int item, int) {
    const int64_t from = item * PART, end = from + PART < size ? from + PART : size;
    int64_t i = from;
    for (; i + LANES <= end; i += LANES) store(sums + i, load(sums + i) + load(addends + i));
    for (; i < end; ++i) sums[i] += as_float(addends[i]);
  });
}

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
  constexpr int WIDE = LANES == 16 ? 4 : 2;
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
  T *context;          // (queries, heads * d_v)
  float *log_totals;   // (heads, queries): the logarithm of the sum that softmax divides by

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
  static void take(const T *from, int64_t stride, int rows, int width, float *to) {
    for (int r = 0; r < rows; ++r)
      for (int i = 0; i < width; i += LANES) store(to + r * width + i, load(from + r * stride + i));
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
    take(query + first_query * query_stride + head * d_k, query_stride, n, d_k, q);
    take(key + first_key * key_stride + head * d_k, key_stride, m, d_k, k);
    take(value + first_key * value_stride + head * d_v, value_stride, m, d_v, v);
    turn_rows(k, m, d_k, turned, wide);
    product(n, Factor{q, static_cast<size_t>(d_k), 1}, turned, wide,
            [&](int, int last) { return Limits{0, d_k, padded(seen(last, m))}; }, weights, wide);
    float *totals = log_totals + static_cast<size_t>(head) * query_starts[sentences] + first_query;
    for (int tile = 0; tile < tiles_of(n); ++tile) {
      const int last = tile_start(n, tile + 1);
      for (int i = tile_start(n, tile); i < last; ++i) {
        float *row = weights + static_cast<size_t>(i) * wide;
        const int count = seen(i + 1, m);
        totals[i] = softmax_row(row, count, padded(seen(last, m)));
        if (!dropout.on()) continue;
        drop(sentence, head, i, count, [row](int at, Floats factors) { store(row + at, load(row + at) * factors); });
      }
    }
    product(n, Factor{weights, static_cast<size_t>(wide), 1}, v, d_v,
            [&](int, int last) { return Limits{0, seen(last, m), d_v}; }, out, d_v);
    T *to = context + first_query * heads * d_v + head * d_v;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < d_v; j += LANES) store(to + static_cast<size_t>(i) * heads * d_v + j, load(out + i * d_v + j));
  }

  // Weights of `count` logits, zeros behind them up to `wide`; gives the logarithm of the sum of powers.
  float softmax_row(float *row, int count, int wide) const {
    Floats most = all(-INFINITE);
    for (int i = 0; i < count; ++i) row[i] *= scale;
    for (int i = count; i < wide; ++i) row[i] = -INFINITE;
    for (int i = 0; i < wide; i += LANES) most = larger(load(row + i), most);
    const float top = largest(most);
    Floats total{};
    for (int i = 0; i < wide; i += LANES) {
      const Floats w = load(row + i);
      const Floats power = w == -INFINITE ? Floats{} : exponential(w - top);
      store(row + i, power);
      total += power;
    }
    const float powers = sum(total);
    for (int i = 0; i < wide; i += LANES) store(row + i, load(row + i) * (1.0f / powers));
    return top + std::log(powers);
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
    its.take(its.query + first_query * its.query_stride + head * d_k, its.query_stride, n, d_k, q);
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
    const float *totals = its.log_totals + static_cast<size_t>(head) * its.query_starts[its.sentences] + first_query;
    for (int i = 0; i < n; ++i) {
      float *row = weights + static_cast<size_t>(i) * wide, *grad_row = grad_weights + static_cast<size_t>(i) * wide;
      Floats along{};
      for (int j = 0; j < d_v; j += LANES) along += load(grad + i * d_v + j) * load(context + i * d_v + j);
      const float mean = sum(along);
      const int count = its.seen(i + 1, m);
      for (int j = 0; j < padded(count); j += LANES) {
        store(row + j, exponential(load(row + j) * its.scale - totals[i]));
      }
      if (its.dropout.on()) {
        its.drop(sentence, head, i, count, [&](int at, Floats factors) {
          const Floats weight = load(row + at);
          store(grad_row + at, weight * (load(grad_row + at) * factors - mean));
          store(row + at, weight * factors);
        });
      } else {
        for (int j = 0; j < padded(count); j += LANES) {
          store(grad_row + j, load(row + j) * (load(grad_row + j) - mean));
        }
      }
      for (int j = count; j < wide; ++j) row[j] = grad_row[j] = 0.0f;
    }

    const auto queries_of = [&](int first, int, int size) { return Limits{its.causal ? first : 0, n, size}; };
    product(n, Factor{grad_weights, static_cast<size_t>(wide), 1}, k, d_k,
            [&](int, int last) { return Limits{0, its.seen(last, m), d_k}; }, result, d_k);
    put(result, n, d_k, its.scale, grad_query + first_query * grad_query_stride + head * d_k, grad_query_stride);
    product(m, Factor{grad_weights, 1, static_cast<size_t>(wide)}, q, d_k,
            [&](int first, int last) { return queries_of(first, last, d_k); }, result, d_k);
    put(result, m, d_k, its.scale, grad_key + first_key * grad_key_stride + head * d_k, grad_key_stride);
    product(m, Factor{weights, 1, static_cast<size_t>(wide)}, grad, d_v,
            [&](int first, int last) { return queries_of(first, last, d_v); }, result, d_v);
    put(result, m, d_v, 1.0f, grad_value + first_key * grad_value_stride + head * d_v, grad_value_stride);
  }

  static void put(const float *from, int rows, int width, float factor, T *to, int64_t stride) {
    for (int r = 0; r < rows; ++r)
      for (int i = 0; i < width; i += LANES) store(to + r * stride + i, load(from + r * width + i) * factor);
  }
};

}  // namespace attendo::ATTENDO_VARIANT
