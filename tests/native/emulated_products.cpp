// `product` of `products.cpp` as a program, for a processor that is emulated: requests come on standard input, their
// results go to standard output. `emulation.py` has the other side.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

extern "C" void product(int precision, int count, int inputs, int outputs, int threads, int relu, const float *rows,
                        const float *weights, const int8_t *codes, const float *scales, const float *bias, float *out);

namespace {

struct Request {
  int32_t precision, count, inputs, outputs, threads, relu;
  int32_t bytes[5];  // of each array, in `product`'s order; 0 where there is none
};

void read(void *to, size_t bytes) {
  if (fread(to, 1, bytes, stdin) != bytes) abort();
}

}  // namespace

int main() {
  for (Request r; fread(&r, sizeof r, 1, stdin) == 1;) {
    std::vector<float> memory[5];
    const float *arrays[5];
    for (int i = 0; i < 5; ++i) {
      memory[i].resize((r.bytes[i] + sizeof(float) - 1) / sizeof(float));
      read(memory[i].data(), r.bytes[i]);
      arrays[i] = r.bytes[i] ? memory[i].data() : nullptr;
    }
    std::vector<float> out(static_cast<size_t>(r.count) * r.outputs);
    product(r.precision, r.count, r.inputs, r.outputs, r.threads, r.relu, arrays[0], arrays[1],
            reinterpret_cast<const int8_t *>(arrays[2]), arrays[3], arrays[4], out.data());
    fwrite(out.data(), sizeof(float), out.size(), stdout);
    fflush(stdout);
  }
}
