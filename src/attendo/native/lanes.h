// Vectors of as many floats as one register of the instruction set holds, and the few functions a Transformer needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#if defined(ATTENDO_NEON)  // by `native/build.py`: the portable variant does without, as something to compare with
#include <arm_neon.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#endif
#include <stdlib.h>

namespace attendo::ATTENDO_VARIANT {

#if defined(__AVX512F__)
constexpr int LANES = 16;
#elif defined(__AVX2__)
constexpr int LANES = 8;
#else
constexpr int LANES = 4;
#endif

typedef float Floats __attribute__((vector_size(4 * LANES)));
typedef int32_t Ints __attribute__((vector_size(4 * LANES)));

constexpr int PADDED = 16;  // every row of numbers is filled up with zeros to a multiple of this, on every processor
constexpr int PARTS = PADDED / LANES;
constexpr float INFINITE = __builtin_inff();

static inline Floats load(const float *from) {
  Floats value;
  memcpy(&value, from, sizeof value);
  return value;
}

static inline void store(float *to, Floats value) { memcpy(to, &value, sizeof value); }

// bfloat16: the upper half of a float, rounded to the nearest, ties to even.
struct Half {
  uint16_t bits;
};
typedef uint16_t HalfBits __attribute__((vector_size(2 * LANES)));
typedef uint32_t FloatBits __attribute__((vector_size(4 * LANES)));

static inline Floats load(const Half *from) {
  HalfBits bits;
  memcpy(&bits, from, sizeof bits);
  return (Floats)(__builtin_convertvector(bits, FloatBits) << 16);
}

// Rounding up could carry what is no number over to 0, and cutting it off leave infinity: it stays what it is. Of
// weights it may have any bits, of what is calculated the upper half always has one.
static inline void store(Half *to, Floats value) {
#if defined(__AVX512BF16__)
  // One instruction, for which the numbers below 2^-126 are 0.
  const __m256bh halves = _mm512_cvtneps_pbh((__m512)value);
  memcpy(to, &halves, sizeof halves);
#elif defined(ATTENDO_NEON) && defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
  const bfloat16x4_t halves = vcvt_bf16_f32((float32x4_t)value);
  memcpy(to, &halves, sizeof halves);
#else
  const FloatBits bits = (FloatBits)value;
  const FloatBits up = value == value ? 0x7FFF + (bits >> 16 & 1) : FloatBits{};
  const HalfBits rounded = __builtin_convertvector((bits + up) >> 16, HalfBits);
  memcpy(to, &rounded, sizeof rounded);
#endif
}

static inline float as_stored(float value, const float *) { return value; }
static inline Half as_stored(float value, const Half *) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  const bool number = (bits & 0x7FFFFFFF) <= 0x7F800000;
  bits = number ? bits + 0x7FFF + (bits >> 16 & 1) : bits | 0x400000;
  return {static_cast<uint16_t>(bits >> 16)};
}

static inline Floats all(float value) { return value - Floats{}; }

static inline Floats larger(Floats a, Floats b) { return a > b ? a : b; }

static inline Floats not_below_zero(Floats value) {
#if defined(ATTENDO_NEON)
  return (Floats)((Ints)value & ~(value < 0.0f));  // two instructions, where GCC makes seven of the other
#else
  return value < 0.0f ? Floats{} : value;
#endif
}

// The first `count` lanes, and the same value in all others.
static inline Floats only(Floats value, int count, float others) {
  if (count >= LANES) return value;
  Ints lane;
  for (int i = 0; i < LANES; ++i) lane[i] = i;
  return lane < count ? value : all(others);
}

static inline Floats absolute(Floats a) { return (Floats)((Ints)a & 0x7FFFFFFF); }

static inline float sum(Floats value) {
#if defined(__AVX512F__)
  return _mm512_reduce_add_ps((__m512)value);
#elif defined(ATTENDO_NEON)
  // In the order of the loop below.
  return vaddv_f32(vadd_f32(vget_low_f32((float32x4_t)value), vget_high_f32((float32x4_t)value)));
#else
  float parts[LANES];
  memcpy(parts, &value, sizeof parts);
  for (int half = LANES / 2; half; half /= 2)
    for (int i = 0; i < half; ++i) parts[i] += parts[i + half];
  return parts[0];
#endif
}

// Of vectors side by side that hold PADDED values.
static inline float sum(Floats (&parts)[PARTS]) {
#pragma GCC unroll 4
  for (int half = PARTS / 2; half; half /= 2)
    for (int part = 0; part < half; ++part) parts[part] += parts[part + half];
  return sum(parts[0]);
}

// What the values of a row add up to: `value(i)` are the LANES values from position i of it. Sixteen sums lie side by side on
// every processor, in as many registers as that takes, so that numbers are added in the same order everywhere.
template <class Value>
static inline float sum_of(int size, const Value &value) {
  Floats totals[PARTS] = {};
  for (int i = 0; i < size; i += PADDED) {
#pragma GCC unroll 4
    for (int part = 0; part < PARTS; ++part) totals[part] += value(i + part * LANES);
  }
  return sum(totals);
}

static inline float largest(Floats value) {
#if defined(__AVX512F__)
  return _mm512_reduce_max_ps((__m512)value);
#elif defined(ATTENDO_NEON)
  return vmaxvq_f32((float32x4_t)value);
#else
  float parts[LANES];
  memcpy(parts, &value, sizeof parts);
  for (int half = LANES / 2; half; half /= 2)
    for (int i = 0; i < half; ++i) parts[i] = parts[i] > parts[i + half] ? parts[i] : parts[i + half];
  return parts[0];
#endif
}

static inline int32_t largest(Ints value) {
#if defined(__AVX512F__)
  return _mm512_reduce_max_epi32((__m512i)value);
#elif defined(ATTENDO_NEON)
  return vmaxvq_s32((int32x4_t)value);
#else
  int32_t parts[LANES], most;
  memcpy(parts, &value, sizeof parts);
  most = parts[0];
  for (int i = 1; i < LANES; ++i) most = parts[i] > most ? parts[i] : most;
  return most;
#endif
}

// The same value, rounded to float32 here: the compiler would else keep more digits of a product for a sum.
static inline Floats rounded(Floats value) {
#if defined(__x86_64__)
  asm("" : "+x"(value));
#elif defined(__aarch64__)
  asm("" : "+w"(value));
#endif
  return value;
}

// The nearest whole numbers, halves to even, of floats below 2^22: adding 1.5 * 2^23 leaves no bits for a fraction.
static inline Floats whole(Floats value) {
#if defined(__AVX512F__)
  return (Floats)_mm512_roundscale_ps((__m512)value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif defined(ATTENDO_NEON)
  return (Floats)vrndnq_f32((float32x4_t)value);
#else
  const Floats shift = all(12582912.0f);
  const Floats moved = rounded(value) + shift;
  return moved - shift;
#endif
}

// value * 2^n, n a whole number from -126 to 127.
static inline Floats scaled(Floats value, Floats n) {
#if defined(__AVX512F__)
  return (Floats)_mm512_scalef_ps((__m512)value, (__m512)n);
#else
  const Ints exponent = (__builtin_convertvector(n, Ints) + 127) << 23;
  return value * (Floats)exponent;
#endif
}

// e^x within 2 units of the last place: x = n ln 2 + r, a polynomial for e^r (Taylor's, |r| < 0.35), and 2^n.
static inline Floats exponential(Floats x) {
  const Floats low = all(-87.0f), high = all(88.0f);
  x = x < low ? low : x;  // not a number stays one
  x = x > high ? high : x;
  const Floats n = whole(x * 1.44269504088896341f);
  const Floats r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  Floats p = all(1.0f / 5040);
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return scaled(p, n);
}

// Memory that grows and is not copied. Of much of it huge pages are asked for, since weights are read from end to end.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer() { free(data_); }

  // Room for `size` values at least; what was in it is lost where it grows. Throws std::bad_alloc.
  T *reserve(size_t size) {
    if (size > size_) {
      free(data_);
      data_ = nullptr;
      size_ = 0;
      constexpr size_t HUGE_PAGE = size_t{1} << 21, CACHE_LINE = 64;
      size_t bytes = size * sizeof(T);
      const bool much = bytes >= 2 * HUGE_PAGE;
      if (much) bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
      void *made = nullptr;
      if (posix_memalign(&made, much ? HUGE_PAGE : CACHE_LINE, bytes)) throw std::bad_alloc();
#if defined(__linux__)
      if (much) madvise(made, bytes, MADV_HUGEPAGE);
#endif
      data_ = static_cast<T *>(made);
      size_ = size;
    }
    return data_;
  }

  T *get() const { return data_; }
  size_t size() const { return size_; }
  size_t bytes() const { return size_ * sizeof(T); }
  T &operator[](size_t i) const { return data_[i]; }

  void swap(Buffer &other) {
    T *data = data_;
    size_t size = size_;
    data_ = other.data_;
    size_ = other.size_;
    other.data_ = data;
    other.size_ = size;
  }

 private:
  T *data_ = nullptr;
  size_t size_ = 0;
};

// Thrown where an argument cannot be meant: going on would read or write memory that is not ours.
struct Refused {};

static inline void require(bool condition) {
  if (!condition) throw Refused();
}

static inline int padded(int size, int to = PADDED) { return (size + to - 1) / to * to; }

}  // namespace attendo::ATTENDO_VARIANT
