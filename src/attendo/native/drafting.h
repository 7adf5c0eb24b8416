// How a session writes a sentence that is alone: a drafter proposes several tokens, one passage verifies them.
#pragma once

#include "session.h"

namespace attendo::ATTENDO_VARIANT {

// How many tokens of a block stand: the first, and proposals as long as each is what its predecessors call for.
static inline int right(const int64_t *ids, const int64_t *best, int tokens, int64_t eos) {
  int kept = 1;
  while (kept < tokens && ids[kept] == best[kept - 1] && ids[kept] != eos) ++kept;
  return kept;
}

inline int Session::block(const int64_t *ids, int tokens, const float *positions, int64_t eos, float *values,
                          int64_t *best, int64_t *proposed) {
  require(active_ == 1 && width_ == 1 && rows_ == 1 && model_.shape.draft_tokens > 0);
  advance(ids, positions, tokens);
  Question question{};
  question.k = 1, question.values = values, question.ids = best;
  answer(question);
  const int kept = right(ids, best, tokens, eos);
  keep(kept);
  // What is no number is told by who asked.
  if (best[kept - 1] != eos) draft(best[kept - 1], proposed);
  return kept;
}

// How many tokens to verify together: the one that is next and proposals, none of them `eos`, which ends the sentence.
static inline int block_of(const int64_t *chain, int drafted, int room, int64_t eos) {
  int tokens = 1;
  while (tokens <= drafted && tokens < room && chain[tokens] != eos) ++tokens;
  return tokens;
}

inline bool Session::write(int max_len, const float *positions, int64_t eos, int most_passages, int64_t *ids,
                           float *log_probs, Writing *found) {
  const int most = model_.shape.draft_tokens;
  require(active_ == 1 && width_ == 1 && rows_ == 1 && most > 0 && max_len >= 0 && most_passages > 0);
  require(sentences_[0]->length == writing_.given && writing_.written <= max_len && !writing_.ended);
  chain_.reserve(2 * (most + 1));
  block_values_.reserve(most + 1);
  int64_t *chain = chain_.get(), *best = chain + most + 1;
  int &written = writing_.written, &given = writing_.given;
  chain[0] = given ? writing_.next : model_.shape.start_id;
  // `chain` begins with what the decoder has not read yet: the start, then the token that is next.
  for (int passages = 0; !given || (chain[0] != eos && written < max_len); ++passages, ++writing_.passages) {
    if (passages == most_passages) {
      *found = writing_;
      return false;
    }
    const int room = max_len - written + !given;
    const int drafted = room > 1 ? draft(chain[0], chain + 1) : 0, tokens = block_of(chain, drafted, room, eos);
    advance(chain, positions, tokens);
    Question question{};
    question.k = 1, question.values = block_values_.get(), question.ids = best;
    answer(question);
    const int kept = right(chain, best, tokens, eos);
    keep(kept);
    memcpy(log_probs + given, block_values_.get(), kept * sizeof(float));
    for (int i = given ? 0 : 1; i < kept; ++i) ids[written++] = chain[i];
    given += kept;
    writing_.next = chain[0] = best[kept - 1];
  }
  writing_.ended = true;
  *found = writing_;
  if (chain[0] == eos) return true;
  Question last{};
  last.num_wanted = 1, last.wanted = &eos, last.wanted_values = log_probs + written;
  answer(last);
  return true;
}

// Takes back all but the first tokens of the last `advance`; the answers are those behind the last one that is left.
inline void Session::keep(int count) {
  sentences_[0]->length -= tokens_ - count;
  if (count > 1) {
    memcpy(hidden_.get(), hidden_.get() + (count - 1) * hidden_stride(), model_.shape.d_model * sizeof(float));
  }
  rows_ = tokens_ = 1;
  scanned_ = false;
}

// The drafter's rows stand in the place of the hidden states meanwhile: a row a proposal, which together look at the
// source where the last layer has looked.
inline int Session::draft(int64_t next_id, int64_t *proposed) {
  const Drafter &drafter = model_.drafter;
  const int size = model_.shape.d_model, count = model_.shape.draft_tokens;
  const bool first = active_ == 1 && width_ == 1 && sentences_[0]->length == 0;  // before the start there is nothing
  require(is_read() && (answers_ || first) && rows_ == 1 && count > 0 && next_id < model_.shape.tgt_vocab_size);
  if (first) {
    reserve_weights(sentences_[0]->source);
    memset(hidden_.reserve(hidden_stride()), 0, size * sizeof(float));
  }
  const size_t wide = 2 * size + GAP;
  float *drafted = drafted_.reserve(count * hidden_stride() + wide), *both = drafted + count * hidden_stride();
  memset(drafted, 0, size * sizeof(float));  // in the place of a position's encoding
  memcpy(both, hidden_.get(), size * sizeof(float));
  model_.embed(model_.target, next_id, drafted, both + size);
  const size_t stride = drafter.joined.width() + GAP;
  projected_.reserve(stride);
  multiply(team_, ready(both, 1, wide, drafter.joined), 1, drafter.joined, projected_.get(), stride);
  for (int row = 0; row < count; ++row) {
    memcpy(drafted + row * hidden_stride(), drafter.places + static_cast<size_t>(row) * size, size * sizeof(float));
    model_.add_and_norm(drafter.joined_norm, projected_.get(), drafted + row * hidden_stride());
  }
  hidden_.swap(drafted_);
  rows_ = tokens_ = count;
  context_.reserve(rows_ * context_stride());
  const int last = model_.shape.decoder_layers - 1;
  half() ? memory_attention<Half>(drafter.query, last) : memory_attention<float>(drafter.query, last);
  join_heads(drafter.output, drafter.attention_norm, rows_);
  feed_forward(drafter.inner, drafter.outer, drafter.feed_forward_norm, rows_);
  const int worth = propose(proposed);
  hidden_.swap(drafted_);
  rows_ = tokens_ = 1;
  return worth;
}

// Of the shortlist the most probable first token, then of each row's candidates what goes best with the one before.
inline int Session::propose(int64_t *ids) {
  const Drafter &drafter = model_.drafter;
  const int size = model_.shape.d_model, entries = drafter.projection.outputs - size;
  const int count = entries < CANDIDATES ? entries : CANDIDATES;
  const size_t stride = project(drafter.projection, rows_);
  float *candidates = candidates_.reserve(rows_ * CANDIDATES);
  int64_t *places = places_.reserve(rows_ * CANDIDATES);
  for_each(rows_, [=, this](int row, int) {
    const Drafter &its = model_.drafter;
    float *logits = projected_.get() + row * stride + size;
    const int width = its.projection.width() - size;
    for (int i = entries; i < width; ++i) logits[i] = -INFINITE;
    Best best{candidates + row * CANDIDATES, places + row * CANDIDATES, count};
    choose_all(logits, width, best);
    for (int i = 0; row && i < count; ++i) ask_for(its.adjusted + best.ids[i] * size, size);
  });
  float chance = 1;
  int64_t before = 0;
  int worth = 0;
  for (int row = 0; row < rows_; ++row) {
    float *logits = candidates + row * CANDIDATES;
    const int64_t *its = places + row * CANDIDATES;
    if (row) adjust(projected_.get() + row * stride, before, its, count, logits);
    int best = 0;  // stays where nothing is a number
    for (int i = 1; i < count; ++i) best = logits[i] > logits[best] ? i : best;
    float powers = 0;
    for (int i = 0; i < count; ++i) powers += __builtin_expf(logits[i] - logits[best]);
    chance /= powers;
    if (chance >= WORTH) worth = row + 1;
    before = its[best];
    ids[row] = drafter.ids[before];
  }
  return worth;
}

// Makes candidates' logits go with the proposal before them; `beside` is the state's share, and is overwritten.
inline void Session::adjust(float *beside, int64_t before, const int64_t *places, int count, float *logits) {
  const Drafter &drafter = model_.drafter;
  const int size = model_.shape.d_model;
  for (int i = 0; i < size; i += LANES) {
    const Floats both = load(beside + i) + load(drafter.before + before * size + i);
    store(beside + i, larger(both, Floats{}));
  }
  for (int i = 0; i < count; ++i) {
    const float *adjusted = drafter.adjusted + places[i] * size;
    const float product = sum_of(size, [=](int at) { return load(beside + at) * load(adjusted + at); });
    logits[i] += product + drafter.shifts[places[i]];
  }
}

}  // namespace attendo::ATTENDO_VARIANT
