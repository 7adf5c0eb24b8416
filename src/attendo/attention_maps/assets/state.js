// What is shown, and how a link says it.

const state = { kind: "", layer: 0, heads: new Set(), view: "lines", unit: "words", ends: true, focus: null, pinned: false };
let tables = {};

const table = () => tables[state.kind][state.unit];
const shownHeads = () => [...state.heads].sort((one, other) => one - other);
const allHeads = (kind) => Array.from({ length: about.kinds[kind].heads }, (_, head) => head);

function mean(row, column) {
  let sum = 0;
  for (const head of state.heads) sum += table().weight(state.layer, head, row, column);
  return sum / state.heads.size;
}

// Where heads look that look for nothing. In a long sentence the lines from all words to it would cover the others.
const endOf = () => (state.kind === "decoder" ? 0 : table().keys.length - 1);

function headsText() {
  const heads = shownHeads().map((head) => head + 1);
  if (heads.length === 1) return `head ${heads[0]}`;
  return heads.length === table().heads ? `all ${heads.length} heads` : `heads ${heads.join(", ")}`;
}

function linkText() {
  const heads = state.heads.size === table().heads ? "all" : shownHeads().map((head) => head + 1).join(",");
  const fields = [["kind", state.kind], ["layer", state.layer + 1], ["heads", heads], ["view", state.view], ["unit", state.unit]];
  if (!state.ends) fields.push(["ends", "no"]);
  if (state.focus && state.pinned) fields.push(["word", `${state.focus.side[0]}${state.focus.index + 1}`]);
  return fields.map((field) => field.join("=")).join("&");
}

// What a link does not say, or says wrongly, stays as it is; without heads it means all, without a word none.
function readLink(text) {
  const fields = new URLSearchParams(text);
  const kind = fields.get("kind");
  if (Object.hasOwn(about.kinds, kind ?? "")) state.kind = kind;
  if (about.units.includes(fields.get("unit"))) state.unit = fields.get("unit");
  if (["lines", "maps"].includes(fields.get("view"))) state.view = fields.get("view");
  state.ends = fields.get("ends") !== "no";
  const { layers, heads } = about.kinds[state.kind];
  const layer = Number(fields.get("layer"));
  state.layer = Number.isInteger(layer) && layer >= 1 && layer <= layers ? layer - 1 : Math.min(state.layer, layers - 1);
  const asked = (fields.get("heads") ?? "").split(",").map((head) => Number(head) - 1);
  const there = asked.filter((head) => Number.isInteger(head) && head >= 0 && head < heads);
  state.heads = new Set(there.length ? there : allHeads(state.kind));
  const [, side, number] = /^([qk])(\d+)$/.exec(fields.get("word") ?? "") ?? [];
  const focus = side && { side: side === "q" ? "query" : "key", index: Number(number) - 1 };
  const tokens = side === "q" ? table().queries : table().keys;
  state.pinned = Boolean(focus && focus.index >= 0 && focus.index < tokens.length);
  state.focus = state.pinned ? focus : null;
}
