// A batch of sentences that are being translated: encoder, decoder steps, and the choice of the next tokens.
#pragma once

#include "model.h"

namespace attendo::ATTENDO_VARIANT {

constexpr int GAP = 64;  // values between rows, so that equal columns of several rows do not fall into one cache set

// One sentence: keys and values of its source, made once, and of what its hypotheses have written.
//
// What hypothesis j wrote at position p stays where it is. A hypothesis is a line of `history`: which hypothesis wrote
// each of its positions. To reorder a beam is to copy such lines. Sizes are in bytes: of float32 or bfloat16.
struct Sentence {
  int source = 0, length = 0;         // positions read and written
  int positions = 0, width = 0;       // that there is room for
  Buffer<uint8_t> memory;             // [layer](keys and values of a Source)
  Buffer<uint8_t> written, other;     // [layer and head][position][hypothesis](key, value)
  Buffer<int32_t> history, selected;  // [hypothesis][position]
  const float *encoder_keys = nullptr;  // of the encoder layer at work

  // `blocks`: layers times heads; `pair`: bytes of a key and a value.
  void make_room(int blocks, int new_positions, int new_width, size_t pair) {
    if (new_positions <= positions && new_width <= width) return;
    const int p = new_positions <= positions ? positions : positions ? 2 * positions : 32;
    const int rows = new_width > width ? new_width : width;
    other.reserve(static_cast<size_t>(blocks) * p * rows * pair);
    selected.reserve(static_cast<size_t>(rows) * p);
    for (int block = 0; block < blocks; ++block) {
      for (int position = 0; position < length; ++position) {
        const size_t from = (static_cast<size_t>(block) * positions + position) * width;
        const size_t to = (static_cast<size_t>(block) * p + position) * rows;
        memcpy(other.get() + to * pair, written.get() + from * pair, width * pair);
      }
    }
    for (int hypothesis = 0; hypothesis < width; ++hypothesis) {
      memcpy(selected.get() + static_cast<size_t>(hypothesis) * p,
             history.get() + static_cast<size_t>(hypothesis) * positions, length * sizeof(int32_t));
    }
    written.swap(other);
    history.swap(selected);
    positions = p;
    width = rows;
  }

  // Hypothesis i goes on from what hypothesis `parents[i] - first` was.
  void select(const int64_t *parents, int64_t first, int count, int blocks, size_t pair) {
    make_room(blocks, positions, count, pair);
    selected.reserve(static_cast<size_t>(width) * positions);
    for (int i = 0; i < count; ++i) {
      memcpy(selected.get() + static_cast<size_t>(i) * positions,
             history.get() + static_cast<size_t>(parents[i] - first) * positions, length * sizeof(int32_t));
    }
    history.swap(selected);
  }
};

// Up to MOST_QUERIES tokens of one sentence, which look at it together.
struct Group {
  int sentence, begin, token;  // the sentence's first token and the group's, among all tokens
};

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
};

// Which of the next tokens' log-probabilities are asked for: the k best that are not banned, given ones, or all.
struct Question {
  int k;
  const int64_t *banned_offsets, *banned;  // a row's banned ids are ascending
  const int64_t *wanted;
  int num_wanted;  // of each row
  float *everything;
  float *wanted_values;
};

class Session {
 public:
  Session(const Model &model, int threads) : model_(model), team_(team_new(threads)) {}
  Session(const Session &) = delete;
  ~Session() {
    team_free(team_);
    for (int i = 0; i < made_; ++i) delete sentences_[i];
  }

  int rows() const { return rows_; }
  int vocab_size() const { return model_.shape.tgt_vocab_size; }

  // Reads sentences, `lengths` ids each, one after the other; each has one empty hypothesis then.
  void start(const int64_t *ids, const int32_t *lengths, int count, const float *positions) {
    enter(lengths, count);
    encode(ids, positions);
  }

  // Adds a token to each row; `position` is the encoding of where it stands. The hidden states are ready then.
  void advance(const int64_t *last_ids, const float *position);

  void select(const int64_t *rows, int count, int width);

  void answer(const Question &question, float *values, int64_t *ids);

 private:
  const Model &model_;
  Team *team_;
  Buffer<Sentence *> sentences_, spare_;  // those at work first, then those that are free
  int made_ = 0, active_ = 0, width_ = 1, rows_ = 0;
  Buffer<float> hidden_, projected_, context_, inner_, scales_, weights_, chunks_, statistics_, best_values_;
  Buffer<Half> halves_;
  Buffer<uint8_t> codes_;
  Buffer<size_t> offsets_;
  Buffer<float> turned_;
  Buffer<Group> groups_;
  Buffer<int64_t> best_ids_;
  int longest_ = 0;  // positions that a query may see

  int key_size() const { return model_.heads.keys(); }
  int value_size() const { return model_.heads.values(); }
  int blocks() const { return model_.shape.decoder_layers * model_.heads.count; }
  // Kept keys and values are bfloat16 beside weights that are not float32.
  bool half() const { return model_.projection.precision != Precision::float32; }
  size_t kept_bytes() const { return half() ? sizeof(Half) : sizeof(float); }
  size_t pair() const { return model_.heads.d_k + model_.heads.d_v; }
  size_t pair_bytes() const { return pair() * kept_bytes(); }
  size_t hidden_stride() const { return model_.shape.d_model + GAP; }
  size_t context_stride() const { return value_size() + GAP; }
  // Values of one layer of a sentence's memory.
  size_t memory_size(int count) const {
    return turned_size(count, model_.heads) + static_cast<size_t>(count) * value_size();
  }

  void enter(const int32_t *lengths, int count);
  void encode(const int64_t *ids, const float *positions);
  void encoder_attention(size_t stride, int groups);
  template <class T>
  void look_at_memory(int tokens);
  void feed_forward(const Matrix &inner, const Matrix &outer, const Norm &norm, int count);
  void join(const Matrix &output, const Norm &norm, int count);
  template <class T>
  void self_attention(const DecoderLayer &layer, int index);
  template <class T>
  void memory_attention(const DecoderLayer &layer, int index);
  void scan(const Question &question, const Rows &rows, int thread, int threads);

  // Runs `work(item, thread)` for all items, each thread a stretch of them.
  template <class Work>
  void for_each(int count, const Work &work) {
    struct Items {
      const Work *work;
      int count;
    } items{&work, count};
    team_run(
        team_,
        [](void *context, int thread, int threads) {
          const Items &i = *static_cast<Items *>(context);
          const int last = static_cast<int>(static_cast<int64_t>(i.count) * (thread + 1) / threads);
          for (int item = static_cast<int>(static_cast<int64_t>(i.count) * thread / threads); item < last; ++item) {
            (*i.work)(item, thread);
          }
        },
        &items);
  }

  // Rows as a product with `weight` takes them.
  Rows ready(const float *floats, int count, size_t stride, const Matrix &weight) {
    if (weight.precision == Precision::float32) return {floats, nullptr, nullptr, nullptr, stride};
    if (weight.precision == Precision::bfloat16) {
      Half *halves = halves_.reserve(count * stride);
      for_each(count, [=, &weight](int row, int) {
        const float *from = floats + row * stride;
        for (int i = 0; i < weight.inputs; i += LANES) store(halves + row * stride + i, load(from + i));
      });
      return {nullptr, halves, nullptr, nullptr, stride};
    }
    uint8_t *codes = codes_.reserve(count * stride);
    float *scales = scales_.reserve(count);
    for_each(count, [=, &weight](int row, int) {
      scales[row] = quantize(floats + row * stride, weight.inputs, codes + row * stride);
    });
    return {nullptr, nullptr, codes, scales, stride};
  }

  // The product of hidden rows with a weight, in `projected_`; gives its stride.
  size_t project(const Matrix &weight, int count) {
    const size_t stride = weight.width() + GAP;
    projected_.reserve(count * stride);
    multiply(team_, ready(hidden_.get(), count, hidden_stride(), weight), count, weight, projected_.get(), stride);
    return stride;
  }

  // Room for the weights of a few queries in each thread.
  void reserve_weights(int positions) {
    longest_ = padded(positions);
    weights_.reserve(static_cast<size_t>(longest_) * MOST_QUERIES * team_size(team_));
  }
  float *weights_of(int thread) { return weights_.get() + static_cast<size_t>(thread) * MOST_QUERIES * longest_; }
};

inline void Session::enter(const int32_t *lengths, int count) {
  if (count > made_) {
    spare_.reserve(count);
    for (int i = 0; i < made_; ++i) spare_[i] = sentences_[i];
    sentences_.swap(spare_);
    while (made_ < count) {
      sentences_[made_] = new Sentence;
      ++made_;
    }
  }
  active_ = rows_ = count;
  width_ = 1;
  for (int i = 0; i < count; ++i) {
    Sentence &sentence = *sentences_[i];
    sentence.source = lengths[i];
    sentence.length = 0;
    sentence.memory.reserve(model_.shape.decoder_layers * memory_size(lengths[i]) * kept_bytes());
  }
}

// A sub-layer's second half, from the context: W_O, then the residual connection and its norm.
inline void Session::join(const Matrix &output, const Norm &norm, int count) {
  const size_t stride = output.width() + GAP;
  projected_.reserve(count * stride);
  multiply(team_, ready(context_.get(), count, context_stride(), output), count, output, projected_.get(), stride);
  for_each(count, [&](int row, int) {
    model_.add_and_norm(norm, projected_.get() + row * stride, hidden_.get() + row * hidden_stride());
  });
}

inline void Session::feed_forward(const Matrix &inner, const Matrix &outer, const Norm &norm, int count) {
  const bool is_swish = model_.shape.swish;
  const size_t inner_stride = inner.width() + GAP, stride = outer.width() + GAP;
  inner_.reserve(count * inner_stride);
  projected_.reserve(count * stride);
  const Rows rows = ready(hidden_.get(), count, hidden_stride(), inner);
  multiply(team_, rows, count, inner, inner_.get(), inner_stride, !is_swish);
  if (is_swish) {
    for_each(count, [&](int row, int) { swish(inner_.get() + row * inner_stride, inner.width()); });
  }
  multiply(team_, ready(inner_.get(), count, inner_stride, outer), count, outer, projected_.get(), stride);
  for_each(count, [&](int row, int) {
    model_.add_and_norm(norm, projected_.get() + row * stride, hidden_.get() + row * hidden_stride());
  });
}

// The encoder over all tokens at once, one sentence behind the other: there is no padding.
inline void Session::encode(const int64_t *ids, const float *positions) {
  int tokens = 0, longest = 0, groups = 0;
  size_t keys = 0;
  for (int i = 0; i < active_; ++i) {
    const int source = sentences_[i]->source;
    tokens += source;
    groups += (source + MOST_QUERIES - 1) / MOST_QUERIES;
    keys += turned_size(source, model_.heads);
    if (source > longest) longest = source;
  }
  hidden_.reserve(tokens * hidden_stride());
  context_.reserve(tokens * context_stride());
  turned_.reserve(keys);
  groups_.reserve(groups);
  reserve_weights(longest);
  for (int i = 0, token = 0, group = 0; i < active_; ++i) {
    const int begin = token;
    for (; token < begin + sentences_[i]->source; ++token) {
      if ((token - begin) % MOST_QUERIES == 0) groups_[group++] = {i, begin, token};
      const float *position = positions + static_cast<size_t>(token - begin) * model_.shape.d_model;
      model_.embed(model_.source, ids[token], position, hidden_.get() + token * hidden_stride());
    }
  }
  for (int index = 0; index < model_.shape.encoder_layers; ++index) {
    const EncoderLayer &layer = model_.encoder[index];
    encoder_attention(project(layer.query_key_value, tokens), groups);
    join(layer.output, layer.attention_norm, tokens);
    feed_forward(layer.inner, layer.outer, layer.feed_forward_norm, tokens);
  }
  half() ? look_at_memory<Half>(tokens) : look_at_memory<float>(tokens);
}

inline void Session::encoder_attention(size_t stride, int groups) {
  const float *rows = projected_.get() + key_size();
  float *keys = turned_.get();
  for (int i = 0; i < active_; ++i) {
    Sentence &sentence = *sentences_[i];
    turn_keys(rows, stride, sentence.source, model_.heads, keys);
    sentence.encoder_keys = keys;
    rows += sentence.source * stride;
    keys += turned_size(sentence.source, model_.heads);
  }
  for_each(groups, [&](int item, int thread) {
    const Group &group = groups_[item];
    const Sentence &sentence = *sentences_[group.sentence];
    const int left = group.begin + sentence.source - group.token;
    const float *values = projected_.get() + group.begin * stride + 2 * key_size();
    const size_t d_v = model_.heads.d_v;
    const Source<float> source{sentence.encoder_keys, values, stride, d_v, sentence.source};
    attend_to_source(left < MOST_QUERIES ? left : MOST_QUERIES, projected_.get() + group.token * stride, stride, source,
                     model_.heads, weights_of(thread), context_.get() + group.token * context_stride(),
                     context_stride());
  });
}

// Keys and values of the memory for every decoder layer, once a sentence and not once a hypothesis.
template <class T>
void Session::look_at_memory(int tokens) {
  for (int index = 0; index < model_.shape.decoder_layers; ++index) {
    const size_t stride = project(model_.decoder[index].key_value, tokens);
    const float *rows = projected_.get();
    for (int i = 0; i < active_; ++i) {
      const int count = sentences_[i]->source;
      T *keys = reinterpret_cast<T *>(sentences_[i]->memory.get()) + index * memory_size(count);
      turn_keys(rows, stride, count, model_.heads, keys);
      gather_values(rows + key_size(), stride, count, model_.heads, keys + turned_size(count, model_.heads));
      rows += count * stride;
    }
  }
}

inline void Session::advance(const int64_t *last_ids, const float *position) {
  const Shape &shape = model_.shape;
  hidden_.reserve(rows_ * hidden_stride());
  context_.reserve(rows_ * context_stride());
  int longest = 0;
  for (int i = 0; i < active_; ++i) {
    Sentence &sentence = *sentences_[i];
    sentence.make_room(blocks(), sentence.length + 1, width_, pair_bytes());
    for (int j = 0; j < width_; ++j) sentence.history[static_cast<size_t>(j) * sentence.positions + sentence.length] = j;
    ++sentence.length;
    if (sentence.source > longest) longest = sentence.source;
    if (sentence.length > longest) longest = sentence.length;
  }
  reserve_weights(longest);
  offsets_.reserve(static_cast<size_t>(longest_) * team_size(team_));
  for (int row = 0; row < rows_; ++row) {
    model_.embed(model_.target, last_ids ? last_ids[row] : shape.start_id, position,
                 hidden_.get() + row * hidden_stride());
  }
  for (int index = 0; index < shape.decoder_layers; ++index) {
    const DecoderLayer &layer = model_.decoder[index];
    half() ? self_attention<Half>(layer, index) : self_attention<float>(layer, index);
    join(layer.output, layer.attention_norm, rows_);
    half() ? memory_attention<Half>(layer, index) : memory_attention<float>(layer, index);
    join(layer.memory_output, layer.memory_norm, rows_);
    feed_forward(layer.inner, layer.outer, layer.feed_forward_norm, rows_);
  }
}

template <class T>
void Session::self_attention(const DecoderLayer &layer, int index) {
  const size_t stride = project(layer.query_key_value, rows_);
  const Heads &heads = model_.heads;
  for_each(active_, [&, stride](int i, int thread) {
    Sentence &sentence = *sentences_[i];
    const size_t head_stride = static_cast<size_t>(sentence.positions) * sentence.width * pair();
    T *pairs = reinterpret_cast<T *>(sentence.written.get()) + index * heads.count * head_stride;
    for (int j = 0; j < width_; ++j) {
      const float *key = projected_.get() + (i * width_ + j) * stride + key_size(), *value = key + key_size();
      T *to = pairs + ((sentence.length - 1) * static_cast<size_t>(sentence.width) + j) * pair();
      for (int head = 0; head < heads.count; ++head, to += head_stride, key += heads.d_k, value += heads.d_v) {
        for (int at = 0; at < heads.d_k; at += LANES) store(to + at, load(key + at));
        for (int at = 0; at < heads.d_v; at += LANES) store(to + heads.d_k + at, load(value + at));
      }
    }
    size_t *at = offsets_.get() + static_cast<size_t>(thread) * longest_;
    for (int j = 0; j < width_; ++j) {
      const int32_t *writers = sentence.history.get() + static_cast<size_t>(j) * sentence.positions;
      for (int position = 0; position < sentence.length; ++position) {
        at[position] = (static_cast<size_t>(position) * sentence.width + writers[position]) * pair();
      }
      const size_t row = i * width_ + j;
      const Written<T> written{pairs, at, head_stride, sentence.length};
      attend_to_written(projected_.get() + row * stride, written, heads, weights_of(thread),
                        context_.get() + row * context_stride());
    }
  });
}

template <class T>
void Session::memory_attention(const DecoderLayer &layer, int index) {
  const size_t stride = project(layer.query, rows_);
  for_each(active_, [&, stride](int i, int thread) {
    const Sentence &sentence = *sentences_[i];
    const T *keys = reinterpret_cast<const T *>(sentence.memory.get()) + index * memory_size(sentence.source);
    const T *values = keys + turned_size(sentence.source, model_.heads);
    const size_t d_v = model_.heads.d_v;
    const Source<T> source{keys, values, d_v, d_v * sentence.source, sentence.source};
    for (int j = 0; j < width_; j += MOST_QUERIES) {
      const size_t row = i * width_ + j;
      attend_to_source(width_ - j < MOST_QUERIES ? width_ - j : MOST_QUERIES, projected_.get() + row * stride, stride,
                       source, model_.heads, weights_of(thread), context_.get() + row * context_stride(),
                       context_stride());
    }
  });
}

// Goes on from other rows: `count` sentences of `width` hypotheses. Sentences that no line names have left.
inline void Session::select(const int64_t *rows, int count, int width) {
  spare_.reserve(made_);
  Buffer<uint8_t> kept;
  memset(kept.reserve(made_), 0, made_);
  for (int i = 0; i < count; ++i) {
    const int64_t old = rows[static_cast<size_t>(i) * width] / width_;
    Sentence *sentence = sentences_[old];
    kept[old] = 1;
    sentence->select(rows + static_cast<size_t>(i) * width, old * width_, width, blocks(), pair_bytes());
    spare_[i] = sentence;
  }
  for (int i = 0, free = count; i < made_; ++i) {
    if (!kept[i]) spare_[free++] = sentences_[i];
  }
  sentences_.swap(spare_);
  active_ = count;
  width_ = width;
  rows_ = count * width;
}

// The vocabulary passes in chunks that stay in the cache: products, largest, sum of exponentials and choice in one pass.
constexpr int CHUNK_PANELS = 16, CHUNK = CHUNK_PANELS * PANEL;

static inline float largest_of(const float *values, int count) {
  Floats most = load(values);
  for (int i = LANES; i < count; i += LANES) most = larger(load(values + i), most);
  return largest(most);
}

static inline float sum_of_powers(const float *values, int count, float top) {
  Floats total{};
  for (int i = 0; i < count; i += LANES) total += exponential(load(values + i) - top);
  return sum(total);
}

static inline void choose(const float *values, int count, int64_t first_id, Best &best) {
  for (int i = 0; i < count; i += LANES) {
    const Ints better = load(values + i) > all(best.threshold());
#if defined(__AVX512F__)
    if (!_mm512_movepi32_mask((__m512i)better)) continue;
#endif
    for (int lane = 0; lane < LANES; ++lane) {
      if (better[lane] && values[i + lane] > best.threshold()) best.add(values[i + lane], first_id + i + lane);
    }
  }
}

inline void Session::scan(const Question &question, const Rows &rows, int thread, int threads) {
  const int vocabulary = vocab_size(), panels = model_.projection.panels;
  const int chunks = (panels + CHUNK_PANELS - 1) / CHUNK_PANELS;
  const size_t stride = CHUNK + GAP;
  float *values = chunks_.get() + static_cast<size_t>(thread) * rows_ * stride;
  float *best_values = best_values_.get() + static_cast<size_t>(thread) * rows_ * question.k;
  int64_t *best_ids = best_ids_.get() + static_cast<size_t>(thread) * rows_ * question.k;
  for (size_t i = 0; i < static_cast<size_t>(rows_) * question.k; ++i) {
    best_values[i] = -INFINITE;
    best_ids[i] = 0;
  }
  for (int chunk = chunks * thread / threads; chunk < chunks * (thread + 1) / threads; ++chunk) {
    const int first = chunk * CHUNK_PANELS, first_id = first * PANEL;
    const int last = first + CHUNK_PANELS < panels ? first + CHUNK_PANELS : panels;
    const int count = (last - first) * PANEL;
    const int real = first_id + count > vocabulary ? vocabulary - first_id : count;
    multiply_panels(rows, rows_, model_.projection, first, last, values, stride, false);
    for (int row = 0; row < rows_; ++row) {
      float *here = values + row * stride;
      for (int i = real; i < count; ++i) here[i] = -INFINITE;
      const float top = largest_of(here, count);
      float *statistics = statistics_.get() + (static_cast<size_t>(row) * chunks + chunk) * 2;
      statistics[0] = top;
      statistics[1] = sum_of_powers(here, count, top);
      for (int i = 0; i < question.num_wanted; ++i) {
        const int64_t id = question.wanted[static_cast<size_t>(row) * question.num_wanted + i] - first_id;
        if (id >= 0 && id < real) question.wanted_values[static_cast<size_t>(row) * question.num_wanted + i] = here[id];
      }
      if (question.everything) {
        memcpy(question.everything + static_cast<size_t>(row) * vocabulary + first_id, here, real * sizeof(float));
      }
      if (!question.k) continue;
      Best best{best_values + static_cast<size_t>(row) * question.k, best_ids + static_cast<size_t>(row) * question.k,
                question.k};
      if (top <= best.threshold()) continue;
      if (question.banned_offsets) {
        for (int64_t i = question.banned_offsets[row]; i < question.banned_offsets[row + 1]; ++i) {
          const int64_t id = question.banned[i] - first_id;
          if (id >= 0 && id < real) here[id] = -INFINITE;
        }
      }
      choose(here, count, first_id, best);
    }
  }
}

inline void Session::answer(const Question &question, float *values, int64_t *ids) {
  const int threads = team_size(team_);
  const int chunks = (model_.projection.panels + CHUNK_PANELS - 1) / CHUNK_PANELS;
  chunks_.reserve(static_cast<size_t>(threads) * rows_ * (CHUNK + GAP));
  statistics_.reserve(static_cast<size_t>(rows_) * chunks * 2);
  best_values_.reserve(static_cast<size_t>(threads) * rows_ * question.k + 1);
  best_ids_.reserve(static_cast<size_t>(threads) * rows_ * question.k + 1);
  const Rows rows = ready(hidden_.get(), rows_, hidden_stride(), model_.projection);
  struct Scan {
    Session *session;
    const Question *question;
    const Rows *rows;
  } job{this, &question, &rows};
  team_run(
      team_,
      [](void *context, int thread, int count) {
        const Scan &s = *static_cast<Scan *>(context);
        s.session->scan(*s.question, *s.rows, thread, count);
      },
      &job);
  for (int row = 0; row < rows_; ++row) {
    // In the chunks' order, whichever thread had them.
    const float *statistics = statistics_.get() + static_cast<size_t>(row) * chunks * 2;
    float top = statistics[0];
    for (int chunk = 1; chunk < chunks; ++chunk) top = statistics[2 * chunk] > top ? statistics[2 * chunk] : top;
    double total = 0;
    for (int chunk = 0; chunk < chunks; ++chunk) {
      total += statistics[2 * chunk + 1] * __builtin_exp(static_cast<double>(statistics[2 * chunk]) - top);
    }
    const float normalizer = static_cast<float>(top + __builtin_log(total));
    if (question.k) {
      Best best{values + static_cast<size_t>(row) * question.k, ids + static_cast<size_t>(row) * question.k, question.k};
      memcpy(best.values, best_values_.get() + static_cast<size_t>(row) * question.k, question.k * sizeof(float));
      memcpy(best.ids, best_ids_.get() + static_cast<size_t>(row) * question.k, question.k * sizeof(int64_t));
      for (int thread = 1; thread < threads; ++thread) {
        const size_t from = (static_cast<size_t>(thread) * rows_ + row) * question.k;
        for (int i = 0; i < question.k && best_values_[from + i] > best.threshold(); ++i) {
          best.add(best_values_[from + i], best_ids_[from + i]);
        }
      }
      for (int i = 0; i < question.k; ++i) best.values[i] -= normalizer;
    }
    for (int i = 0; i < question.num_wanted; ++i) {
      question.wanted_values[static_cast<size_t>(row) * question.num_wanted + i] -= normalizer;
    }
    if (question.everything) {
      float *all_values = question.everything + static_cast<size_t>(row) * vocab_size();
      for (int i = 0; i < vocab_size(); ++i) all_values[i] -= normalizer;
    }
  }
}

}  // namespace attendo::ATTENDO_VARIANT
