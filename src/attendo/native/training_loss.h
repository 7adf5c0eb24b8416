// Training's losses over the vocabulary, from the logits to their gradients: one passage over each token's row.
//
// As in `training_rows.h`, `T` is float, or bfloat16 (`Half`), and results do not depend on the number of threads.
#pragma once

#include <cmath>

#include "training_rows.h"

namespace attendo::ATTENDO_VARIANT {

// The logits of a token with their bias in float32, and the largest and the sum of them. Up to a whole vector,
// `values` is filled with -INFINITE.
struct LogitTotals {
  float top, total;
};

template <class T>
static inline LogitTotals read_logits(const T *own, const float *bias, int vocabulary, float *values) {
  const int whole_vectors = vocabulary / LANES * LANES;
  Floats most = all(-INFINITE), total{};
  const auto take = [&](int i, Floats value, Floats counted) {
    store(values + i, value);
    most = larger(value, most);
    total += counted;
  };
  for (int i = 0; i < whole_vectors; i += LANES) {
    Floats value = load(own + i);
    if (bias) value += load(bias + i);
    take(i, value, value);
  }
  if (whole_vectors < vocabulary) {
    Floats value = all(-INFINITE), counted{};
    for (int i = whole_vectors; i < vocabulary; ++i) {
      const float one = as_float(own[i]) + (bias ? bias[i] : 0.0f);
      value[i - whole_vectors] = counted[i - whole_vectors] = one;
    }
    take(whole_vectors, value, counted);
  }
  return {largest(most), sum(total)};
}

// Logits of some tokens, row after row, to the gradients of their label-smoothed cross-entropy, in place, and the two
// losses of each token: smoothed, and without smoothing.
template <class T>
struct CrossEntropy {
  int32_t rows, vocabulary;
  T *logits;
  const float *bias;  // or null
  const int64_t *targets;
  float smoothing;
  int32_t gradients;  // 0: the losses alone
  float *smoothed, *log_loss;

  void forward(const Crew &crew) const {
    Buffer<float> powers;
    const size_t stride = padded(vocabulary);
    powers.reserve(stride * (crew.threads > 1 ? crew.threads : 1));
    share(crew, rows, [&](int row, int thread) { forward_row(row, powers.get() + thread * stride); });
  }

  void forward_row(int row, float *powers) const {
    T *own = logits + static_cast<size_t>(row) * vocabulary;
    const int whole_vectors = vocabulary / LANES * LANES;
    const auto [top, total] = read_logits(own, bias, vocabulary, powers);
    const float right = powers[targets[row]];
    Floats powers_total{};
    for (int i = 0; i < vocabulary; i += LANES) {
      const Floats value = load(powers + i);
      const Floats power = value == -INFINITE ? Floats{} : exponential(value - top);
      store(powers + i, power);
      powers_total += power;
    }
    const float sum_of_powers = sum(powers_total), log_total = top + std::log(sum_of_powers);
    log_loss[row] = log_total - right;
    smoothed[row] = (1.0f - smoothing) * log_loss[row] + smoothing * (log_total - total / vocabulary);
    if (!gradients) return;
    const float inverse = 1.0f / sum_of_powers, spread = smoothing / vocabulary;
    for (int i = 0; i < whole_vectors; i += LANES) store(own + i, load(powers + i) * inverse - spread);
    for (int i = whole_vectors; i < vocabulary; ++i) own[i] = as_stored(powers[i] * inverse - spread, own);
    own[targets[row]] = as_stored(powers[targets[row]] * inverse - spread - (1.0f - smoothing), own);
  }
};

// R-Drop's loss (`training/passes/r_drop.py`) of tokens that were computed twice, with the two rows of each beside each
// other: the mean of both cross-entropies, and `weight` / 4 times KL(p, q) + KL(q, p). The gradients are written over
// the logits. With d = log p - log q, both divergences together are the sum of (p - q) d, and their gradient by the
// logits of p is p (d - KL(p, q)) + p - q.
template <class T>
struct RDrop {
  int32_t tokens, vocabulary;
  T *logits;
  const float *bias;  // or null
  const int64_t *targets;
  float smoothing, weight;
  int32_t gradients;  // 0: the losses alone
  float *minimised, *log_loss;

  void forward(const Crew &crew) const {
    Buffer<float> room;
    const size_t stride = padded(vocabulary);
    room.reserve(4 * stride * (crew.threads > 1 ? crew.threads : 1));
    share(crew, tokens, [&](int token, int thread) { forward_token(token, room.get() + 4 * thread * stride, stride); });
  }

  void forward_token(int token, float *room, size_t stride) const {
    T *first = logits + 2 * static_cast<size_t>(token) * vocabulary, *second = first + vocabulary;
    float *a = room, *b = a + stride, *p = b + stride, *q = p + stride;
    const auto [top_a, total_a] = read_logits(first, bias, vocabulary, a);
    const auto [top_b, total_b] = read_logits(second, bias, vocabulary, b);
    const int64_t right = targets[token];
    const float right_a = a[right], right_b = b[right];
    Floats sum_p{}, sum_q{}, gap_p{}, gap_q{};
    for (int i = 0; i < vocabulary; i += LANES) {
      const Floats one = load(a + i), other = load(b + i);
      const Floats power = one == -INFINITE ? Floats{} : exponential(one - top_a);
      const Floats other_power = other == -INFINITE ? Floats{} : exponential(other - top_b);
      const Floats gap = one == -INFINITE ? Floats{} : one - other;
      store(a + i, gap);  // from here on, `a` has what the logits of both differ by
      store(p + i, power);
      store(q + i, other_power);
      sum_p += power;
      sum_q += other_power;
      gap_p += power * gap;
      gap_q += other_power * gap;
    }
    const float inverse_p = 1.0f / sum(sum_p), inverse_q = 1.0f / sum(sum_q);
    const float log_total_a = top_a - std::log(inverse_p), log_total_b = top_b - std::log(inverse_q);
    const float shift = log_total_a - log_total_b;
    const float mean_p = sum(gap_p) * inverse_p - shift, mean_q = sum(gap_q) * inverse_q - shift;
    log_loss[token] = 0.5f * (log_total_a - right_a + log_total_b - right_b);
    const float uniform = 0.5f * (log_total_a + log_total_b - (total_a + total_b) / vocabulary);
    const float share = 0.25f * weight;
    minimised[token] = (1.0f - smoothing) * log_loss[token] + smoothing * uniform + share * (mean_p - mean_q);
    if (!gradients) return;
    const float spread = smoothing / vocabulary, of_right = 0.5f * (1.0f - smoothing);
    const auto write = [&](int i, auto value_p, auto value_q, auto gap, auto &&put) {
      value_p *= inverse_p;
      value_q *= inverse_q;
      gap -= shift;
      put(first + i, 0.5f * (value_p - spread) + share * (value_p * (gap - mean_p) + value_p - value_q));
      put(second + i, 0.5f * (value_q - spread) + share * (value_q * (mean_q - gap) + value_q - value_p));
    };
    const auto put_one = [&](T *place, float value) { *place = as_stored(value, place); };
    const int whole_vectors = vocabulary / LANES * LANES;
    for (int i = 0; i < whole_vectors; i += LANES) {
      write(i, load(p + i), load(q + i), load(a + i), [](T *place, Floats value) { store(place, value); });
    }
    for (int i = whole_vectors; i < vocabulary; ++i) write(i, p[i], q[i], a[i], put_one);
    write(static_cast<int>(right), p[right], q[right], a[right],
          [&](T *place, float value) { put_one(place, value - of_right); });
  }
};

}  // namespace attendo::ATTENDO_VARIANT
