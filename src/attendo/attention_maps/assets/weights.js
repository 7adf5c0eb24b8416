"use strict";
// The page's data: bytes to weights, pieces to words.

const about = JSON.parse(document.getElementById("about").textContent);

class Table {
  constructor(kind, queries, keys, values) {
    Object.assign(this, { layers: kind.layers, heads: kind.heads, queries, keys, values });
  }

  weight(layer, head, row, column) {
    return this.values[((layer * this.heads + head) * this.queries.length + row) * this.keys.length + column];
  }

  // Out of sight is what no head of any layer looks at: the page's bytes keep 0 for that alone.
  isHidden(row, column) {
    const [step, first] = [this.queries.length * this.keys.length, row * this.keys.length + column];
    for (let place = first; place < this.values.length; place += step) if (this.values[place]) return false;
    return true;
  }

  strongest(layer, head) {
    const size = this.queries.length * this.keys.length;
    const start = (layer * this.heads + head) * size;
    let best = 0;
    for (let place = 1; place < size; place++) if (this.values[start + place] > this.values[start + best]) best = place;
    return { row: Math.floor(best / this.keys.length), column: best % this.keys.length, weight: this.values[start + best] };
  }
}

// A word is looked at as much as all its pieces together, and looks as its pieces do on average.
function joined(kind, pieces) {
  const { queries, querySizes, keys, keySizes } = kind.words;
  const owners = (sizes) => sizes.flatMap((size, word) => Array(size).fill(word));
  const [queryOf, keyOf] = [owners(querySizes), owners(keySizes)];
  const values = new Float32Array(kind.layers * kind.heads * queries.length * keys.length);
  let place = 0;
  for (let map = 0; map < kind.layers * kind.heads; map++) {
    for (const query of queryOf) {
      const row = (map * queries.length + query) * keys.length;
      for (const key of keyOf) values[row + key] += pieces.values[place++] / querySizes[query];
    }
  }
  return new Table(kind, queries, keys, values);
}

async function inflated(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Of each kind of attention a table of pieces and one of words.
async function readTables() {
  const bytes = await inflated(document.getElementById("weights").textContent);
  const weights = Float32Array.from({ length: about.steps + 1 }, (_, step) => (step / about.steps) ** 2);
  const tables = {};
  let start = 0;
  for (const [name, kind] of Object.entries(about.kinds)) {
    const size = kind.layers * kind.heads * kind.queries.length * kind.keys.length;
    const values = Float32Array.from(bytes.subarray(start, start + size), (step) => weights[step]);
    const pieces = new Table(kind, kind.queries, kind.keys, values);
    tables[name] = { pieces, words: joined(kind, pieces) };
    start += size;
  }
  return tables;
}
