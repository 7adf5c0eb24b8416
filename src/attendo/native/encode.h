// How a session reads its sources: the encoder, and the memory's keys and values for every layer of the decoder.
#pragma once

#include "session.h"

namespace attendo::ATTENDO_VARIANT {

// The encoder works on all tokens at once, one sentence behind the other: there is no padding. This makes them ready.
inline void Session::embed_sources(const int64_t *ids, const float *positions) {
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
  reading_ = {0, tokens, groups};
}

inline bool Session::read(const int64_t *ids) {
  // Parts of few tokens are over sooner than a call begins.
  for (int done = 0; done < READ_AT_ONCE; done += reading_.tokens) {
    read_part(ids);
    if (is_read()) return false;
  }
  return true;
}

inline void Session::read_part(const int64_t *ids) {
  const int tokens = reading_.tokens;
  require(!is_read());
  const int part = reading_.part++, encoding = 2 * model_.shape.encoder_layers;
  if (part < encoding) {
    const EncoderLayer &layer = model_.encoder[part / 2];
    if (part % 2 == 0) {
      encoder_attention(project(layer.query_key_value, tokens), reading_.groups);
    } else {
      join_heads(layer.output, layer.attention_norm, tokens);
      feed_forward(layer.inner, layer.outer, layer.feed_forward_norm, tokens);
    }
  } else if (part < encoding + model_.shape.decoder_layers) {
    const int layer = part - encoding;
    half() ? look_at_memory<Half>(layer, tokens) : look_at_memory<float>(layer, tokens);
  } else if (model_.shape.next_word) {
    for (int i = 0; i < tokens; ++i) require(ids[i] < model_.shape.src_vocab_size);
    look_at_words(ids, tokens);
  }
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

// Keys and values of the memory for a decoder layer, once a sentence and not once a hypothesis.
template <class T>
void Session::look_at_memory(int layer, int tokens) {
  const size_t stride = project(model_.decoder[layer].key_value, tokens);
  const float *rows = projected_.get();
  for (int i = 0; i < active_; ++i) {
    const int count = sentences_[i]->source;
    T *keys = reinterpret_cast<T *>(sentences_[i]->memory.get()) + layer * memory_size(count);
    turn_keys(rows, stride, count, model_.heads, keys);
    gather_values(rows + key_size(), stride, count, model_.heads, keys + turned_size(count, model_.heads));
    rows += count * stride;
  }
}

// What the decoder is told of each word, which is of its first piece, and behind the last one of the first </s>. A
// sentence without one has another token that begins no word in its place, or its last word.
inline void Session::look_at_words(const int64_t *ids, int tokens) {
  gather_words(model_.next_word.memory, 0, ids, tokens);
  if (model_.shape.parser_stack) gather_words(model_.parser_stack.memory, 1, ids, tokens);
}

// A matrix of one or several of what may be told, which begin at `first`.
inline void Session::gather_words(const Matrix &memory, int first, const int64_t *ids, int tokens) {
  const NextWord &next_word = model_.next_word;
  const int size = model_.shape.d_model;
  const size_t stride = project(memory, tokens);
  const float *rows = projected_.get();
  for (int i = 0; i < active_; ++i) {
    Sentence &sentence = *sentences_[i];
    const int count = sentence.source;
    float *to = sentence.words.reserve(static_cast<size_t>(count) * told() * size) + first * size;
    int words = 0, end = -1;
    const auto add = [&](int token) {
      memcpy(to + static_cast<size_t>(words++) * told() * size, rows + token * stride, memory.outputs * sizeof(float));
    };
    for (int token = 0; token < count; ++token) {
      if (ids[token] >= 0 && next_word.begins[ids[token]]) add(token);
      else if (end < 0 || (ids[token] == next_word.eos && ids[end] != next_word.eos)) end = token;
    }
    if (end >= 0) add(end);
    sentence.last_word = words - 1;
    ids += count;
    rows += count * stride;
  }
}

}  // namespace attendo::ATTENDO_VARIANT
