// One sentence that is being translated: keys and values of its source, and of what its hypotheses have written.
#pragma once

#include <vector>

#include "lanes.h"

namespace attendo::ATTENDO_VARIANT {

// Lines of values in blocks: how many there is room for in each block, and how far apart they are.
struct Layout {
  size_t lines, stride;
  size_t at(size_t block, size_t line) const { return (block * lines + line) * stride; }
};

// Moves lines of `size` values into a larger layout, where there is room for that without new memory.
template <class T>
static void lay_out(Buffer<T> &buffer, int blocks, int lines, size_t size, const Layout &from, const Layout &to) {
  const size_t needed = blocks * to.lines * to.stride;
  Buffer<T> larger;
  T *target = needed > buffer.size() ? larger.reserve(needed) : buffer.get();
  // From behind: no line moves to a lower place, so none falls on one that is still to be moved.
  for (int block = blocks; block-- > 0;) {
    for (int line = lines; line-- > 0;) {
      memmove(target + to.at(block, line), buffer.get() + from.at(block, line), size * sizeof(T));
    }
  }
  if (target != buffer.get()) buffer.swap(larger);
}

// A constituent that was opened: with those around it a stack, which hypotheses that go on from one another share.
struct Constituent {
  int64_t symbol;             // that opened it
  int32_t word, depth, above;  // its first word; how many are open with it; the one around it, or -1
};

// Where in a tree a hypothesis is, for a decoder that is told it.
struct Place {
  int32_t word = 0;          // the one that is next
  int32_t innermost = -1;    // of the constituents that are open
  int64_t completed = -1;    // the symbol of what was completed last
  int32_t completed_at = 0;  // and its first word
};

// What hypothesis j wrote at position p stays where it is. A hypothesis is a line of `history`: which hypothesis wrote
// each of its positions. To reorder a beam is to copy such lines. Sizes are in bytes: of float32 or bfloat16.
struct Sentence {
  int source = 0, length = 0;           // positions read and written
  int positions = 0, width = 0;         // that `written` and `history` have room for
  Buffer<uint8_t> memory;               // [layer](keys and values of a Source)
  Buffer<uint8_t> written;              // [layer][position][hypothesis](keys of all heads, values of all heads)
  Buffer<int32_t> history, selected;    // [hypothesis][position]
  Buffer<float> words;                  // [word][told](d_model): what the decoder may be told of each, then of </s>
  int last_word = 0;                    // the number of that
  Buffer<Place> places, chosen;         // [hypothesis]
  std::vector<Constituent> constituents;
  const float *encoder_keys = nullptr;  // of the encoder layer at work

  // Begins anew. Memory stays; how it is laid out does not, so that one wide beam leaves no gaps in those to come.
  void enter(int new_source) {
    source = new_source;
    length = positions = width = 0;
    places.reserve(1)[0] = {};
    constituents.clear();
  }

  // `pair`: bytes of keys and values of all heads.
  void make_room(int layers, int new_positions, int new_width, size_t pair) {
    if (new_positions <= positions && new_width <= width) return;
    const int more = 2 * positions > 32 ? 2 * positions : 32;
    const size_t p = new_positions <= positions ? positions : new_positions > more ? new_positions : more;
    const size_t rows = new_width > width ? new_width : width;
    lay_out(history, 1, width, length, {rows, static_cast<size_t>(positions)}, {rows, p});
    lay_out(written, layers, length, width * pair, {static_cast<size_t>(positions), width * pair}, {p, rows * pair});
    positions = static_cast<int>(p);
    width = static_cast<int>(rows);
  }

  // Hypothesis i goes on from what hypothesis `parents[i] - first` was.
  void select(const int64_t *parents, int64_t first, int count, int layers, size_t pair) {
    make_room(layers, positions, count, pair);
    selected.reserve(static_cast<size_t>(width) * positions);
    for (int i = 0; i < count; ++i) {
      memcpy(selected.get() + static_cast<size_t>(i) * positions,
             history.get() + static_cast<size_t>(parents[i] - first) * positions, length * sizeof(int32_t));
    }
    history.swap(selected);
    chosen.reserve(count);
    for (int i = 0; i < count; ++i) chosen[i] = places[parents[i] - first];
    places.swap(chosen);
  }

  size_t bytes() const {
    return memory.bytes() + written.bytes() + history.bytes() + selected.bytes() + words.bytes() + places.bytes() +
           chosen.bytes() + constituents.capacity() * sizeof(Constituent);
  }
};

}  // namespace attendo::ATTENDO_VARIANT
