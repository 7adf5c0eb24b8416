// The next tokens' log-probabilities. The vocabulary passes in chunks that stay in the cache: logits, their largest,
// the sum of their exponentials and the choice of the best in one pass.
#pragma once

#include "products.h"

namespace attendo::ATTENDO_VARIANT {

constexpr int CHUNK_PANELS = 16, CHUNK = CHUNK_PANELS * PANEL;

static inline int chunks_of(const Matrix &projection) {
  return (projection.panels + CHUNK_PANELS - 1) / CHUNK_PANELS;
}

// Which log-probabilities are asked for: the k best that may be chosen, given ones, or all. What is not is null or 0.
struct Question {
  int k;
  float *values;  // (rows, k), as are the ids
  int64_t *ids;
  const int64_t *offsets, *listed;  // row r's list of ids, ascending, lies from offsets[r] to offsets[r + 1]
  const uint8_t *only;              // (rows,): whether a row may choose from its list alone, or from all others
  int num_wanted;                   // of each row
  const int64_t *wanted;
  float *wanted_values;
  float *everything;  // (rows, vocabulary)
};

// Whether a token from `first` to before `last` is asked for.
static inline bool wants(const Question &question, int rows, int64_t first, int64_t last) {
  for (int64_t i = 0; i < static_cast<int64_t>(rows) * question.num_wanted; ++i) {
    if (question.wanted[i] >= first && question.wanted[i] < last) return true;
  }
  return false;
}

// The k best of a row, best first; of equal values the lower id first, since ids come in their order.
struct Best {
  float *values;
  int64_t *ids;
  int k;

  float threshold() const { return values[k - 1]; }
  void add(float value, int64_t id) {
    int place = k - 1;
    for (; place > 0 && values[place - 1] < value; --place) {
      values[place] = values[place - 1];
      ids[place] = ids[place - 1];
    }
    values[place] = value;
    ids[place] = id;
  }
  void clear(float below = -INFINITE) {
    for (int i = 0; i < k; ++i) {
      values[i] = below;
      ids[i] = 0;
    }
  }
};

// One row's logits of one chunk: the largest, and the sum of e^(logit - largest).
struct Statistics {
  float largest, powers;
};

static inline Statistics statistics_of(const float *logits, int count) {
  Floats most = load(logits);
  for (int i = LANES; i < count; i += LANES) most = larger(load(logits + i), most);
  const float top = largest(most);
  // Where all are -inf, -inf - -inf would be no number; another chunk may have one that is.
  const Floats from = all(top == -INFINITE ? 0.0f : top);
  return {top, sum_of(count, [=](int i) { return exponential(load(logits + i) - from); })};
}

// What makes log-probabilities of a row's logits: the largest logit, and the logarithm of what e^(logit - largest) add
// up to. They are subtracted one after the other: their sum would cost digits where logits are large.
struct Normalizer {
  float largest, log_powers;

  float operator()(float logit) const { return logit - largest - log_powers; }
};

// Of all chunks in their order, whichever thread had them; not a number where a logit is none.
static inline Normalizer normalizer(const Statistics *chunks, int count) {
  float top = chunks[0].largest;
  for (int i = 1; i < count; ++i) top = chunks[i].largest > top ? chunks[i].largest : top;
  double total = 0;
  for (int i = 0; i < count; ++i) {
    total += chunks[i].powers * __builtin_exp(static_cast<double>(chunks[i].largest) - top);
  }
  return {top, static_cast<float>(__builtin_log(total))};
}

static inline void choose(const float *logits, int count, int64_t first_id, Best &best) {
  for (int i = 0; i < count; i += LANES) {
    const Ints better = load(logits + i) > all(best.threshold());
#if defined(__AVX512F__)
    for (unsigned lanes = _mm512_movepi32_mask((__m512i)better); lanes; lanes &= lanes - 1) {
      const int at = i + __builtin_ctz(lanes);
      if (logits[at] > best.threshold()) best.add(logits[at], first_id + at);
    }
#else
#if defined(ATTENDO_NEON)
    if (!largest(-better)) continue;
#endif
    for (int lane = 0; lane < LANES; ++lane) {
      if (better[lane] && logits[i + lane] > best.threshold()) best.add(logits[i + lane], first_id + i + lane);
    }
#endif
  }
}

// The k best of logits that are there all at once, `count` of them. The largest of each of PADDED stretches are so many
// logits: what is below the k-th of them is not looked at.
static inline void choose_all(const float *logits, int count, Best &best) {
  float tops[PADDED];
  for (int at = 0; at < PADDED; at += LANES) {
    Floats most = load(logits + at);
    for (int i = PADDED; i < count; i += PADDED) most = larger(load(logits + i + at), most);
    store(tops + at, most);
  }
  best.clear();
  for (float top : tops) {
    if (top > best.threshold()) best.add(top, 0);
  }
  // Those equal to it have to be found again, in the order of their ids.
  best.clear(__builtin_nextafterf(best.threshold(), -INFINITE));
  choose(logits, count, 0, best);
}

// Answers from one row's logits of one chunk, `real` of them the vocabulary's; those that may not be chosen are
// overwritten.
static inline void answer_chunk(const Question &question, size_t row, size_t vocabulary, float *logits, int count,
                                int real, int64_t first_id, float largest, Best best) {
  for (size_t i = row * question.num_wanted; i < (row + 1) * question.num_wanted; ++i) {
    const int64_t place = question.wanted[i] - first_id;
    if (place >= 0 && place < real) question.wanted_values[i] = logits[place];
  }
  if (question.everything) memcpy(question.everything + row * vocabulary + first_id, logits, real * sizeof(float));
  if (!question.k || largest <= best.threshold()) return;
  if (question.offsets) {
    const bool only = question.only[row];
    for (int64_t i = question.offsets[row]; i < question.offsets[row + 1]; ++i) {
      const int64_t place = question.listed[i] - first_id;
      if (place < 0 || place >= real) continue;
      if (!only) logits[place] = -INFINITE;
      else if (logits[place] > best.threshold()) best.add(logits[place], question.listed[i]);
    }
    if (only) return;
  }
  choose(logits, count, first_id, best);
}

// A row's answers become log-probabilities.
static inline void normalize(const Question &question, size_t row, size_t vocabulary, const Normalizer &normalized) {
  const auto each = [&normalized, row](float *values, size_t of_a_row) {
    for (size_t i = row * of_a_row; i < (row + 1) * of_a_row; ++i) values[i] = normalized(values[i]);
  };
  each(question.values, question.k);
  each(question.wanted_values, question.num_wanted);
  if (question.everything) each(question.everything, vocabulary);
}

}  // namespace attendo::ATTENDO_VARIANT
