// Products of rows with a packed weight in NEON's vectors (Arm's Architecture Reference Manual, chapter C7).
//
// The rows and the packed weight are those of `products.h`. A tile is up to 8 rows by one panel, which passes by in strips
// of up to 32 outputs. All sums of a strip stay in registers, of which there are 32: the fewer rows there are, the wider is
// the strip, so that enough sums are under way to hide how long one instruction takes, and few numbers are loaded for each.
//
// A step takes 16 bytes of every row. Which instructions multiply them is up to the processor:
//
//   FusedFloats   float32: fmla by element. A number of the row times four outputs' weights.
//   WidenedHalves bfloat16 without instructions for it: both halves of a group become float32, then fmla by element.
//   MatrixHalves  bfloat16: bfmmla, two rows by two outputs, four inputs of each.
//   PairedCodes   int8 without instructions for it: smull and smlal add two products up in 16 bits, sadalp two sums in 32.
//   DottedCodes   int8: sdot by element. Four codes of the row times those of four outputs.
//   MatrixCodes   int8: smmla, two rows by two outputs, eight inputs of each.
//
// int8 sums are exact, so they are those of every other variant, to the bit. Sums of float32 and of widened bfloat16 are
// in the order of the inputs, one fused operation each. bfmmla adds two products at a time and rounds to odd, which errs by
// less than a unit of the last place (elsewhere by half of one); it takes what is below 2^-126 as 0. In each of them a
// sum goes the same way whatever rows are beside it, and in whichever place.
#pragma once

#include <utility>

#include "products.h"

#if defined(ATTENDO_NEON)

namespace attendo::ATTENDO_VARIANT {

constexpr int STEP_BYTES = 16, STEP_GROUPS = STEP_BYTES / 4;
static_assert(LANES == 4 && PADDED % STEP_BYTES == 0);  // rows are whole steps in every precision

// What follows are kernels. A unit is what one of a kernel's instructions takes of the rows: one row, or two in turns.
//
//   ROWS             rows of a unit
//   PARTS            that a step consists of, 512 / PARTS bytes of the panel each; VECTOR_BYTES of them are four outputs'
//   SUM_REGISTERS    hold Sums: those of a unit's rows and of four outputs
//   INPUT_REGISTERS  hold Inputs: a unit's share of a step
//   OTHER_REGISTERS  are for weights and what is between them and the sums
//   read(x)          gives the Inputs
//   add<PART>        adds the products of one part of them with the weights of four outputs
//   values           gives the sums of one of the unit's rows

struct FusedFloats {
  static constexpr int ROWS = 1, PARTS = 4, VECTOR_BYTES = 16;
  static constexpr int SUM_REGISTERS = 1, INPUT_REGISTERS = 1, OTHER_REGISTERS = 8;
  using Sums = float32x4_t;
  using Inputs = float32x4_t;

  static Inputs read(const uint8_t *x) { return vreinterpretq_f32_u8(vld1q_u8(x)); }

  template <int PART>
  static void add(Sums &sums, const Inputs &x, const uint8_t *w) {
    sums = vfmaq_laneq_f32(sums, vreinterpretq_f32_u8(vld1q_u8(w)), x, PART);
  }

  static Floats values(const Sums &sums, int) { return (Floats)sums; }
};

struct WidenedHalves {
  static constexpr int ROWS = 1, PARTS = 4, VECTOR_BYTES = 16;
  static constexpr int SUM_REGISTERS = 1, INPUT_REGISTERS = 2, OTHER_REGISTERS = 14;
  using Sums = float32x4_t;
  struct Inputs {
    float32x4_t first, second;  // of four groups
  };

  // As little-endian words, groups have their first number in the lower half.
  static Inputs read(const uint8_t *groups) {
    const uint32x4_t two = vreinterpretq_u32_u8(vld1q_u8(groups));
    return {vreinterpretq_f32_u32(vshlq_n_u32(two, 16)), vreinterpretq_f32_u32(vandq_u32(two, vdupq_n_u32(0xFFFF0000)))};
  }

  template <int PART>
  static void add(Sums &sums, const Inputs &x, const uint8_t *w) {
    const Inputs weights = read(w);
    sums = vfmaq_laneq_f32(sums, weights.first, x.first, PART);
    sums = vfmaq_laneq_f32(sums, weights.second, x.second, PART);
  }

  static Floats values(const Sums &sums, int) { return (Floats)sums; }
};

struct PairedCodes {
  static constexpr int ROWS = 1, PARTS = 2, VECTOR_BYTES = 16;
  static constexpr int SUM_REGISTERS = 2, INPUT_REGISTERS = 1, OTHER_REGISTERS = 6;
  // Of the first two outputs and of the second two; an output's sum is in two neighbouring lanes.
  struct Sums {
    int32x4_t low, high;
  };
  using Inputs = int32x4_t;  // four groups

  static Inputs read(const uint8_t *x) { return vreinterpretq_s32_u8(vld1q_u8(x)); }

  // Two products fit into 16 bits, since no code is -128: 2 * 127 * 127 < 2^15.
  template <int PART>
  static void add(Sums &sums, const Inputs &x, const uint8_t *w) {
    const int8x16_t here = vreinterpretq_s8_s32(vdupq_laneq_s32(x, 2 * PART));
    const int8x16_t next = vreinterpretq_s8_s32(vdupq_laneq_s32(x, 2 * PART + 1));
    const int8x16_t here_w = vreinterpretq_s8_u8(vld1q_u8(w)), next_w = vreinterpretq_s8_u8(vld1q_u8(w + GROUP_BYTES));
    const int16x8_t low = vmull_s8(vget_low_s8(here_w), vget_low_s8(here));
    const int16x8_t high = vmull_high_s8(here_w, here);
    sums.low = vpadalq_s16(sums.low, vmlal_s8(low, vget_low_s8(next_w), vget_low_s8(next)));
    sums.high = vpadalq_s16(sums.high, vmlal_high_s8(high, next_w, next));
  }

  static Ints values(const Sums &sums, int) { return (Ints)vpaddq_s32(sums.low, sums.high); }
};

#if defined(__ARM_FEATURE_DOTPROD)
struct DottedCodes {
  static constexpr int ROWS = 1, PARTS = 4, VECTOR_BYTES = 16;
  static constexpr int SUM_REGISTERS = 1, INPUT_REGISTERS = 1, OTHER_REGISTERS = 8;
  using Sums = int32x4_t;
  using Inputs = int8x16_t;

  static Inputs read(const uint8_t *x) { return vreinterpretq_s8_u8(vld1q_u8(x)); }

  template <int PART>
  static void add(Sums &sums, const Inputs &x, const uint8_t *w) {
    sums = vdotq_laneq_s32(sums, vreinterpretq_s8_u8(vld1q_u8(w)), x, PART);
  }

  static Ints values(const Sums &sums, int) { return (Ints)sums; }
};
#endif

#if defined(__ARM_FEATURE_MATMUL_INT8)
// What smmla and bfmmla have in common: a register holds [row 0, row 1] x [output 0, output 1], so four outputs are two
// registers; a chunk of weights is 8 bytes of one output, a step of two rows two chunks of each in turns.
template <class Vector>
struct MatrixSums {
  Vector low, high;  // of the first two outputs and of the second two

  // One row's, of all four.
  template <class Values>
  Values row(int which) const {
    const uint64x2_t one = (uint64x2_t)low, other = (uint64x2_t)high;
    return (Values)(which ? vzip2q_u64(one, other) : vzip1q_u64(one, other));
  }
};

struct MatrixCodes {
  static constexpr int ROWS = ROWS_IN_TURNS, PARTS = 2, VECTOR_BYTES = 32;
  static constexpr int SUM_REGISTERS = 2, INPUT_REGISTERS = 2, OTHER_REGISTERS = 6;
  using Sums = MatrixSums<int32x4_t>;
  using Inputs = int8x16x2_t;

  static int8x16_t chunks(const uint8_t *from) { return vreinterpretq_s8_u8(vld1q_u8(from)); }
  static Inputs read(const uint8_t *x) { return {chunks(x), chunks(x + STEP_BYTES)}; }

  template <int PART>
  static void add(Sums &sums, const Inputs &x, const uint8_t *w) {
    sums.low = vmmlaq_s32(sums.low, x.val[PART], chunks(w));
    sums.high = vmmlaq_s32(sums.high, x.val[PART], chunks(w + STEP_BYTES));
  }

  static Ints values(const Sums &sums, int row) { return sums.row<Ints>(row); }
};
#endif

#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
struct MatrixHalves {
  static constexpr int ROWS = ROWS_IN_TURNS, PARTS = 2, VECTOR_BYTES = 32;
  static constexpr int SUM_REGISTERS = 2, INPUT_REGISTERS = 2, OTHER_REGISTERS = 6;
  using Sums = MatrixSums<float32x4_t>;
  using Inputs = bfloat16x8x2_t;

  static bfloat16x8_t chunks(const uint8_t *from) { return vreinterpretq_bf16_u8(vld1q_u8(from)); }
  static Inputs read(const uint8_t *x) { return {chunks(x), chunks(x + STEP_BYTES)}; }

  template <int PART>
  static void add(Sums &sums, const Inputs &x, const uint8_t *w) {
    sums.low = vbfmmlaq_f32(sums.low, x.val[PART], chunks(w));
    sums.high = vbfmmlaq_f32(sums.high, x.val[PART], chunks(w + STEP_BYTES));
  }

  static Floats values(const Sums &sums, int row) { return sums.row<Floats>(row); }
};
#endif

#if defined(__ARM_FEATURE_MATMUL_INT8)
using Codes = MatrixCodes;
#elif defined(__ARM_FEATURE_DOTPROD)
using Codes = DottedCodes;
#else
using Codes = PairedCodes;
#endif

#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
using Halves = MatrixHalves;
#else
using Halves = WidenedHalves;
#endif
static_assert(Codes::ROWS == ROWS_IN_TURNS && Halves::ROWS == ROWS_IN_TURNS);

// How many vectors of four outputs a strip is wide, so that all of it fits into the registers.
template <class Kernel>
constexpr int vectors_beside(int units) {
  constexpr int REGISTERS = 32 - Kernel::OTHER_REGISTERS;
  int vectors = PANEL / LANES;
  while (vectors > 1 && units * (vectors * Kernel::SUM_REGISTERS + Kernel::INPUT_REGISTERS) > REGISTERS) vectors /= 2;
  return vectors;
}

template <class Kernel, int PART, int UNITS, int VECTORS>
[[gnu::always_inline]] static inline void add_part(const typename Kernel::Inputs (&x)[UNITS], const uint8_t *w,
                                                   typename Kernel::Sums (&sums)[UNITS][VECTORS]) {
  const uint8_t *part = w + PART * (STEP_GROUPS * GROUP_BYTES / Kernel::PARTS);
#pragma GCC unroll 8
  for (int v = 0; v < VECTORS; ++v) {
#pragma GCC unroll 8
    for (int unit = 0; unit < UNITS; ++unit) {
      Kernel::template add<PART>(sums[unit][v], x[unit], part + v * Kernel::VECTOR_BYTES);
    }
  }
}

// In line, as all that has to do with sums: a function that is called gets them through memory.
template <class Kernel, int UNITS, int VECTORS, int... PARTS>
[[gnu::always_inline]] static inline void add_step(const uint8_t *x, size_t unit_stride, const uint8_t *w,
                                                   typename Kernel::Sums (&sums)[UNITS][VECTORS],
                                                   std::integer_sequence<int, PARTS...>) {
  typename Kernel::Inputs inputs[UNITS];
#pragma GCC unroll 8
  for (int unit = 0; unit < UNITS; ++unit) inputs[unit] = Kernel::read(x + unit * unit_stride);
  (add_part<Kernel, PARTS>(inputs, w, sums), ...);
}

// What the sums of a row and of four outputs from `output` on stand for; only codes have scales, and SHIFT is 0.
static inline Floats value_of(Ints sums, const float *scales, int output, const float *row_scales, int row) {
  return value_of(sums, Ints{}, load(scales + output) * row_scales[row]);
}
static inline Floats value_of(Floats sums, const float *, int, const float *, int) { return sums; }

// Stores the values of `rows` rows, of which the last unit may have one less than it could.
template <class Kernel, int UNITS, int VECTORS>
[[gnu::always_inline]] static inline void put_strip(const Tile &of, int rows, int column,
                                                    const typename Kernel::Sums (&sums)[UNITS][VECTORS]) {
  // Taken out of memory before anything is stored: a compiler would read it again behind each store.
  const Tile tile = of;
  const float *bias = tile.weight->bias.get(), *scales = tile.weight->scales.get(), *row_scales = tile.rows->scales;
#pragma GCC unroll 8
  for (int v = 0; v < VECTORS; ++v) {
    const int here = column + v * LANES, output = tile.panel * PANEL + here;
#pragma GCC unroll 8
    for (int row = 0; row < UNITS * Kernel::ROWS; ++row) {
      if (Kernel::ROWS > 1 && row == rows) break;
      const auto row_sums = Kernel::values(sums[row / Kernel::ROWS][v], row % Kernel::ROWS);
      put(tile, row, here, value_of(row_sums, scales, output, row_scales, tile.first_row + row) + load(bias + output));
    }
  }
}

// A strip from the output `column` of the panel on. Only a tile's first strip asks for weights ahead: it touches every
// line of the panel, and the others find them in the cache.
template <class Kernel, int UNITS, bool IS_FIRST>
static void multiply_strip(const Tile &tile, int rows, int column) {
  constexpr int VECTORS = vectors_beside<Kernel>(UNITS);
  const size_t stride = tile.rows->stride;
  const uint8_t *x = tile.rows->groups + tile.first_row * stride;
  const uint8_t *w = tile.weight->panel(tile.panel) + column / LANES * Kernel::VECTOR_BYTES;
  typename Kernel::Sums sums[UNITS][VECTORS] = {};
  for (int group = 0; group < tile.weight->groups; group += STEP_GROUPS, x += Kernel::ROWS * STEP_BYTES) {
    if (IS_FIRST) {
#pragma GCC unroll 4
      for (int i = 0; i < STEP_GROUPS; ++i) prefetch(w + i * GROUP_BYTES);
    }
    add_step<Kernel>(x, Kernel::ROWS * stride, w, sums, std::make_integer_sequence<int, Kernel::PARTS>());
    w += STEP_GROUPS * GROUP_BYTES;
  }
  put_strip<Kernel>(tile, rows, column, sums);
}

template <class Kernel, int UNITS>
static void multiply_units(const Tile &tile, int rows) {
  constexpr int WIDTH = vectors_beside<Kernel>(UNITS) * LANES;
  multiply_strip<Kernel, UNITS, true>(tile, rows, 0);
  for (int column = WIDTH; column < PANEL; column += WIDTH) multiply_strip<Kernel, UNITS, false>(tile, rows, column);
}

template <class Kernel, int... UNITS>
static void multiply_by_units(int rows, const Tile &tile, std::integer_sequence<int, UNITS...>) {
  static void (*const tiles[])(const Tile &, int) = {multiply_units<Kernel, UNITS + 1>...};
  tiles[(rows - 1) / Kernel::ROWS](tile, rows);
}

// The same as `multiply_rows`.
template <class Kernel>
static void multiply_rows_in_strips(int rows, const Tile &tile) {
  multiply_by_units<Kernel>(rows, tile, std::make_integer_sequence<int, TILE_ROWS / Kernel::ROWS>());
}

}  // namespace attendo::ATTENDO_VARIANT

#endif
