// What training does between its matrix products, each in one passage over the rows and back: attention over packed
// rows, residual connections with dropout and layer normalisation, embeddings.
//
// Rows are the tokens of all sentences of a batch, one sentence behind the other, without padding. `T` is what the
// matrix products take: float, or bfloat16 (`Half`); sums, norms and the residual stream are float32 in either case.
// Work is cut into the same items for any number of threads, and each sum belongs to one item: results have the same
// bits however many threads there are.
#pragma once

#include <atomic>
#include <cmath>
#include <utility>

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

// Two rows exchange what is STEP away from where it belongs.
template <int STEP, int... LANE>
static inline void exchange(Floats &first, Floats &second, std::integer_sequence<int, LANE...>) {
  const Floats a = first, b = second;
#if defined(__clang__)
  first = __builtin_shufflevector(a, b, (LANE & STEP ? LANES + LANE - STEP : LANE)...);
  second = __builtin_shufflevector(a, b, (LANE & STEP ? LANES + LANE : LANE + STEP)...);
#else
  first = __builtin_shuffle(a, b, Ints{(LANE & STEP ? LANES + LANE - STEP : LANE)...});
  second = __builtin_shuffle(a, b, Ints{(LANE & STEP ? LANES + LANE : LANE + STEP)...});
#endif
}

// One of the steps in which a block of LANES rows of LANES elements is turned: rows that are STEP apart exchange elements.
template <int STEP>
static inline void turn_step(Floats *rows) {
#pragma GCC unroll 16
  for (int i = 0; i < LANES; ++i) {
    if (!(i & STEP)) exchange<STEP>(rows[i], rows[i + STEP], std::make_integer_sequence<int, LANES>());
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

}  // namespace attendo::ATTENDO_VARIANT
