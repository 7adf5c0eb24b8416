// Source and translation as sentences and words that point at each other.

import { make } from "./dom.js";
import { levelOf, meaning } from "./confidence.js";

// Segment after segment with what stands between; each word that has a link is an element of its own.
function filled(container, text, segments, side, wrap) {
  const parts = [];
  let at = 0;
  segments.forEach((segment, number) => {
    const { start, end } = segment[side];
    if (start < at) return; // out of order: left as text
    if (start > at) parts.push(text.slice(at, start));
    parts.push(wrap(segment, number, words(text, start, end, segment.alignment, side, number)));
    at = end;
  });
  parts.push(text.slice(at));
  container.replaceChildren(...parts);
}

function words(text, start, end, alignment, side, number) {
  const ranges = [...new Map(alignment.map((link) => [link[side].join("-"), link[side]])).values()].sort((one, other) => one[0] - other[0]);
  const parts = [];
  let at = start;
  for (const [from, to] of ranges) {
    if (from < at || to > end) continue;
    if (from > at) parts.push(text.slice(at, from));
    parts.push(make("span", { className: "word", data: { sentence: number, range: `${from}-${to}` } }, text.slice(from, to)));
    at = to;
  }
  if (end > at) parts.push(text.slice(at, end));
  return parts;
}

export function fillOutput(container, whole, language) {
  container.lang = language;
  const count = whole.segments.length;
  filled(container, whole.text, whole.segments, "target", (segment, number, parts) => {
    const level = levelOf(segment.confidence);
    const about = [segment.target.text, count > 1 ? `Sentence ${number + 1} of ${count}` : "", level ? `confidence ${meaning(segment.confidence).short}` : ""];
    return make("span", {
      className: `said${level ? ` level-${level}` : ""}`, tabIndex: number ? -1 : 0, role: "button", data: { sentence: number },
      aria: { label: about.filter(Boolean).join(". ") },
    }, ...parts);
  });
}

// Behind the text field lies the same text, unseen, whose words can be marked; it also makes the field as high as its text.
export function fillMirror(container, whole) {
  filled(container, whole.source, whole.segments, "source", (segment, number, parts) =>
    make("span", { className: "heard", data: { sentence: number } }, ...parts));
  container.append("\u200b");
}

export function plainMirror(container, text) {
  container.replaceChildren(text, "\u200b");
}

// What a word of one side is linked to on the other.
export function linkedWith(segment, side, range) {
  const other = side === "source" ? "target" : "source";
  return new Set(segment.alignment.filter((link) => link[side].join("-") === range).map((link) => link[other].join("-")));
}

export function mark(containers, sentence, ranges) {
  for (const [side, container] of Object.entries(containers)) {
    for (const word of container.querySelectorAll(".word")) {
      word.classList.toggle("linked", Number(word.dataset.sentence) === sentence && ranges[side].has(word.dataset.range));
    }
  }
}

export function unmark(containers) {
  for (const container of Object.values(containers)) {
    for (const word of container.querySelectorAll(".linked")) word.classList.remove("linked");
  }
}

// The field lies above its mirror and has the mouse: which word is below the pointer is asked of the words' boxes.
export function wordAt(container, x, y) {
  for (const word of container.querySelectorAll(".word")) {
    for (const box of word.getClientRects()) {
      if (x >= box.left && x <= box.right && y >= box.top && y <= box.bottom) return word;
    }
  }
  return null;
}

export function wordAtPlace(container, segments, place) {
  const sentence = segments.findIndex((segment) => place >= segment.source.start && place <= segment.source.end);
  if (sentence < 0) return null;
  return [...container.querySelectorAll(`.word[data-sentence="${sentence}"]`)].find((word) => {
    const [start, end] = word.dataset.range.split("-").map(Number);
    return place >= start && place <= end;
  }) ?? null;
}
