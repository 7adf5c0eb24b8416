// A batch of sentences that are being translated: decoder steps and answers; `encode.h` has how it reads the sources,
// `drafting.h` how it writes several tokens in a step.
#pragma once

#include "model.h"
#include "sentence.h"
#include "vocabulary.h"

namespace attendo::ATTENDO_VARIANT {

constexpr int CANDIDATES = 6;  // as in `model/drafter.py`
static_assert(CANDIDATES <= PADDED);
constexpr float WORTH = 0.3f;  // the chance of being right that a proposal needs to be worth a row of the next passage
// Values between rows, so that equal columns of several rows do not fall into one cache set, and so that a weight whose
// groups are filled up finds something behind each row.
constexpr int GAP = 64;
static_assert(GAP >= 4 * WHOLE_GROUPS);
constexpr int READ_AT_ONCE = 512;  // tokens times parts of the encoder that one call reads at least

// Up to MOST_QUERIES tokens of one sentence, which look at it together.
struct Group {
  int sentence, begin, token;  // the sentence's first token and the group's, among all tokens
};

// How far the encoder has come.
struct Reading {
  int part = 0, tokens = 0, groups = 0;  // the next part; of all sources
};

// How far a sentence that is written in several calls has come.
struct Writing {
  int written = 0, given = 0, passages = 0;  // tokens; log-probabilities, which are those of what comes next too; passages
  bool ended = false;
  int64_t next = 0;  // the token that comes next
};

class Session {
 public:
  Session(const Model &model, int threads) : model_(model), team_(team_new(threads)) {}
  Session(const Session &) = delete;
  ~Session() {
    team_free(team_);
    for (int i = 0; i < made_; ++i) delete sentences_[i];
  }

  // Takes sentences, `lengths` ids each, one after the other; each has one empty hypothesis then. They are to be read.
  void start(const int64_t *ids, const int32_t *lengths, int count, const float *positions) {
    enter(ids, lengths, count);
    embed_sources(ids, positions);
  }

  // Reads the sentences on, by half a layer of the encoder or, behind the last, by what one layer of the decoder looks at,
  // and by several such parts where there are few tokens; so no call is long. `ids` are those of `start`. Gives whether
  // there is more to read.
  bool read(const int64_t *ids);

  // Adds `tokens` tokens to each row, each seeing those before it; more than one where there is one row only, which
  // then has so many answers. `positions` are the encodings of all positions. The hidden states are ready then.
  void advance(const int64_t *last_ids, const float *positions, int tokens);

  // Proposes the tokens behind `next_id`, the one that follows the only row: the model's `draft_tokens` of them. Gives
  // how many of them are worth verifying.
  int draft(int64_t next_id, int64_t *proposed);

  // Writes the only row's most probable tokens up to `eos` or to the longest length, in blocks of tokens that are verified
  // together: at most `most_passages` passages now, going on where the call before it stopped, with the same arguments.
  // Gives whether the end is reached; `log_probs`, with room for one more, are those of each token and of `eos`.
  bool write(int max_len, const float *positions, int64_t eos, int most_passages, int64_t *ids, float *log_probs,
             Writing *found);

  // Adds to the only row a token and what was proposed behind it, keeps what is right of that, and proposes further.
  // Gives how many tokens were kept; `values` and `best`, with room for all, are the most probable token behind each.
  int block(const int64_t *ids, int tokens, const float *positions, int64_t eos, float *values, int64_t *best,
            int64_t *proposed);

  // Goes on from other rows, `count` sentences of `width` hypotheses; a sentence that no line of rows names has left.
  void select(const int64_t *rows, int count, int width);

  // Log-probabilities of what may come next in each row; between `advance` and `select`.
  void answer(const Question &question);

  // Of memory that it has, and keeps for the batches to come.
  size_t bytes() const;

 private:
  const Model &model_;
  Team *team_;
  Buffer<Sentence *> sentences_, spare_;  // those at work first, then those that are free
  int made_ = 0, active_ = 0, width_ = 1, tokens_ = 1, rows_ = 0;  // tokens of each hypothesis that have answers
  bool answers_ = false;  // whether the hidden states are these rows'
  bool scanned_ = false;  // and the statistics
  Buffer<float> hidden_, drafted_, projected_, context_, inner_, turned_, scales_, weights_, chunks_, best_values_, block_values_,
      candidates_;
  Buffer<Half> halves_;
  Buffer<uint8_t> codes_, kept_;
  Buffer<size_t> offsets_;
  Buffer<Group> groups_;
  Buffer<Statistics> statistics_;
  Buffer<int64_t> best_ids_, chain_, places_;
  Reading reading_;
  Writing writing_;
  int longest_ = 0;  // positions that a query may see

  int key_size() const { return model_.heads.keys(); }
  int value_size() const { return model_.heads.values(); }
  // Kept keys and values are bfloat16 beside weights that are not float32.
  bool half() const { return model_.projection.precision != Precision::float32; }
  size_t kept_bytes() const { return half() ? sizeof(Half) : sizeof(float); }
  size_t pair() const { return key_size() + value_size(); }
  size_t pair_bytes() const { return pair() * kept_bytes(); }
  size_t hidden_stride() const { return model_.shape.d_model + GAP; }
  size_t context_stride() const { return value_size() + GAP; }
  // Values of one layer of a sentence's memory.
  size_t memory_size(int count) const {
    return turned_size(count, model_.heads) + static_cast<size_t>(count) * value_size();
  }

  void enter(const int64_t *ids, const int32_t *lengths, int count);
  void embed_sources(const int64_t *ids, const float *positions);
  void read_part(const int64_t *ids);
  // Two parts an encoder layer, one a decoder layer, and what the decoder is told of the words.
  bool is_read() const { return reading_.part > 2 * model_.shape.encoder_layers + model_.shape.decoder_layers; }
  void look_at_words(const int64_t *ids, int tokens);
  void gather_words(const Matrix &memory, int first, const int64_t *ids, int tokens);
  // What may be told of a word: as the next one, and as the first one of what the parser's stack has on top.
  int told() const { return model_.shape.parser_stack ? 3 : 1; }
  void tell(Sentence &sentence, Place &place, int64_t id, float *hidden) const;
  void encoder_attention(size_t stride, int groups);
  template <class T>
  void look_at_memory(int layer, int tokens);
  void feed_forward(const Matrix &inner, const Matrix &outer, const Norm &norm, int count);
  void join(const float *from, size_t from_stride, const Matrix &output, const Norm &norm, int count);
  void join_heads(const Matrix &output, const Norm &norm, int count) {
    join(context_.get(), context_stride(), output, norm, count);
  }
  template <class T>
  void self_attention(const DecoderLayer &layer, int index);
  template <class T>
  void memory_attention(const Matrix &query, int index);
  void check_selection(const int64_t *rows, int count, int width);
  void scan(const Question &question, const Rows &rows, int thread, int threads);
  void keep(int count);
  int propose(int64_t *ids);
  void adjust(float *beside, int64_t before, const int64_t *places, int count, float *logits);
  void gather_best(const Question &question, int row, int threads);
  Best best_of(const Question &question, size_t row) {
    return {best_values_.get() + row * question.k, best_ids_.get() + row * question.k, question.k};
  }

  // Runs `work(thread, threads)` on every thread of the team.
  template <class Work>
  void run(const Work &work) {
    team_run(
        team_,
        [](void *context, int thread, int threads) { (*static_cast<const Work *>(context))(thread, threads); },
        const_cast<Work *>(&work));
  }

  // Runs `work(item, thread)` for all items, each thread a stretch of them.
  template <class Work>
  void for_each(int count, const Work &work) {
    run([&work, count](int thread, int threads) {
      const int last = static_cast<int>(static_cast<int64_t>(count) * (thread + 1) / threads);
      for (int item = static_cast<int>(static_cast<int64_t>(count) * thread / threads); item < last; ++item) {
        work(item, thread);
      }
    });
  }

  // Rows as a product with `weight` takes them.
  Rows ready(const float *floats, int count, size_t stride, const Matrix &weight) {
    if (weight.precision == Precision::float32) return {bytes_of(floats), nullptr, stride * sizeof(float)};
    if (weight.precision == Precision::bfloat16) {
      Half *halves = halves_.reserve(padded(count, ROWS_IN_TURNS) * stride);
      for_each(count, [=, &weight](int row, int) {
        to_bfloat16(floats + row * stride, weight, {halves, row, stride});
      });
      return {bytes_of(halves), nullptr, stride * sizeof(Half)};
    }
    uint8_t *codes = codes_.reserve(padded(count, ROWS_IN_TURNS) * stride);
    float *scales = scales_.reserve(count);
    for_each(count, [=, &weight](int row, int) {
      scales[row] = quantize(floats + row * stride, weight.inputs, {codes, row, stride});
    });
    return {codes, scales, stride};
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

inline void Session::enter(const int64_t *ids, const int32_t *lengths, int count) {
  require(count >= 0);
  int64_t tokens = 0;
  for (int i = 0; i < count; ++i) {
    require(lengths[i] > 0);
    tokens += lengths[i];
  }
  require(tokens <= INT32_MAX);
  for (int64_t i = 0; i < tokens; ++i) require(ids[i] < model_.shape.src_vocab_size);
  if (count > made_) {
    spare_.reserve(count);
    for (int i = 0; i < made_; ++i) spare_[i] = sentences_[i];
    sentences_.swap(spare_);
    for (; made_ < count; ++made_) sentences_[made_] = new Sentence;
  }
  active_ = rows_ = count;
  width_ = tokens_ = 1;
  answers_ = scanned_ = false;
  writing_ = {};
  for (int i = 0; i < count; ++i) {
    sentences_[i]->enter(lengths[i]);
    sentences_[i]->memory.reserve(model_.shape.decoder_layers * memory_size(lengths[i]) * kept_bytes());
  }
}

inline size_t Session::bytes() const {
  size_t total = hidden_.bytes() + drafted_.bytes() + projected_.bytes() + context_.bytes() + inner_.bytes() + turned_.bytes() +
                 scales_.bytes() + weights_.bytes() + chunks_.bytes() + best_values_.bytes() + halves_.bytes() +
                 codes_.bytes() + kept_.bytes() + offsets_.bytes() + groups_.bytes() + statistics_.bytes() +
                 best_ids_.bytes() + block_values_.bytes() + chain_.bytes() + places_.bytes() +
                 candidates_.bytes();
  for (int i = 0; i < made_; ++i) total += sentences_[i]->bytes();
  return total;
}

// A sub-layer's last matrix, then the residual connection and its norm.
inline void Session::join(const float *from, size_t from_stride, const Matrix &output, const Norm &norm, int count) {
  const size_t stride = output.width() + GAP;
  projected_.reserve(count * stride);
  multiply(team_, ready(from, count, from_stride, output), count, output, projected_.get(), stride);
  for_each(count, [&](int row, int) {
    model_.add_and_norm(norm, projected_.get() + row * stride, hidden_.get() + row * hidden_stride());
  });
}

inline void Session::feed_forward(const Matrix &inner, const Matrix &outer, const Norm &norm, int count) {
  const bool is_swish = model_.shape.swish;
  const size_t stride = inner.width() + GAP;
  inner_.reserve(count * stride);
  multiply(team_, ready(hidden_.get(), count, hidden_stride(), inner), count, inner, inner_.get(), stride, !is_swish);
  if (is_swish) for_each(count, [&](int row, int) { swish(inner_.get() + row * stride, inner.width()); });
  join(inner_.get(), stride, outer, norm, count);
}

inline void Session::advance(const int64_t *last_ids, const float *positions, int tokens) {
  const Shape &shape = model_.shape;
  require(is_read());
  require(tokens > 0 && tokens <= 1 << 16 && (tokens == 1 || (active_ * width_ == 1 && !shape.next_word)));
  tokens_ = tokens;
  rows_ = active_ * width_ * tokens;
  for (int row = 0; row < rows_; ++row) require((last_ids ? last_ids[row] : shape.start_id) < shape.tgt_vocab_size);
  hidden_.reserve(rows_ * hidden_stride());
  context_.reserve(rows_ * context_stride());
  int longest = 0;
  for (int i = 0, row = 0; i < active_; ++i) {
    Sentence &sentence = *sentences_[i];
    sentence.make_room(shape.decoder_layers, sentence.length + tokens, width_, pair_bytes());
    for (int j = 0; j < width_; ++j) {
      for (int k = 0; k < tokens; ++k, ++row) {
        const int position = sentence.length + k;
        sentence.history[static_cast<size_t>(j) * sentence.positions + position] = j;
        const int64_t id = last_ids ? last_ids[row] : shape.start_id;
        float *hidden = hidden_.get() + row * hidden_stride();
        model_.embed(model_.target, id, positions + static_cast<size_t>(position) * shape.d_model, hidden);
        if (shape.next_word) tell(sentence, sentence.places[j], id, hidden);
      }
    }
    sentence.length += tokens;
    if (sentence.source > longest) longest = sentence.source;
    if (sentence.length > longest) longest = sentence.length;
  }
  reserve_weights(longest);
  offsets_.reserve(static_cast<size_t>(longest_) * team_size(team_));
  for (int index = 0; index < shape.decoder_layers; ++index) {
    const DecoderLayer &layer = model_.decoder[index];
    half() ? self_attention<Half>(layer, index) : self_attention<float>(layer, index);
    join_heads(layer.output, layer.attention_norm, rows_);
    half() ? memory_attention<Half>(layer.query, index) : memory_attention<float>(layer.query, index);
    join_heads(layer.memory_output, layer.memory_norm, rows_);
    feed_forward(layer.inner, layer.outer, layer.feed_forward_norm, rows_);
  }
  answers_ = true;
  scanned_ = false;
}

// What a hypothesis goes on with may be a word, and then the one behind it is next; or open a constituent, or close one.
inline void Session::tell(Sentence &sentence, Place &place, int64_t id, float *hidden) const {
  const int size = model_.shape.d_model;
  const auto add = [=](const float *told) {
    for (int i = 0; i < size; i += LANES) store(hidden + i, load(hidden + i) + load(told + i));
  };
  const auto add_word = [&](int word, int as) {
    add(sentence.words.get() + (static_cast<size_t>(word) * told() + as) * size);
  };
  const int32_t word = place.word;
  if (id >= 0 && model_.next_word.writes[id] && word < sentence.last_word) ++place.word;
  add_word(place.word, 0);
  if (!model_.shape.parser_stack) return;
  const ParserStack &stack = model_.parser_stack;
  std::vector<Constituent> &all = sentence.constituents;
  const auto depth = [&] { return place.innermost < 0 ? 0 : all[place.innermost].depth; };
  const SymbolKind kind = id < 0 ? SymbolKind::other : static_cast<SymbolKind>(stack.kinds[id]);
  if (kind == SymbolKind::word) {
    place.completed = id;
    place.completed_at = word;
  } else if (kind == SymbolKind::opens_behind || kind == SymbolKind::opens_before) {
    const int32_t first = kind == SymbolKind::opens_behind ? place.completed_at : place.word;
    all.push_back({id, first, depth() + 1, place.innermost});
    place.innermost = static_cast<int32_t>(all.size()) - 1;
  } else if (kind == SymbolKind::closes) {
    const Constituent closed = place.innermost < 0 ? Constituent{-1, 0, 0, -1} : all[place.innermost];
    place.completed = closed.symbol;
    place.completed_at = closed.word;
    place.innermost = closed.above;
  }
  const Constituent open = place.innermost < 0 ? Constituent{-1, 0, 0, -1} : all[place.innermost];
  const auto row = [&](int64_t symbol) { return (symbol < 0 ? model_.shape.tgt_vocab_size : symbol) * size; };
  add(stack.depths + static_cast<size_t>(open.depth < stack.most ? open.depth : stack.most) * size);
  add(stack.opened + row(open.symbol));
  add(stack.completed + row(place.completed));
  add_word(open.word, 1);
  add_word(place.completed_at, 2);
}

template <class T>
void Session::self_attention(const DecoderLayer &layer, int index) {
  const size_t stride = project(layer.query_key_value, rows_);
  for_each(active_, [&, stride](int i, int thread) {
    Sentence &sentence = *sentences_[i];
    T *pairs = reinterpret_cast<T *>(sentence.written.get()) +
               index * static_cast<size_t>(sentence.positions) * sentence.width * pair();
    const int rows = width_ * tokens_, before = sentence.length - tokens_;
    for (int j = 0; j < rows; ++j) {
      const float *from = projected_.get() + (i * rows + j) * stride + key_size();
      const size_t position = before + j % tokens_, writer = j / tokens_;
      T *to = pairs + (position * sentence.width + writer) * pair();
      for (size_t at = 0; at < pair(); at += LANES) store(to + at, load(from + at));
    }
    size_t *at = offsets_.get() + static_cast<size_t>(thread) * longest_;
    for (int j = 0; j < rows; ++j) {
      const int32_t *writers = sentence.history.get() + static_cast<size_t>(j / tokens_) * sentence.positions;
      const int seen = before + j % tokens_ + 1;
      for (int position = 0; position < seen; ++position) {
        at[position] = (static_cast<size_t>(position) * sentence.width + writers[position]) * pair();
      }
      const size_t row = i * rows + j;
      const Written<T> written{pairs, at, seen};
      attend_to_written(projected_.get() + row * stride, written, model_.heads, weights_of(thread),
                        context_.get() + row * context_stride());
    }
  });
}

template <class T>
void Session::memory_attention(const Matrix &query, int index) {
  const size_t stride = project(query, rows_);
  for_each(active_, [&, stride](int i, int thread) {
    const Sentence &sentence = *sentences_[i];
    const T *keys = reinterpret_cast<const T *>(sentence.memory.get()) + index * memory_size(sentence.source);
    const T *values = keys + turned_size(sentence.source, model_.heads);
    const size_t d_v = model_.heads.d_v;
    const Source<T> source{keys, values, d_v, d_v * sentence.source, sentence.source};
    const int rows = width_ * tokens_;
    for (int j = 0; j < rows; j += MOST_QUERIES) {
      const size_t row = i * rows + j;
      attend_to_source(rows - j < MOST_QUERIES ? rows - j : MOST_QUERIES, projected_.get() + row * stride, stride,
                       source, model_.heads, weights_of(thread), context_.get() + row * context_stride(),
                       context_stride());
    }
  });
}

// Rows of a line are of one sentence, and a sentence has one line at most: with two it would be in two places.
inline void Session::check_selection(const int64_t *rows, int count, int width) {
  require(count >= 0 && count <= active_ && width > 0 && width <= INT32_MAX / (count + 1) && tokens_ == 1);
  memset(kept_.reserve(made_ + 1), 0, made_ + 1);
  for (int i = 0; i < count; ++i, rows += width) {
    require(rows[0] >= 0 && rows[0] < rows_ && !kept_[rows[0] / width_]);
    kept_[rows[0] / width_] = 1;
    for (int j = 1; j < width; ++j) require(rows[j] >= 0 && rows[j] / width_ == rows[0] / width_);
  }
}

inline void Session::select(const int64_t *rows, int count, int width) {
  check_selection(rows, count, width);
  spare_.reserve(made_);
  for (int i = 0; i < count; ++i, rows += width) {
    const int64_t old = rows[0] / width_;
    spare_[i] = sentences_[old];
    spare_[i]->select(rows, old * width_, width, model_.shape.decoder_layers, pair_bytes());
  }
  for (int i = 0, free = count; i < made_; ++i) {
    if (!kept_[i]) spare_[free++] = sentences_[i];
  }
  sentences_.swap(spare_);
  active_ = count;
  width_ = width;
  rows_ = count * width;
  answers_ = scanned_ = false;
}

// The vocabulary's chunks, each thread a stretch of them, for all rows.
inline void Session::scan(const Question &question, const Rows &rows, int thread, int threads) {
  const int vocabulary = model_.shape.tgt_vocab_size, panels = model_.projection.panels;
  const int64_t chunks = chunks_of(model_.projection);
  const size_t stride = CHUNK + GAP, first_row = static_cast<size_t>(thread) * rows_;
  float *logits = chunks_.get() + first_row * stride;
  // Given tokens after another question: what makes log-probabilities of logits is known, and most chunks have none.
  const bool known = scanned_ && !question.k && !question.everything;
  for (int row = 0; row < rows_; ++row) best_of(question, first_row + row).clear();
  for (int64_t chunk = chunks * thread / threads; chunk < chunks * (thread + 1) / threads; ++chunk) {
    const int first = static_cast<int>(chunk) * CHUNK_PANELS, first_id = first * PANEL;
    const int last = first + CHUNK_PANELS < panels ? first + CHUNK_PANELS : panels;
    const int count = (last - first) * PANEL;
    const int real = first_id + count > vocabulary ? vocabulary - first_id : count;
    if (known && !wants(question, rows_, first_id, first_id + real)) continue;
    multiply_panels(rows, rows_, model_.projection, first, last, logits, stride, false);
    for (int row = 0; row < rows_; ++row) {
      float *here = logits + row * stride;
      for (int i = real; i < count; ++i) here[i] = -INFINITE;
      const Statistics found = statistics_of(here, count);
      statistics_[row * chunks + chunk] = found;
      answer_chunk(question, row, vocabulary, here, count, real, first_id, found.largest,
                   best_of(question, first_row + row));
    }
  }
}

inline void Session::answer(const Question &question) {
  const int threads = team_size(team_), chunks = chunks_of(model_.projection), vocabulary = model_.shape.tgt_vocab_size;
  require(answers_);
  for (int64_t i = 0; i < static_cast<int64_t>(rows_) * question.num_wanted; ++i) {
    require(question.wanted[i] >= 0 && question.wanted[i] < vocabulary);
  }
  const size_t all_rows = static_cast<size_t>(threads) * rows_;
  chunks_.reserve(all_rows * (CHUNK + GAP));
  statistics_.reserve(static_cast<size_t>(rows_) * chunks);
  best_values_.reserve(all_rows * question.k);
  best_ids_.reserve(all_rows * question.k);
  const Rows rows = ready(hidden_.get(), rows_, hidden_stride(), model_.projection);
  run([&](int thread, int count) { scan(question, rows, thread, count); });
  scanned_ = true;
  for (int row = 0; row < rows_; ++row) {
    gather_best(question, row, threads);
    normalize(question, row, vocabulary, normalizer(statistics_.get() + static_cast<size_t>(row) * chunks, chunks));
  }
}

// The best of a row that each thread has found, in the order of their ids: of equal values the lower id stays first.
inline void Session::gather_best(const Question &question, int row, int threads) {
  if (!question.k) return;
  const size_t place = static_cast<size_t>(row) * question.k;
  Best best{question.values + place, question.ids + place, question.k};
  best.clear();
  for (int thread = 0; thread < threads; ++thread) {
    const Best found = best_of(question, static_cast<size_t>(thread) * rows_ + row);
    for (int i = 0; i < found.k && found.values[i] > best.threshold(); ++i) best.add(found.values[i], found.ids[i]);
  }
}

}  // namespace attendo::ATTENDO_VARIANT
