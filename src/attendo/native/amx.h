// AMX's tile registers (Intel's Software Developer's Manual, volume 1, chapter 18): eight registers of up to 16 rows of 64
// bytes, and the instructions on them. `ATTENDO_AMX` is defined where there are any.
//
// These are inline assembly because GCC 12's intrinsics are not safe: _tile_loadconfig declares 8 of the 64 bytes that it
// reads, and _tile_loadd none, so that the stores before them may be dropped or moved behind them.
//
// `ATTENDO_AMX_MODEL` replaces the instructions by a model of them in plain C++, which belongs to the tests.
#pragma once

#include "lanes.h"

#if defined(__AMX_TILE__) || defined(ATTENDO_AMX_MODEL)
#define ATTENDO_AMX

namespace attendo::ATTENDO_VARIANT::amx {

constexpr int REGISTERS = 8, ROWS = 16, ROW_BYTES = 64;

// The operand of ldtilecfg: the size of each register.
struct alignas(64) Configuration {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  void set(int which, int its_rows) {
    row_bytes[which] = ROW_BYTES;
    rows[which] = static_cast<uint8_t>(its_rows);
  }
};
static_assert(sizeof(Configuration) == 64);

}  // namespace attendo::ATTENDO_VARIANT::amx

#if defined(ATTENDO_AMX_MODEL)
#include "amx_model.h"
#else

namespace attendo::ATTENDO_VARIANT::amx {

static inline void load_configuration(const Configuration &configuration) {
  asm volatile("ldtilecfg %0" ::"m"(configuration));
}

// Afterwards the registers are in their initial state, which costs nothing when the system switches threads.
static inline void release() { asm volatile("tilerelease"); }

template <int REGISTER>
static inline void zero() {
  asm volatile("tilezero %%tmm%c0" ::"i"(REGISTER));
}

template <int REGISTER>
static inline void load(const uint8_t *from, size_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(REGISTER) : "memory");
}

template <int REGISTER>
static inline void store(uint8_t *to, size_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(REGISTER) : "memory");
}

// sums += rows * weights: rows of unsigned bytes, weights of signed ones, sums of int32.
template <int SUMS, int INPUTS, int WEIGHTS>
static inline void add_int8() {
  asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(SUMS), "i"(INPUTS), "i"(WEIGHTS));
}

// The same of bfloat16, with sums of float32.
template <int SUMS, int INPUTS, int WEIGHTS>
static inline void add_bfloat16() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(SUMS), "i"(INPUTS), "i"(WEIGHTS));
}

}  // namespace attendo::ATTENDO_VARIANT::amx

#endif
#endif
