// The product of rows with a packed weight: panel by panel, shared by the threads of a team.
#pragma once

#include "amx_products.h"
#include "neon_products.h"
#include "products.h"
#include "team.h"

namespace attendo::ATTENDO_VARIANT {

#if defined(ATTENDO_AMX_MODEL)
constexpr int MOST_ROWS_WITHOUT_TILES = 0;  // the model is for trying the tiles
#elif defined(ATTENDO_AMX)
// A product of few rows is as long as its weight takes to arrive, and tiles only add to it. Sums of int8 are exact, so they
// may go either way; those of bfloat16 must not depend on how many rows there are.
constexpr int MOST_ROWS_WITHOUT_TILES = 12;
#endif

// Panels `first` to `last` of the product of `count` rows with a weight; `out` is where the first panel's outputs go.
static void multiply_panels(const Rows &rows, int count, const Matrix &weight, int first, int last, float *out,
                            size_t stride, bool relu) {
#if defined(ATTENDO_AMX)
  if (weight.precision == Precision::int8 && count > MOST_ROWS_WITHOUT_TILES) {
    return multiply_panels_in_tiles<Precision::int8>(rows, count, weight, first, last, out, stride, relu);
  }
  if (weight.precision == Precision::bfloat16) {
    return multiply_panels_in_tiles<Precision::bfloat16>(rows, count, weight, first, last, out, stride, relu);
  }
#endif
  static void (*const multiply_in[])(int, const Tile &) = {
#if defined(ATTENDO_NEON)
      multiply_rows_in_strips<FusedFloats>, multiply_rows_in_strips<Halves>, multiply_rows_in_strips<Codes>};
#else
      multiply_rows<FloatProducts>, multiply_rows<HalfProducts>, multiply_rows<Int8Products>};
#endif
  const auto multiply_by = multiply_in[static_cast<int>(weight.precision)];
  const int at_once = rows_at_once(rows, TILE_ROWS);
  for (int start = 0; start < count; start += at_once) {
    const int here = count - start < at_once ? count - start : at_once;
    const int blocks = (here + TILE_ROWS - 1) / TILE_ROWS, turns = (here + ROWS_IN_TURNS - 1) / ROWS_IN_TURNS;
    // Blocks of about equal size: a last one of one row would cost nearly as much as a whole one.
    const auto block_start = [=](int block) { return start + turns * block / blocks * ROWS_IN_TURNS; };
    for (int panel = first; panel < last; ++panel) {
      for (int block = 0; block < blocks; ++block) {
        const int from = block_start(block), to = block + 1 < blocks ? block_start(block + 1) : start + here;
        float *to_here = out + from * stride + (panel - first) * PANEL;
        multiply_by(to - from, {&weight, panel, &rows, from, to_here, stride, relu});
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
