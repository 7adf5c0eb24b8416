// AMX's instructions in plain C++, after the operations in Intel's Software Developer's Manual, volume 2: LDTILECFG,
// TILELOADD, TILESTORED, TDPBUSD and TDPBF16PS (and TILEZERO, TILERELEASE). What the processor answers with an exception
// ends the program here.
#include <cstdio>
#include <cstdlib>

namespace attendo::ATTENDO_VARIANT::amx {

struct TileRegister {
  int rows, row_bytes;
  alignas(64) uint8_t bytes[ROWS][ROW_BYTES];
};

inline thread_local TileRegister tile_registers[REGISTERS];
inline thread_local bool is_configured = false;

static inline void check(bool condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "AMX: %s\n", what);
  abort();
}

static inline void load_configuration(const Configuration &configuration) {
  check(configuration.palette == 1, "the palette is 1");
  for (int i = 0; i < 16; ++i) {
    const int rows = configuration.rows[i], row_bytes = configuration.row_bytes[i];
    check(i < REGISTERS || (!rows && !row_bytes), "there are eight registers");
    check(rows <= ROWS && row_bytes <= ROW_BYTES && !rows == !row_bytes, "a register's size");
    if (i < REGISTERS) tile_registers[i] = {rows, row_bytes, {}};
  }
  is_configured = true;
}

static inline void release() { is_configured = false; }

static inline TileRegister &configured_register(int which) {
  check(is_configured && tile_registers[which].rows > 0, "a register that is not configured");
  return tile_registers[which];
}

template <int REGISTER>
static inline void zero() {
  memset(configured_register(REGISTER).bytes, 0, ROWS * ROW_BYTES);
}

template <int REGISTER>
static inline void load(const uint8_t *from, size_t stride) {
  TileRegister &tile = configured_register(REGISTER);
  zero<REGISTER>();
  for (int row = 0; row < tile.rows; ++row) memcpy(tile.bytes[row], from + row * stride, tile.row_bytes);
}

template <int REGISTER>
static inline void store(uint8_t *to, size_t stride) {
  const TileRegister &tile = configured_register(REGISTER);
  for (int row = 0; row < tile.rows; ++row) memcpy(to + row * stride, tile.bytes[row], tile.row_bytes);
}

// Calls `add(sum, row's group, weights' group)` for every sum and group of four bytes, groups in their order.
template <class Sum, class Add>
static inline void add_groups(TileRegister &sums, const TileRegister &inputs, const TileRegister &weights, const Add &add) {
  check(sums.rows == inputs.rows && inputs.row_bytes == 4 * weights.rows && sums.row_bytes == weights.row_bytes,
        "registers whose sizes do not fit together");
  for (int row = 0; row < sums.rows; ++row) {
    for (int group = 0; group < weights.rows; ++group) {
      for (int i = 0; i < sums.row_bytes; i += 4) {
        Sum total;
        memcpy(&total, &sums.bytes[row][i], 4);
        add(total, &inputs.bytes[row][4 * group], &weights.bytes[group][i]);
        memcpy(&sums.bytes[row][i], &total, 4);
      }
    }
  }
}

template <int SUMS, int INPUTS, int WEIGHTS>
static inline void add_int8() {
  add_groups<int32_t>(configured_register(SUMS), configured_register(INPUTS), configured_register(WEIGHTS),
                      [](int32_t &total, const uint8_t *x, const uint8_t *w) {
                        for (int i = 0; i < 4; ++i) total += x[i] * static_cast<int8_t>(w[i]);
                      });
}

static inline float as_float(const uint8_t *bfloat16) {
  uint16_t upper;
  memcpy(&upper, bfloat16, sizeof upper);
  const uint32_t bits = static_cast<uint32_t>(upper) << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// Even and odd inputs are added up apart, from 0, and then together to the sum. A product of two bfloat16 numbers is exact.
template <int SUMS, int INPUTS, int WEIGHTS>
static inline void add_bfloat16() {
  TileRegister &sums = configured_register(SUMS);
  TileRegister odd = sums, even = sums;
  memset(even.bytes, 0, sizeof even.bytes);
  memset(odd.bytes, 0, sizeof odd.bytes);
  const TileRegister &inputs = configured_register(INPUTS), &weights = configured_register(WEIGHTS);
  add_groups<float>(even, inputs, weights, [](float &total, const uint8_t *x, const uint8_t *w) {
    total += as_float(x) * as_float(w);
  });
  add_groups<float>(odd, inputs, weights, [](float &total, const uint8_t *x, const uint8_t *w) {
    total += as_float(x + 2) * as_float(w + 2);
  });
  for (int row = 0; row < sums.rows; ++row) {
    for (int i = 0; i < sums.row_bytes; i += 4) {
      float total, first, second;
      memcpy(&total, &sums.bytes[row][i], 4);
      memcpy(&first, &even.bytes[row][i], 4);
      memcpy(&second, &odd.bytes[row][i], 4);
      total += first + second;
      memcpy(&sums.bytes[row][i], &total, 4);
    }
  }
}

}  // namespace attendo::ATTENDO_VARIANT::amx
