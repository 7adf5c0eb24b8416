// Products with weights that were packed once: float32, bfloat16 summed up in float32, and int8 with a scale a row on
// both sides.
//
// A packed weight is cut into panels of 32 outputs. A panel holds, for one group of inputs after the other (a group is
// 4 bytes: one float32, two bfloat16 or four int8), the group's weights of all 32 outputs side by side: 128 bytes,
// read in order. Where instructions multiply matrices (NEON's smmla and bfmmla), two groups of bfloat16 or int8 make a
// chunk, which takes the group's place; and two rows lie in memory in turns, a chunk of each. Every sum runs over the
// inputs in their order and belongs to one thread, so a row's result has the same bits whatever rows and threads there are
// beside it.
#pragma once

#include "amx.h"
#include "lanes.h"

namespace attendo::ATTENDO_VARIANT {

constexpr int PANEL = 32;
constexpr int GROUP_BYTES = 4 * PANEL;

// int8 activations are kept as the processor's products want them: unsigned, 128 added, or signed.
#if defined(__AVX512VNNI__) || defined(ATTENDO_AMX)
constexpr int SHIFT = 128;
#else
constexpr int SHIFT = 0;
#endif

// A tile register holds this many groups: there weights of bfloat16 and int8 are filled up with zeros to a multiple of it.
#if defined(ATTENDO_AMX)
constexpr int WHOLE_GROUPS = 16;
#else
constexpr int WHOLE_GROUPS = 1;
#endif

// How many bytes of a row of bfloat16 or int8 one instruction multiplies with each output's, and how many rows at once.
#if defined(ATTENDO_NEON) && defined(__ARM_FEATURE_MATMUL_INT8)
constexpr int CHUNK_BYTES = 8, ROWS_IN_TURNS = 2;
#else
constexpr int CHUNK_BYTES = 4, ROWS_IN_TURNS = 1;
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
    groups = padded(padded(inputs, in_group) / in_group, precision == Precision::float32 ? 1 : WHOLE_GROUPS);
    const size_t bytes = static_cast<size_t>(panels) * groups * GROUP_BYTES;
    memset(packed.reserve(bytes), 0, bytes);
    const int chunk_bytes = precision == Precision::float32 ? 4 : CHUNK_BYTES, in_chunk = chunk_bytes / input_bytes;
    for (int output = 0; output < outputs; ++output) {
      uint8_t *to = packed.get() + static_cast<size_t>(output / PANEL) * groups * GROUP_BYTES;
      to += output % PANEL * chunk_bytes;
      const size_t row = static_cast<size_t>(output) * inputs;
      for (int input = 0; input < inputs; input += in_chunk, to += PANEL * chunk_bytes) {
        const int count = inputs - input < in_chunk ? inputs - input : in_chunk;
        if (precision == Precision::int8) memcpy(to, codes + row + input, count);
        else if (precision == Precision::bfloat16) pack_halves(weights + row + input, count, to);
        else memcpy(to, weights + row + input, count * sizeof(float));
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
  static void pack_halves(const float *from, int count, uint8_t *to) {
    for (int i = 0; i < count; ++i) {
      const Half half = as_stored(from[i], &half);
      memcpy(to + i * sizeof half, &half, sizeof half);
    }
  }

  void copy(Buffer<float> &to, const float *from) {
    to.reserve(width());
    for (int i = 0; i < width(); ++i) to[i] = from && i < outputs ? from[i] : 0.0f;
  }
};

// Rows that go into a product, in the weight's precision: groups of 4 bytes, as the weight has them.
struct Rows {
  const uint8_t *groups;
  const float *scales;  // of int8 rows
  size_t stride;        // in bytes
};

static inline const uint8_t *bytes_of(const void *values) { return static_cast<const uint8_t *>(values); }

// A row of bfloat16 or int8 that is written: where its values belong among those of the row that it takes turns with.
template <class T>
class RowInTurn {
 public:
  // Of rows that are `stride` values apart, in memory for a multiple of ROWS_IN_TURNS rows.
  RowInTurn(T *rows, int row, size_t stride)
      : start_(rows + row / ROWS_IN_TURNS * (ROWS_IN_TURNS * stride) + row % ROWS_IN_TURNS * CHUNK) {}

  // Where the value `i` is, and with it all up to the next multiple of CHUNK; without turns, all others.
  T *at(int i) const { return ROWS_IN_TURNS == 1 ? start_ + i : start_ + i / CHUNK * (ROWS_IN_TURNS * CHUNK) + i % CHUNK; }

 private:
  static constexpr int CHUNK = CHUNK_BYTES / sizeof(T);
  static_assert(ROWS_IN_TURNS == 1 || CHUNK % LANES == 0);
  T *start_;
};

// LANES values, rounded to the nearest whole numbers, as codes.
static inline void store_codes(Floats values, uint8_t *to) {
#if defined(__AVX512F__)
  const Ints codes = (Ints)_mm512_cvtps_epi32((__m512)values) + SHIFT;
  _mm_storeu_si128((__m128i *)to, _mm512_cvtepi32_epi8((__m512i)codes));
#elif defined(ATTENDO_NEON)
  const int16x4_t codes = vmovn_s32(vcvtnq_s32_f32((float32x4_t)values));
  const int8x8_t four = vmovn_s16(vcombine_s16(codes, codes));
  memcpy(to, &four, LANES);
#else
  const Ints codes = __builtin_convertvector(whole(values), Ints) + SHIFT;
  for (int lane = 0; lane < LANES; ++lane) to[lane] = static_cast<uint8_t>(codes[lane]);
#endif
}

// A row's codes: the largest magnitude becomes 127. Its scale does not depend on any other row.
static inline float quantize(const float *from, int size, const RowInTurn<uint8_t> &to) {
  // Magnitudes compare like their bits, and what is no number is larger than all that are.
  Ints most{};
  for (int i = 0; i < size; i += LANES) {
    const Ints value = (Ints)absolute(load(from + i));
    most = value > most ? value : most;
  }
  const int32_t bits = largest(most);
  float top;
  memcpy(&top, &bits, sizeof top);
  const bool vanishing = 127.0f / top == INFINITE;
  const float inverse = vanishing ? 0.0f : 127.0f / top;
  for (int i = 0; i < size; i += LANES) store_codes(rounded(load(from + i) * inverse), to.at(i));
  return vanishing ? 1.0f : top / 127.0f;
}

// A row in bfloat16, zeros behind it up to the weight's last group: what lies there could be no number.
static inline void to_bfloat16(const float *from, const Matrix &weight, const RowInTurn<Half> &to) {
  for (int i = 0; i < weight.inputs; i += LANES) store(to.at(i), load(from + i));
  for (int i = weight.inputs; i < 2 * weight.groups; ++i) *to.at(i) = {};
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

// Weights come from far, one panel behind the other: they are asked for a while before they are needed. As far ahead as
// this, and into the nearest cache, is as fast as anything for weights that lie in a cache, and faster from memory.
constexpr size_t AHEAD_BYTES = 8 << 10;

static inline void prefetch(const uint8_t *at) {
  __builtin_prefetch(at + AHEAD_BYTES);
  __builtin_prefetch(at + AHEAD_BYTES + GROUP_BYTES / 2);
}

// Each adds one group's products to LANES sums: x is a row's group, w the weights of LANES outputs.
struct FloatProducts {
  using Sums = Floats;

  static Floats add(Floats total, const uint8_t *x, const uint8_t *w) {
    float value;
    memcpy(&value, x, sizeof value);
    return total + load(reinterpret_cast<const float *>(w)) * value;
  }
};

struct HalfProducts {
  using Sums = Floats;

  static Floats add(Floats total, const uint8_t *x, const uint8_t *w) {
    uint32_t two;
    memcpy(&two, x, sizeof two);
#if defined(__AVX512BF16__)
    const __m512bh values = (__m512bh)_mm512_set1_epi32((int)two);
    return (Floats)_mm512_dpbf16_ps((__m512)total, values, (__m512bh)_mm512_loadu_si512(w));
#else
    FloatBits bits;
    memcpy(&bits, w, sizeof bits);
    const uint32_t upper = 0xFFFF0000, first = two << 16, second = two & upper;
    float one, other;
    memcpy(&one, &first, sizeof one);
    memcpy(&other, &second, sizeof other);
    return total + (Floats)(bits << 16) * one + (Floats)(bits & upper) * other;
#endif
  }
};

// Exactly: as signed integers of 32 bits.
struct Int8Products {
  using Sums = Ints;

  static Ints add(Ints total, const uint8_t *x, const uint8_t *w) {
    uint32_t four;
    memcpy(&four, x, sizeof four);
#if defined(__AVX512VNNI__)
    return (Ints)_mm512_dpbusd_epi32((__m512i)total, _mm512_set1_epi32((int)four), _mm512_loadu_si512(w));
#elif defined(__AVX2__)
    // |x| times w with x's sign: two such products fit into 16 bits, since no code is -128.
    const __m256i codes = _mm256_set1_epi32((int)four);
    const __m256i signed_w = _mm256_sign_epi8(_mm256_loadu_si256((const __m256i *)w), codes);
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(codes), signed_w);
    return total + (Ints)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
#else
    for (int lane = 0; lane < LANES; ++lane)
      for (int i = 0; i < 4; ++i)
        total[lane] += static_cast<int8_t>(four >> (8 * i)) * static_cast<int8_t>(w[4 * lane + i]);
    return total;
#endif
  }
};

// What sums stand for, from LANES outputs of one row.
static inline Floats value_of(Ints sums, Ints shift, Floats scale) {
  return __builtin_convertvector(sums - shift, Floats) * scale;
}

static inline Floats value_of(Floats sums, const Tile &, int, int) { return sums; }

static inline Floats value_of(Ints sums, const Tile &tile, int output, int row) {
  Ints shift;
  memcpy(&shift, tile.weight->shifts.get() + output, sizeof shift);
  return value_of(sums, shift, load(tile.weight->scales.get() + output) * tile.rows->scales[tile.first_row + row]);
}

// Stores LANES values of the tile.
static inline void put(const Tile &tile, int row, int column, Floats value) {
  if (tile.relu) value = not_below_zero(value);
  store(tile.out + row * tile.stride + column, value);
}

template <class Products, int ROWS>
static void multiply_tile(const Tile &tile) {
  const Matrix &weight = *tile.weight;
  const size_t stride = tile.rows->stride;
  const uint8_t *x = tile.rows->groups + tile.first_row * stride;
  constexpr int WIDE = LANES == 16 ? 2 : 1;
  for (int lane = 0; lane < PANEL; lane += WIDE * LANES) {
    typename Products::Sums sums[ROWS][WIDE] = {};
    const uint8_t *w = weight.panel(tile.panel) + lane * 4;
    for (int group = 0; group < weight.groups; ++group, w += GROUP_BYTES) {
      prefetch(w);
#pragma GCC unroll 8
      for (int row = 0; row < ROWS; ++row) {
        const uint8_t *here = x + row * stride + 4 * group;
#pragma GCC unroll 2
        for (int i = 0; i < WIDE; ++i) sums[row][i] = Products::add(sums[row][i], here, w + i * LANES * 4);
      }
    }
    for (int i = 0; i < WIDE; ++i) {
      const int column = lane + i * LANES, output = tile.panel * PANEL + column;
      const Floats bias = load(weight.bias.get() + output);
      for (int row = 0; row < ROWS; ++row) {
        put(tile, row, column, value_of(sums[row][i], tile, output, row) + bias);
      }
    }
  }
}

using TileFunction = void (*)(const Tile &);

template <class Products>
static void multiply_rows(int rows, const Tile &tile) {
  static const TileFunction tiles[TILE_ROWS] = {
      multiply_tile<Products, 1>, multiply_tile<Products, 2>, multiply_tile<Products, 3>, multiply_tile<Products, 4>,
      multiply_tile<Products, 5>, multiply_tile<Products, 6>, multiply_tile<Products, 7>, multiply_tile<Products, 8>};
  tiles[rows - 1](tile);
}

constexpr size_t CACHED_BYTES = 320 << 10;  // of the rows that are kept at hand while all panels pass by

// How many rows that is: a multiple of a block's.
static inline int rows_at_once(const Rows &rows, int block) {
  const int fitting = static_cast<int>(CACHED_BYTES / rows.stride) / block * block;
  return fitting < block ? block : fitting;
}

}  // namespace attendo::ATTENDO_VARIANT
