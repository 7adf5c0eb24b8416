// One product of rows with a weight, as `test_products.py` calls it: what `engine.cpp` does for each matrix, alone.
#include "multiply.h"

#include <vector>

using namespace attendo::ATTENDO_VARIANT;

// As many shares as there are threads, one after the other.
struct attendo::Team {
  int threads;
};

void attendo::team_run(Team *team, Job job, void *context) {
  for (int thread = 0; thread < team->threads; ++thread) job(context, thread, team->threads);
}

#define EXPORT extern "C" __attribute__((visibility("default")))

// `rows` are `(count, inputs)`, `out` is `(count, outputs)`; int8 weights have codes and a scale an output.
EXPORT void product(int precision, int count, int inputs, int outputs, int threads, int relu, const float *rows,
                    const float *weights, const int8_t *codes, const float *scales, const float *bias, float *out) {
  Matrix matrix;
  matrix.pack(static_cast<Precision>(precision), outputs, inputs, weights, codes, scales, bias);
  const size_t stride = inputs + 64, out_stride = matrix.width() + 64;
  // What lies between and behind rows is what earlier products have left there: here bytes that are no numbers.
  std::vector<uint8_t> ready(padded(count, ROWS_IN_TURNS) * stride * sizeof(float), 0xFF);
  std::vector<float> row_scales(count), results(count * out_stride);
  for (int row = 0; row < count; ++row) {
    const float *from = rows + static_cast<size_t>(row) * inputs;
    if (matrix.precision == Precision::int8) {
      row_scales[row] = quantize(from, inputs, {ready.data(), row, stride});
    } else if (matrix.precision == Precision::bfloat16) {
      to_bfloat16(from, matrix, {reinterpret_cast<Half *>(ready.data()), row, stride});
    } else {
      memcpy(ready.data() + row * stride * sizeof(float), from, inputs * sizeof(float));
    }
  }
  const size_t value_bytes = matrix.precision == Precision::int8 ? 1 : matrix.precision == Precision::bfloat16 ? 2 : 4;
  attendo::Team team{threads};
  multiply(&team, {ready.data(), row_scales.data(), stride * value_bytes}, count, matrix, results.data(), out_stride, relu);
  for (int row = 0; row < count; ++row) {
    memcpy(out + static_cast<size_t>(row) * outputs, results.data() + row * out_stride, outputs * sizeof(float));
  }
}
