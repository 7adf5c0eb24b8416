// Confidence as people understand it: so many of ten such translations came close to a person's.

import { element, make, makeSvg, percent, plural } from "./dom.js";
import { json } from "./api.js";

const HIGH = 0.8;
const MEDIUM = 0.5;
const WORDS = { high: "High confidence", medium: "Check it", low: "Doubtful" };

export const levelOf = (confidence) => (typeof confidence !== "number" ? "" : confidence >= HIGH ? "high" : confidence >= MEDIUM ? "medium" : "low");

// Never all of ten, never none: nobody is that sure.
const ofTen = (confidence) => Math.min(9, Math.max(1, Math.round(10 * confidence)));

export function meaning(confidence) {
  const about = confidence >= 0.95 ? "More than 9" : confidence < 0.05 ? "Fewer than 1" : `About ${ofTen(confidence)}`;
  return {
    word: WORDS[levelOf(confidence)],
    short: `${WORDS[levelOf(confidence)].toLowerCase()}, ${percent(confidence)}`,
    long: `${about} of 10 translations with this confidence came close to a person's.`,
  };
}

export function dots(confidence) {
  const full = Math.min(10, Math.max(0, Math.round(10 * confidence)));
  return make("span", { className: `dots level-${levelOf(confidence)}`, aria: { hidden: true } },
    ...Array.from({ length: 10 }, (_, place) => make("i", { className: place < full ? "on" : "" })));
}

// Of a whole text: the mean, weighted by length, and how many sentences stand out.
export function summary(segments) {
  const sure = segments.filter((segment) => levelOf(segment.confidence));
  if (!sure.length) return null;
  const lengths = sure.map((segment) => Math.max(1, segment.source.text.length));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const mean = sure.reduce((sum, segment, place) => sum + (segment.confidence * lengths[place]) / total, 0);
  const low = sure.filter((segment) => levelOf(segment.confidence) === "low").length;
  return { mean, low, count: sure.length };
}

export function drawSummary(button, segments) {
  const found = summary(segments);
  button.hidden = !found;
  if (!found) return;
  const { mean, low, count } = found;
  const level = levelOf(mean);
  const several = count > 1 && low ? `${low} of ${plural(count, "sentence")} doubtful` : "";
  button.replaceChildren(dots(mean), make("span", { className: `confidence-word level-${level}` }, meaning(mean).word),
    make("span", {}, percent(mean)), ...(several ? [make("span", { className: "quiet" }, several)] : []),
    make("span", { className: "visually-hidden" }, ", what does this mean?"));
}

// --- what it means, and whether it is true --------------------------------------------------------------------------------

const SIZE = { width: 440, height: 400, left: 66, right: 26, top: 12, bottom: 54 };
const across = (share) => SIZE.left + share * (SIZE.width - SIZE.left - SIZE.right);
const up = (share) => SIZE.height - SIZE.bottom - share * (SIZE.height - SIZE.top - SIZE.bottom);

function curve(reliability, name, draw) {
  const points = reliability.bins.map((bin) => [across(bin.confidence), up(bin.share)]);
  return [makeSvg("polyline", { class: name, points: points.map((point) => point.join(",")).join(" ") }), ...reliability.bins.map(draw)];
}

function drawCurve(measured) {
  const axes = [0, 0.25, 0.5, 0.75, 1].flatMap((tick) => [
    makeSvg("line", { class: "grid", x1: across(tick), x2: across(tick), y1: up(0), y2: up(1) }),
    makeSvg("line", { class: "grid", x1: across(0), x2: across(1), y1: up(tick), y2: up(tick) }),
    makeSvg("text", { x: across(tick), y: up(0) + 22, "text-anchor": "middle" }, percent(tick)),
    makeSvg("text", { x: across(0) - 8, y: up(tick) + 4, "text-anchor": "end" }, percent(tick)),
  ]);
  const without = curve(measured.token_probability, "without", (bin) =>
    makeSvg("rect", { class: "without-point", x: across(bin.confidence) - 3.5, y: up(bin.share) - 3.5, width: 7, height: 7 }));
  const ours = curve(measured.confidence, "line", (bin) => makeSvg("g", {},
    makeSvg("line", { class: "interval", x1: across(bin.confidence), x2: across(bin.confidence), y1: up(bin.low), y2: up(bin.high) }),
    makeSvg("circle", { class: "point", cx: across(bin.confidence), cy: up(bin.share), r: 4.5 })));
  return makeSvg("svg", { class: "curve", viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, role: "img", "aria-label": `Reliability curve on ${measured.name}; its numbers are in the table below` },
    ...axes, makeSvg("line", { class: "ideal", x1: across(0), y1: up(0), x2: across(1), y2: up(1) }), ...without, ...ours,
    makeSvg("text", { x: (across(0) + across(1)) / 2, y: SIZE.height - 6, "text-anchor": "middle" }, "confidence shown"),
    makeSvg("text", { transform: `translate(13 ${(up(0) + up(1)) / 2}) rotate(-90)`, "text-anchor": "middle" }, "came close to a person's"));
}

const row = (tag, cells) => make("tr", {}, ...cells.map((cell, place) => make(place && tag === "td" ? "td" : "th", { scope: place ? "col" : tag === "td" ? "row" : "col" }, cell)));

function table(caption, head, rows) {
  const cells = rows.map((cells) => make("tr", {}, make("th", { scope: "row" }, cells[0]), ...cells.slice(1).map((cell) => make("td", {}, cell))));
  return make("div", { className: "numbers", tabIndex: 0, role: "region", aria: { label: caption } },
    make("table", {}, make("caption", { className: "visually-hidden" }, caption), make("thead", {}, row("th", head)), make("tbody", {}, ...cells)));
}

function scale() {
  return make("ul", { className: "scale" }, ...[[0.9, "high", "usually fine as it stands"], [0.65, "medium", "mostly right; read it before you use it"], [0.3, "low", "often wrong; ask somebody, or say it in other words"]]
    .map(([example, level, what]) => make("li", {}, dots(example), make("span", {}, make("b", { className: `confidence-word level-${level}` }, WORDS[level]), `: ${what}`))));
}

function explained(calibration) {
  const [own, ...others] = calibration.measured;
  const error = (measured) => (100 * measured).toFixed(1);
  const people = own.people === null ? [] : [make("p", {}, `People differ too: of ${plural(own.people_sentences, "sentence")} that two people translated in different words, ${percent(own.people)} are as close to each other.`)];
  const caption = `On ${plural(own.confidence.sentences, "sentence")} of ${own.name}, each judged by what the others taught: the solid line, with 95% intervals, is what this page shows; on the dotted diagonal it would be exactly right. The dashed line is what the model's own probabilities would have said.`;
  const rows = own.confidence.bins.map((bin) => [percent(bin.confidence), percent(bin.share), `${percent(bin.low)} – ${percent(bin.high)}`, bin.count.toLocaleString("en")]);
  const elsewhere = [own, ...others].map((each) => [each.name, each.confidence.sentences.toLocaleString("en"), percent(each.confidence.confidence), percent(each.confidence.share), error(each.confidence.error), error(each.token_probability.error)]);
  return [
    make("p", {}, "A confidence of 80 % says: of 100 translations like this one, about 80 came close to the translation a person had written of the same sentence."),
    scale(),
    make("p", { className: "quiet" }, "It is no promise for one sentence. A fluent translation can be wrong, and a free one can be right though it is far from what that person wrote. Where it matters, let a person read it."),
    make("h3", {}, "Does it keep what it says?"),
    make("figure", {}, drawCurve(own), make("figcaption", {}, caption)),
    ...people,
    make("details", {}, make("summary", {}, "The curve as numbers"), table("The reliability curve as numbers", ["shown", "came close", "95% interval", "sentences"], rows)),
    make("details", {}, make("summary", {}, "On other texts, and how it is measured"),
      table("Calibration on every test set", ["test set", "sentences", "shown, mean", "came close", "error", "without"], elsewhere),
      make("p", { className: "quiet" }, `Close means a chrF2 of ${calibration.close} or more between translation and reference (${calibration.signature}). The error is the mean gap between shown and true, in percentage points, over ten groups of equal size; without is the same for the model's own probabilities. On texts unlike those it was learned from, it is less exact.`)),
  ];
}

export async function openConfidence(model) {
  const [dialog, content] = [element("confidence"), element("confidence-content")];
  content.replaceChildren(make("p", { className: "quiet" }, "One moment …"));
  dialog.showModal();
  try {
    content.replaceChildren(...explained(await json(`api/confidence?model=${encodeURIComponent(model)}`)));
  } catch (error) {
    content.replaceChildren(make("p", { className: "notice problem" }, error.message));
  }
}
