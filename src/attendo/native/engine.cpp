// The C interface of one variant; `native/library.py` calls it. Every function gives 0, or 1 where memory ran out and 2
// for an argument that cannot be meant. Pointers to ids and results are the caller's and are not kept; those to norms
// and embeddings are kept as long as the model. After a session's function has failed the session can only be started
// anew or freed; it may be freed after its model.
#include "drafting.h"
#include "encode.h"
#include "training_attention.h"
#include "training_loss.h"

#define JOINED_(a, b) attendo_##a##_##b
#define JOINED(a, b) JOINED_(a, b)
#define API(name) extern "C" __attribute__((visibility("default"))) int JOINED(ATTENDO_VARIANT, name)

using namespace attendo::ATTENDO_VARIANT;

namespace {

template <class Work>
int guarded(const Work &work) {
  try {
    return work();
  } catch (const std::bad_alloc &) {
    return 1;
  } catch (const Refused &) {
    return 2;
  }
}

}  // namespace

API(model_new)(const Shape *shape, Model **made) {
  return guarded([=] {
    if (shape->d_model % PADDED || shape->d_k % PADDED || shape->d_v % PADDED || shape->d_ff % PADDED) return 2;
    *made = new Model(*shape);
    return 0;
  });
}

API(model_free)(Model *model) {
  delete model;
  return 0;
}

API(model_matrix)(Model *model, int which, int layer, int precision, int outputs, int inputs, const float *weights,
                  const int8_t *codes, const float *scales, const float *bias) {
  return guarded([=] {
    Matrix *matrix = model->matrix(which, layer);
    if (!matrix || precision < 0 || precision > 2) return 2;
    matrix->pack(static_cast<Precision>(precision), outputs, inputs, weights, codes, scales, bias);
    return 0;
  });
}

API(model_norm)(Model *model, int which, int layer, const float *gain, const float *bias) {
  Norm *norm = model->norm(which, layer);
  if (!norm) return 2;
  *norm = {gain, bias};
  return 0;
}

API(model_embedding)(Model *model, int target, const float *floats, const int8_t *codes, const float *scales) {
  (target ? model->target : model->source) = {floats, codes, scales};
  return 0;
}

API(model_drafter)(Model *model, const float *places, const int64_t *ids, const float *before, const float *adjusted,
                   const float *shifts) {
  model->drafter.places = places;
  model->drafter.ids = ids;
  model->drafter.before = before;
  model->drafter.adjusted = adjusted;
  model->drafter.shifts = shifts;
  return 0;
}

API(model_next_word)(Model *model, const uint8_t *begins, const uint8_t *writes, int64_t eos) {
  model->next_word.begins = begins;
  model->next_word.writes = writes;
  model->next_word.eos = eos;
  return 0;
}

API(model_parser_stack)(Model *model, const float *depths, const float *opened, const float *completed,
                        const uint8_t *kinds, int most) {
  model->parser_stack.depths = depths;
  model->parser_stack.opened = opened;
  model->parser_stack.completed = completed;
  model->parser_stack.kinds = kinds;
  model->parser_stack.most = most;
  return 0;
}

API(session_new)(const Model *model, int threads, Session **made) {
  return guarded([=] {
    *made = new Session(*model, threads);
    return 0;
  });
}

API(session_free)(Session *session) {
  delete session;
  return 0;
}

API(session_start)(Session *session, const int64_t *ids, const int32_t *lengths, int count, const float *positions) {
  return guarded([=] {
    session->start(ids, lengths, count, positions);
    return 0;
  });
}

API(session_read)(Session *session, const int64_t *ids, int32_t *more) {
  return guarded([=] {
    *more = session->read(ids);
    return 0;
  });
}

API(session_advance)(Session *session, const int64_t *last_ids, const float *positions) {
  return guarded([=] {
    session->advance(last_ids, positions, 1);
    return 0;
  });
}

API(session_block)(Session *session, const int64_t *ids, int tokens, const float *positions, int64_t eos,
                   float *values, int64_t *best, int64_t *proposed, int32_t *kept) {
  return guarded([=] {
    *kept = session->block(ids, tokens, positions, eos, values, best, proposed);
    return 0;
  });
}

API(session_write)(Session *session, int max_len, const float *positions, int64_t eos, int most_passages, int64_t *ids,
                   float *log_probs, int32_t *passages, int32_t *written, int32_t *ended) {
  return guarded([=] {
    Writing now{};
    *ended = session->write(max_len, positions, eos, most_passages, ids, log_probs, &now);
    *passages = now.passages;
    *written = now.ended && now.next == eos ? now.written : -now.written - 1;
    return 0;
  });
}

API(session_draft)(Session *session, int64_t next_id, int64_t *proposed) {
  return guarded([=] {
    session->draft(next_id, proposed);
    return 0;
  });
}

API(session_select)(Session *session, const int64_t *rows, int count, int width) {
  return guarded([=] {
    session->select(rows, count, width);
    return 0;
  });
}

API(session_top_k)(Session *session, int k, const int64_t *offsets, const int64_t *listed, const uint8_t *only,
                   float *values, int64_t *ids) {
  return guarded([=] {
    require(k >= 0);
    Question question{};
    question.k = k, question.values = values, question.ids = ids;
    question.offsets = offsets, question.listed = listed, question.only = only;
    session->answer(question);
    return 0;
  });
}

API(session_of)(Session *session, const int64_t *ids, int count, float *values) {
  return guarded([=] {
    require(count >= 0);
    Question question{};
    question.num_wanted = count, question.wanted = ids, question.wanted_values = values;
    session->answer(question);
    return 0;
  });
}

API(session_all)(Session *session, float *values) {
  return guarded([=] {
    Question question{};
    question.everything = values;
    session->answer(question);
    return 0;
  });
}

API(session_bytes)(const Session *session, int64_t *bytes) {
  *bytes = static_cast<int64_t>(session->bytes());
  return 0;
}

// Training: `half` says that rows for products are bfloat16. The sizes are checked by `training/passes/kernels.py`.

namespace {

template <template <class> class Its, class Work>
int in_either(int half, const void *arguments, const Work &work) {
  return guarded([&] {
    half ? work(*static_cast<const Its<Half> *>(arguments)) : work(*static_cast<const Its<float> *>(arguments));
    return 0;
  });
}

}  // namespace

API(add_and_norm)(const Crew *crew, int half, const void *arguments) {
  return in_either<AddAndNorm>(half, arguments, [=](const auto &its) { its.forward(*crew); });
}

API(add_and_norm_back)(const Crew *crew, int half, const void *arguments) {
  return in_either<AddAndNormBack>(half, arguments, [=](const auto &its) { its.backward(*crew); });
}

API(embed)(const Crew *crew, const Embed *arguments) {
  return guarded([=] {
    arguments->forward(*crew);
    return 0;
  });
}

API(embed_back)(const Crew *crew, int half, const void *arguments) {
  return in_either<EmbedBack>(half, arguments, [=](const auto &its) { its.backward(*crew); });
}

API(attention)(const Crew *crew, int half, const void *arguments) {
  return in_either<PackedAttention>(half, arguments, [=](const auto &its) { its.forward(*crew); });
}

API(attention_back)(const Crew *crew, int half, const void *arguments) {
  return in_either<PackedAttentionBack>(half, arguments, [=](const auto &its) { its.backward(*crew); });
}

API(cross_entropy)(const Crew *crew, int half, const void *arguments) {
  return in_either<CrossEntropy>(half, arguments, [=](const auto &its) { its.forward(*crew); });
}

API(r_drop)(const Crew *crew, int half, const void *arguments) {
  return in_either<RDrop>(half, arguments, [=](const auto &its) { its.forward(*crew); });
}

API(turn)(const Crew *crew, int half, const void *arguments) {
  return in_either<Turn>(half, arguments, [=](const auto &its) { its.run(*crew); });
}

API(bias_back)(const Crew *crew, int half, const void *arguments) {
  return in_either<BiasBack>(half, arguments, [=](const auto &its) { its.backward(*crew); });
}

API(accumulate)(const Crew *crew, int half, float *sums, const void *addends, int64_t size) {
  return guarded([=] {
    half ? accumulate(*crew, sums, static_cast<const Half *>(addends), size)
         : accumulate(*crew, sums, static_cast<const float *>(addends), size);
    return 0;
  });
}
