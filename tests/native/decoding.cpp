// A small model of int8 weights that are drawn by a fixed rule, and what it answers to three sentences of several lengths:
// prints the bits of all log-probabilities, a line a row. `test_aarch64.py` compares processors by them.
#include "drafting.h"
#include "encode.h"

#include <cstdio>
#include <vector>

using namespace attendo::ATTENDO_VARIANT;

// Numerical Recipes' generator: whole numbers, so that every compiler draws the same.
struct Random {
  uint32_t state;
  uint32_t next() { return state = 1664525u * state + 1013904223u; }
  int below(int end) { return static_cast<int>((next() >> 8) % end); }
  float around_zero(float most) { return (static_cast<int>(next() >> 16) - 32768) / 32768.0f * most; }
};

static std::vector<float> floats(Random &random, size_t size, float most, float around = 0) {
  std::vector<float> values(size);
  for (float &value : values) value = around + random.around_zero(most);
  return values;
}

static std::vector<int8_t> codes(Random &random, size_t size) {
  std::vector<int8_t> values(size);
  for (int8_t &value : values) value = static_cast<int8_t>(random.below(255) - 127);
  return values;
}

static void fill(Random &random, Matrix &matrix, int outputs, int inputs) {
  const std::vector<float> scales = floats(random, outputs, 0.002f, 0.01f), bias = floats(random, outputs, 0.3f);
  matrix.pack(Precision::int8, outputs, inputs, nullptr, codes(random, static_cast<size_t>(outputs) * inputs).data(),
              scales.data(), bias.data());
}

int main() {
  constexpr int SIZE = 96, INNER = 192, HEADS = 3, HEAD = 32, LAYERS = 2, VOCABULARY = 1100, WIDTH = 2, STEPS = 9;
  Random random{7};
  Shape shape{};
  shape.d_model = SIZE, shape.d_ff = INNER, shape.num_heads = HEADS, shape.d_k = shape.d_v = HEAD;
  shape.encoder_layers = shape.decoder_layers = LAYERS;
  shape.src_vocab_size = shape.tgt_vocab_size = VOCABULARY, shape.start_id = 1;
  shape.scale = 0.17677669f, shape.layer_norm_eps = 1e-6f, shape.embedding_scale = 9.797959f;
  Model model(shape);
  const std::vector<float> gain = floats(random, SIZE, 0.5f, 1), bias = floats(random, SIZE, 0.3f);
  for (int layer = 0; layer < LAYERS; ++layer) {
    EncoderLayer &reads = model.encoder[layer];
    DecoderLayer &writes = model.decoder[layer];
    for (Matrix *each : {&reads.query_key_value, &writes.query_key_value}) fill(random, *each, 3 * SIZE, SIZE);
    for (Matrix *each : {&reads.output, &writes.output, &writes.query, &writes.memory_output}) fill(random, *each, SIZE, SIZE);
    fill(random, writes.key_value, 2 * SIZE, SIZE);
    for (Matrix *each : {&reads.inner, &writes.inner}) fill(random, *each, INNER, SIZE);
    for (Matrix *each : {&reads.outer, &writes.outer}) fill(random, *each, SIZE, INNER);
    for (Norm *each : {&reads.attention_norm, &reads.feed_forward_norm, &writes.attention_norm, &writes.memory_norm,
                       &writes.feed_forward_norm}) {
      *each = {gain.data(), bias.data()};
    }
  }
  fill(random, model.projection, VOCABULARY, SIZE);
  const std::vector<int8_t> table = codes(random, static_cast<size_t>(VOCABULARY) * SIZE);
  const std::vector<float> scales = floats(random, VOCABULARY, 0.0003f, 0.001f);
  model.source = model.target = {nullptr, table.data(), scales.data()};

  const int32_t lengths[] = {1, 17, 45};
  const int sentences = 3;
  const std::vector<float> positions = floats(random, 64 * SIZE, 1);
  std::vector<int64_t> ids(1 + 17 + 45);
  for (int64_t &id : ids) id = random.below(VOCABULARY);
  Session session(model, 1);
  session.start(ids.data(), lengths, sentences, positions.data());
  while (session.read(ids.data())) {
  }
  std::vector<float> answers(static_cast<size_t>(sentences) * WIDTH * VOCABULARY);
  for (int step = 0, rows = sentences; step < STEPS; ++step) {
    std::vector<int64_t> last(rows), parents(sentences * WIDTH);
    for (int64_t &id : last) id = random.below(VOCABULARY);
    session.advance(step ? last.data() : nullptr, positions.data(), 1);
    Question question{};
    question.everything = answers.data();
    session.answer(question);
    for (int row = 0; row < rows; ++row) {
      for (int id = 0; id < VOCABULARY; ++id) {
        uint32_t bits;
        memcpy(&bits, &answers[static_cast<size_t>(row) * VOCABULARY + id], sizeof bits);
        printf("%08x", bits);
      }
      printf("\n");
    }
    const int width = rows / sentences;
    for (int i = 0; i < sentences * WIDTH; ++i) parents[i] = i / WIDTH * width + random.below(width);
    session.select(parents.data(), sentences, WIDTH);
    rows = sentences * WIDTH;
  }
}
