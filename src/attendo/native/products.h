// Products with weights that were packed once: float32, bfloat16 summed up in float32, and int8 with a scale a row on
// both sides.
//
// A packed weight is cut into panels of 32 outputs. A panel holds, for one group of inputs after the other (a group is
// 4 bytes: one float32, two bfloat16 or four int8), the group's weights of all 32 outputs side by side: 128 bytes,
// read in order. Every sum runs over the inputs in their order and belongs to one thread, so a row's result has the
// same bits whatever rows and threads there are beside it.
#pragma once

#include "lanes.h"
#include "team.h"

namespace attendo::ATTENDO_VARIANT {

constexpr int PANEL = 32;
constexpr int GROUP_BYTES = 4 * PANEL;

// int8 activations are kept as the processor's products want them: unsigned, 128 added, or signed.
#if defined(__AVX512VNNI__)
constexpr int SHIFT = 128;
#else
constexpr int SHIFT = 0;
#endif

enum class Precision { float32 = 0, bfloat16 = 1, int8 = 2 };  // as in `native/library.py`

struct Matrix {
  int outputs = 0, inputs = 0, panels = 0, groups = 0;
  Precision precision = Precision::float32;
  Buffer<uint8_t> packed;
  Buffer<float> scales;   // int8: what a code of each output stands for
  Buffer<int32_t> shifts; // int8: what SHIFT adds to each output's sum
  Buffer<float> bias;     // zeros where there is none

  int width() const { return panels * PANEL; }
  const uint8_t *panel(int index) const { return packed.get() + static_cast<size_t>(index) * groups * GROUP_BYTES; }

  // Packs `outputs` x `inputs` weights, row after row: floats, or codes and a scale for each row.
  void pack(Precision as, int new_outputs, int new_inputs, const float *weights, const int8_t *codes,
            const float *row_scales, const float *row_bias) {
    outputs = new_outputs;
    inputs = new_inputs;
    precision = as;
    panels = padded(outputs, PANEL) / PANEL;
    const int in_group = precision == Precision::int8 ? 4 : precision == Precision::bfloat16 ? 2 : 1;
    const int input_bytes = 4 / in_group;
    groups = padded(inputs, in_group) / in_group;
    const size_t bytes = static_cast<size_t>(panels) * groups * GROUP_BYTES;
    memset(packed.reserve(bytes), 0, bytes);
    for (int output = 0; output < outputs; ++output) {
      uint8_t *to = packed.get() + static_cast<size_t>(output / PANEL) * groups * GROUP_BYTES + output % PANEL * 4;
      const size_t row = static_cast<size_t>(output) * inputs;
      for (int input = 0; input < inputs; ++input) {
        uint8_t *at = to + static_cast<size_t>(input / in_group) * GROUP_BYTES + input % in_group * input_bytes;
        if (precision == Precision::int8) {
          *at = static_cast<uint8_t>(codes[row + input]);
        } else if (precision == Precision::bfloat16) {
          const Half half = as_stored(weights[row + input], &half);
          memcpy(at, &half, sizeof half);
        } else {
          memcpy(at, weights + row + input, sizeof(float));
        }
      }
    }
    copy(bias, row_bias);
    if (precision != Precision::int8) return;
    copy(scales, row_scales);
    shifts.reserve(width());
    for (int output = 0; output < width(); ++output) {
      int32_t total = 0;
      for (int input = 0; output < outputs && input < inputs; ++input) {
        total += codes[static_cast<size_t>(output) * inputs + input];
      }
      shifts[output] = SHIFT * total;
    }
  }

 private:
  void copy(Buffer<float> &to, const float *from) {
    to.reserve(width());
    for (int i = 0; i < width(); ++i) to[i] = from && i < outputs ? from[i] : 0.0f;
  }
};

// Rows that go into a product, in the weight's precision.
struct Rows {
  const float *floats;
  const Half *halves;
  const uint8_t *codes;
  const float *scales;  // of codes
  size_t stride;        // in values
};

// A row's codes: the largest magnitude becomes 127. Its scale does not depend on any other row.
static inline float quantize(const float *from, int size, uint8_t *to) {
  // Magnitudes compare like their bits, and what is no number is larger than all that are.
  Ints most{};
  for (int i = 0; i < size; i += LANES) {
    const Ints value = (Ints)absolute(load(from + i));
    most = value > most ? value : most;
  }
  int32_t parts[LANES], bits = 0;
  memcpy(parts, &most, sizeof parts);
  for (int32_t part : parts) bits = part > bits ? part : bits;
  float top;
  memcpy(&top, &bits, sizeof top);
  const bool vanishing = 127.0f / top == INFINITE;
  const float inverse = vanishing ? 0.0f : 127.0f / top;
  for (int i = 0; i < size; i += LANES) {
    const Ints code = __builtin_convertvector(whole(rounded(load(from + i) * inverse)), Ints) + SHIFT;
#if defined(__AVX512F__)
    _mm_storeu_si128((__m128i *)(to + i), _mm512_cvtepi32_epi8((__m512i)code));
#else
    for (int lane = 0; lane < LANES; ++lane) to[i + lane] = static_cast<uint8_t>(code[lane]);
#endif
  }
  return vanishing ? 1.0f : top / 127.0f;
}

// A tile of the result: up to TILE_ROWS rows by one panel, whose sums stay in registers.
constexpr int TILE_ROWS = 8;

struct Tile {
  const Matrix *weight;
  int panel;
  const Rows *rows;
  int first_row;
  float *out;  // of the first row and the panel's first output
  size_t stride;
  bool relu;
};

// The next panel comes from far: its group at this place is asked for while this one is worked on.
static inline void prefetch(const uint8_t *at) {
  __builtin_prefetch(at, 0, 2);
  __builtin_prefetch(at + GROUP_BYTES / 2, 0, 2);
}

static inline void finish(const Tile &tile, int row, int lane, Floats value) {
  if (tile.relu) value = value < 0.0f ? Floats{} : value;
  store(tile.out + row * tile.stride + lane, value);
}

template <int ROWS>
static void float_tile(const Tile &tile) {
  const Matrix &weight = *tile.weight;
  const size_t stride = tile.rows->stride;
  const float *x = tile.rows->floats + tile.first_row * stride;
  constexpr int WIDE = LANES == 16 ? 2 : 1;
  const size_t ahead = static_cast<size_t>(weight.groups) * GROUP_BYTES;
  for (int lane = 0; lane < PANEL; lane += WIDE * LANES) {
    Floats sums[ROWS][WIDE] = {};
    const float *w = reinterpret_cast<const float *>(weight.panel(tile.panel)) + lane;
    for (int input = 0; input < weight.groups; ++input, w += PANEL) {
      prefetch(reinterpret_cast<const uint8_t *>(w) + ahead);
      Floats values[WIDE];
#pragma GCC unroll 2
      for (int i = 0; i < WIDE; ++i) values[i] = load(w + i * LANES);
#pragma GCC unroll 8
      for (int row = 0; row < ROWS; ++row) {
#pragma GCC unroll 2
        for (int i = 0; i < WIDE; ++i) sums[row][i] += values[i] * x[row * stride + input];
      }
    }
    for (int i = 0; i < WIDE; ++i) {
      const Floats bias = load(weight.bias.get() + tile.panel * PANEL + lane + i * LANES);
      for (int row = 0; row < ROWS; ++row) finish(tile, row, lane + i * LANES, sums[row][i] + bias);
    }
  }
}

// Sums of two products each, for LANES outputs.
static inline Floats add_half_products(Floats total, uint32_t x, const uint8_t *w) {
#if defined(__AVX512BF16__)
  return (Floats)_mm512_dpbf16_ps((__m512)total, (__m512bh)_mm512_set1_epi32((int)x), (__m512bh)_mm512_loadu_si512(w));
#else
  FloatBits bits;
  memcpy(&bits, w, sizeof bits);
  const uint32_t upper = 0xFFFF0000, first = x << 16, second = x & upper;
  float one, two;
  memcpy(&one, &first, sizeof one);
  memcpy(&two, &second, sizeof two);
  return total + (Floats)(bits << 16) * one + (Floats)(bits & upper) * two;
#endif
}

template <int ROWS>
static void half_tile(const Tile &tile) {
  const Matrix &weight = *tile.weight;
  const size_t stride = tile.rows->stride;
  const Half *x = tile.rows->halves + tile.first_row * stride;
  constexpr int WIDE = LANES == 16 ? 2 : 1;
  const size_t ahead = static_cast<size_t>(weight.groups) * GROUP_BYTES;
  for (int lane = 0; lane < PANEL; lane += WIDE * LANES) {
    Floats sums[ROWS][WIDE] = {};
    const uint8_t *w = weight.panel(tile.panel) + lane * 4;
    for (int group = 0; group < weight.groups; ++group, w += GROUP_BYTES) {
      prefetch(w + ahead);
#pragma GCC unroll 8
      for (int row = 0; row < ROWS; ++row) {
        uint32_t two;
        memcpy(&two, x + row * stride + 2 * group, sizeof two);
#pragma GCC unroll 2
        for (int i = 0; i < WIDE; ++i) sums[row][i] = add_half_products(sums[row][i], two, w + i * LANES * 4);
      }
    }
    for (int i = 0; i < WIDE; ++i) {
      const Floats bias = load(weight.bias.get() + tile.panel * PANEL + lane + i * LANES);
      for (int row = 0; row < ROWS; ++row) finish(tile, row, lane + i * LANES, sums[row][i] + bias);
    }
  }
}

// Sums of four products each, for LANES outputs, exactly: as signed integers of 32 bits.
static inline Ints add_products(Ints total, uint32_t x, const uint8_t *w) {
#if defined(__AVX512VNNI__)
  return (Ints)_mm512_dpbusd_epi32((__m512i)total, _mm512_set1_epi32((int)x), _mm512_loadu_si512(w));
#elif defined(__AVX2__)
  // |x| times w with x's sign: two such products fit into 16 bits, since no code is -128.
  const __m256i codes = _mm256_set1_epi32((int)x);
  const __m256i signed_w = _mm256_sign_epi8(_mm256_loadu_si256((const __m256i *)w), codes);
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(codes), signed_w);
  return total + (Ints)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
#else
  for (int lane = 0; lane < LANES; ++lane)
    for (int i = 0; i < 4; ++i)
      total[lane] += static_cast<int8_t>(x >> (8 * i)) * static_cast<int8_t>(w[4 * lane + i]);
  return total;
#endif
}

template <int ROWS>
static void int8_tile(const Tile &tile) {
  const Matrix &weight = *tile.weight;
  const uint8_t *panel = weight.panel(tile.panel);
  const size_t stride = tile.rows->stride;
  const uint8_t *x = tile.rows->codes + tile.first_row * stride;
  constexpr int WIDE = LANES == 16 ? 2 : 1;
  const size_t ahead = static_cast<size_t>(weight.groups) * GROUP_BYTES;
  for (int lane = 0; lane < PANEL; lane += WIDE * LANES) {
    Ints sums[ROWS][WIDE] = {};
    const uint8_t *w = panel + lane * 4;
    for (int group = 0; group < weight.groups; ++group, w += GROUP_BYTES) {
      prefetch(w + ahead);
#pragma GCC unroll 8
      for (int row = 0; row < ROWS; ++row) {
        uint32_t four;
        memcpy(&four, x + row * stride + 4 * group, sizeof four);
#pragma GCC unroll 2
        for (int i = 0; i < WIDE; ++i) sums[row][i] = add_products(sums[row][i], four, w + i * LANES * 4);
      }
    }
    for (int i = 0; i < WIDE; ++i) {
      const int output = tile.panel * PANEL + lane + i * LANES;
      Ints shift;
      memcpy(&shift, weight.shifts.get() + output, sizeof shift);
      const Floats scale = load(weight.scales.get() + output), bias = load(weight.bias.get() + output);
      for (int row = 0; row < ROWS; ++row) {
        const Floats exact = __builtin_convertvector(sums[row][i] - shift, Floats);
        finish(tile, row, lane + i * LANES, exact * (scale * tile.rows->scales[tile.first_row + row]) + bias);
      }
    }
  }
}

using TileFunction = void (*)(const Tile &);

static const TileFunction FLOAT_TILES[TILE_ROWS + 1] = {nullptr,       float_tile<1>, float_tile<2>,
                                                        float_tile<3>, float_tile<4>, float_tile<5>,
                                                        float_tile<6>, float_tile<7>, float_tile<8>};
static const TileFunction HALF_TILES[TILE_ROWS + 1] = {nullptr,      half_tile<1>, half_tile<2>,
                                                       half_tile<3>, half_tile<4>, half_tile<5>,
                                                       half_tile<6>, half_tile<7>, half_tile<8>};
static const TileFunction INT8_TILES[TILE_ROWS + 1] = {nullptr,      int8_tile<1>, int8_tile<2>,
                                                       int8_tile<3>, int8_tile<4>, int8_tile<5>,
                                                       int8_tile<6>, int8_tile<7>, int8_tile<8>};

constexpr size_t CACHED_BYTES = 320 << 10;  // of the rows that are kept at hand while all panels pass by

// Panels `first` to `last` of the product of `count` rows with a weight; `out` is where the first panel's outputs go.
static void multiply_panels(const Rows &rows, int count, const Matrix &weight, int first, int last, float *out,
                            size_t stride, bool relu) {
  static const TileFunction *const all_tiles[] = {FLOAT_TILES, HALF_TILES, INT8_TILES};
  static const size_t value_bytes[] = {sizeof(float), sizeof(Half), 1};
  const int precision = static_cast<int>(weight.precision);
  const TileFunction *tiles = all_tiles[precision];
  int at_once = static_cast<int>(CACHED_BYTES / (rows.stride * value_bytes[precision])) / TILE_ROWS * TILE_ROWS;
  if (at_once < TILE_ROWS) at_once = TILE_ROWS;
  for (int start = 0; start < count; start += at_once) {
    const int here = count - start < at_once ? count - start : at_once;
    const int blocks = (here + TILE_ROWS - 1) / TILE_ROWS;
    for (int panel = first; panel < last; ++panel) {
      for (int block = 0; block < blocks; ++block) {
        // Blocks of about equal size: a last one of one row would cost nearly as much as a whole one.
        const int from = start + here * block / blocks, to = start + here * (block + 1) / blocks;
        tiles[to - from]({&weight, panel, &rows, from, out + from * stride + (panel - first) * PANEL, stride, relu});
      }
    }
  }
}

struct ProductJob {
  const Rows *rows;
  int count;
  const Matrix *weight;
  float *out;
  size_t stride;
  bool relu;
};

// out[r] = rows[r] W^T + bias, `(count, width())` floats with `stride` between rows; negative ones 0 where `relu`.
static void multiply(Team *team, const Rows &rows, int count, const Matrix &weight, float *out, size_t stride,
                     bool relu = false) {
  ProductJob job{&rows, count, &weight, out, stride, relu};
  team_run(
      team,
      [](void *context, int thread, int threads) {
        const ProductJob &j = *static_cast<ProductJob *>(context);
        const int first = j.weight->panels * thread / threads, last = j.weight->panels * (thread + 1) / threads;
        multiply_panels(*j.rows, j.count, *j.weight, first, last, j.out + first * PANEL, j.stride, j.relu);
      },
      &job);
}

}  // namespace attendo::ATTENDO_VARIANT
