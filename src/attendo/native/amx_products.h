// Products of bfloat16 and int8 rows with a packed weight in AMX's tile registers.
//
// The rows and the packed weight are those of `products.h`: 16 groups of a panel lie in memory as the instructions expect
// them, 64 bytes of inputs by 16 outputs and beside them the next 16 outputs. Registers 0 to 3 hold sums, 4 and 5 rows, 6
// and 7 weights. A block of the result is up to 32 rows by one panel, or up to 16 rows by two panels: four sums are under
// way at a time, because an instruction's result is ready only after three more could have begun.
//
// int8 sums are exact, so they are those of every other variant. bfloat16 sums are added up in another order than in
// `products.h`, but in the same order for every row: all bfloat16 products of this variant are computed here.
#pragma once

#include "products.h"

#if defined(ATTENDO_AMX)

namespace attendo::ATTENDO_VARIANT {

constexpr int BLOCK_ROWS = 2 * amx::ROWS;
constexpr size_t STEP_BYTES = WHOLE_GROUPS * GROUP_BYTES;  // of a panel: the weights of 64 bytes of inputs
static_assert(WHOLE_GROUPS == amx::ROWS && GROUP_BYTES == 2 * amx::ROW_BYTES);

// What the blocks of a stretch of rows have in common.
struct Blocks {
  int rows;   // of each block
  int upper;  // rows in the first of the two registers; the second has the others, if any

  explicit Blocks(int count) {
    const int blocks = (count + BLOCK_ROWS - 1) / BLOCK_ROWS;
    rows = (count + blocks - 1) / blocks;
    upper = rows > amx::ROWS ? (rows + 1) / 2 : rows;
  }

  int lower() const { return rows - upper; }

  amx::Configuration configuration() const {
    amx::Configuration made;
    // The second half of a block is below the first, or else beside it and as high.
    const int second = lower() ? lower() : upper;
    const int rows_of[amx::REGISTERS] = {upper, upper, second, second, upper, second, amx::ROWS, amx::ROWS};
    for (int i = 0; i < amx::REGISTERS; ++i) made.set(i, rows_of[i]);
    return made;
  }
};

// The registers are in use from here to the end of the block of code. Loading and releasing takes some 80 ns: little
// beside a product, and a thread that went on holding the registers would have 8 KB saved with each switch to another.
struct Configured {
  explicit Configured(const amx::Configuration &configuration) { amx::load_configuration(configuration); }
  Configured(const Configured &) = delete;
  ~Configured() { amx::release(); }
};

template <Precision PRECISION, int SUMS, int INPUTS, int WEIGHTS>
static inline void add_products() {
  if constexpr (PRECISION == Precision::int8) amx::add_int8<SUMS, INPUTS, WEIGHTS>();
  else amx::add_bfloat16<SUMS, INPUTS, WEIGHTS>();
}

static inline void prefetch_step(const uint8_t *at) {
#pragma GCC unroll 16
  for (size_t group = 0; group < STEP_BYTES; group += GROUP_BYTES) prefetch(at + group);
}

// A block's sums, PANEL of them a row: DOWN registers of rows by one panel, or one by ACROSS panels.
template <Precision PRECISION, int DOWN, int ACROSS>
static void sum_block(const Tile &tile, const Blocks &blocks, bool from_memory, uint8_t *sums) {
  static_assert(DOWN * ACROSS <= 2);
  const size_t stride = tile.rows->stride, panel_bytes = tile.weight->groups * size_t{GROUP_BYTES};
  const uint8_t *x = tile.rows->groups + tile.first_row * stride, *w = tile.weight->panel(tile.panel);
  const uint8_t *end = w + panel_bytes;
  amx::zero<0>();
  amx::zero<1>();
  amx::zero<2>();
  amx::zero<3>();
  for (; w < end; w += STEP_BYTES, x += amx::ROW_BYTES) {
    if (from_memory) {
      // Behind the end of two panels comes the next pair: the first one's successor is not the second one.
      const uint8_t *next = ACROSS == 2 && w + AHEAD_BYTES >= end ? w + panel_bytes : w;
      prefetch_step(next);
      if (ACROSS == 2) prefetch_step(next + panel_bytes);
    }
    amx::load<4>(x, stride);
    amx::load<6>(w, GROUP_BYTES);
    amx::load<7>(w + amx::ROW_BYTES, GROUP_BYTES);
    add_products<PRECISION, 0, 4, 6>();
    add_products<PRECISION, 1, 4, 7>();
    if constexpr (DOWN == 2) {
      amx::load<5>(x + blocks.upper * stride, stride);
      add_products<PRECISION, 2, 5, 6>();
      add_products<PRECISION, 3, 5, 7>();
    }
    if constexpr (ACROSS == 2) {
      amx::load<6>(w + panel_bytes, GROUP_BYTES);
      amx::load<7>(w + panel_bytes + amx::ROW_BYTES, GROUP_BYTES);
      add_products<PRECISION, 2, 4, 6>();
      add_products<PRECISION, 3, 4, 7>();
    }
  }
  uint8_t *second = sums + blocks.upper * GROUP_BYTES;
  amx::store<0>(sums, GROUP_BYTES);
  amx::store<1>(sums + amx::ROW_BYTES, GROUP_BYTES);
  if (DOWN * ACROSS == 1) return;
  amx::store<2>(second, GROUP_BYTES);
  amx::store<3>(second + amx::ROW_BYTES, GROUP_BYTES);
}

// Stores the values of `count` rows of sums.
template <Precision PRECISION>
static void finish(const Tile &tile, const uint8_t *sums, int count) {
  constexpr int VECTORS = PANEL / LANES;
  constexpr bool INT8 = PRECISION == Precision::int8;
  const Matrix &weight = *tile.weight;
  Floats bias[VECTORS], scales[VECTORS] = {};
  Ints shifts[VECTORS] = {};
  for (int i = 0; i < VECTORS; ++i) {
    const int output = tile.panel * PANEL + i * LANES;
    bias[i] = load(weight.bias.get() + output);
    if constexpr (INT8) {
      scales[i] = load(weight.scales.get() + output);
      memcpy(&shifts[i], weight.shifts.get() + output, sizeof shifts[i]);
    }
  }
  for (int row = 0; row < count; ++row) {
    for (int i = 0; i < VECTORS; ++i, sums += sizeof(Floats)) {
      Floats value;
      if constexpr (INT8) {
        Ints total;
        memcpy(&total, sums, sizeof total);
        value = value_of(total, shifts[i], scales[i] * tile.rows->scales[tile.first_row + row]);
      } else {
        memcpy(&value, sums, sizeof value);
      }
      put(tile, row, i * LANES, value + bias[i]);
    }
  }
}

template <Precision PRECISION>
static void multiply_block(Tile tile, const Blocks &blocks, int panels, bool from_memory) {
  alignas(64) uint8_t sums[BLOCK_ROWS * GROUP_BYTES];
  if (blocks.lower()) sum_block<PRECISION, 2, 1>(tile, blocks, from_memory, sums);
  else if (panels == 2) sum_block<PRECISION, 1, 2>(tile, blocks, from_memory, sums);
  else sum_block<PRECISION, 1, 1>(tile, blocks, from_memory, sums);
  finish<PRECISION>(tile, sums, blocks.rows);
  if (panels == 1) return;
  ++tile.panel;
  tile.out += PANEL;
  finish<PRECISION>(tile, sums + blocks.rows * GROUP_BYTES, blocks.rows);
}

// The same as `multiply_panels`, for one precision.
template <Precision PRECISION>
static void multiply_panels_in_tiles(const Rows &rows, int count, const Matrix &weight, int first, int last, float *out,
                                     size_t stride, bool relu) {
  const int at_once = rows_at_once(rows, BLOCK_ROWS);
  for (int start = 0; start < count; start += at_once) {
    const int here = count - start < at_once ? count - start : at_once;
    const Blocks blocks(here);
    const Configured configured(blocks.configuration());
    for (int panel = first; panel < last;) {
      const int panels = blocks.lower() || panel + 1 == last ? 1 : 2;
      for (int done = 0; done < here; done += blocks.rows) {
        // All blocks are equally high: the last one begins among rows that are finished, and writes the same once more.
        const int from = start + (done + blocks.rows <= here ? done : here - blocks.rows);
        float *to_here = out + from * stride + (panel - first) * PANEL;
        multiply_block<PRECISION>({&weight, panel, &rows, from, to_here, stride, relu}, blocks, panels, done == 0);
      }
      panel += panels;
    }
  }
}

}  // namespace attendo::ATTENDO_VARIANT

#endif
