// What became of a document's messages: counts, and a table of those that somebody should look at first.

import { levelOf } from "./confidence.js";
import { make, percent, plural } from "./dom.js";

const MOST_ROWS = 200;
const MOST_CHARACTERS = 300;

const short = (text) => (text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS - 1)}…`);
const forms = (texts) => short(texts.join(" / "));

export function counts(summary) {
  const parts = [`${plural(summary.translated, "message")} translated`];
  if (summary.kept) parts.push(`${summary.kept.toLocaleString("en")} kept`);
  if (summary.left) parts.push(`${summary.left.toLocaleString("en")} left as ${summary.left === 1 ? "it was" : "they were"}`);
  if (summary.marked) parts.push(`${summary.marked.toLocaleString("en")} marked for review`);
  const found = summary.findings.length + summary.findings_left_out;
  if (found) parts.push(`findings in ${found.toLocaleString("en")}`);
  if (summary.confidence) parts.push(`mean confidence ${percent(summary.confidence.mean)}`);
  return parts.join(", ");
}

// Findings first, then what the model is least sure of.
function inOrder(units) {
  const doubt = (unit) => (unit.failed ? 0 : unit.problems.length ? 1 : 2);
  const sure = (unit) => unit.confidence ?? 1;
  return units.filter((unit) => unit.origin === "mt" || unit.problems.length)
    .sort((one, other) => doubt(one) - doubt(other) || sure(one) - sure(other));
}

function row(unit, hasConfidence) {
  const problems = unit.problems.map((problem) => make("li", {}, short(problem)));
  const cells = [make("td", {}, problems.length ? make("ul", {}, ...problems) : "nothing")];
  if (hasConfidence) {
    cells.push(make("td", { className: `confidence-word level-${levelOf(unit.confidence)}` }, unit.confidence === null ? "" : percent(unit.confidence)));
  }
  return make("tr", {}, make("th", { scope: "row" }, unit.line ? `line ${unit.line.toLocaleString("en")}` : short(unit.id)), ...cells,
    make("td", {}, forms(unit.source)), make("td", {}, unit.origin === "mt" ? forms(unit.target) : "left as it was"));
}

export function table(report, name) {
  const units = inOrder(report.units);
  if (!units.length) return make("p", { className: "quiet" }, "No message was translated.");
  const hasConfidence = units.some((unit) => unit.confidence !== null);
  const heads = ["Message", "Found", ...(hasConfidence ? ["Confidence"] : []), "Source", "Translation"];
  const more = units.length - MOST_ROWS;
  return make("div", {},
    make("div", { className: "findings", tabIndex: 0, role: "region", aria: { label: `Messages of ${name}` } },
      make("table", {},
        make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
        make("tbody", {}, ...units.slice(0, MOST_ROWS).map((unit) => row(unit, hasConfidence))))),
    ...(more > 0 ? [make("p", { className: "quiet" }, `${plural(more, "more message")}: save the report.`)] : []));
}
