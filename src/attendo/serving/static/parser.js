// The parser's page: a tree a sentence, as the server draws it.

import { isAbort, json } from "./api.js";
import { announce, element, icon, iconButton, copyText, make, plural, saveFile } from "./dom.js";

const WAIT_MS = 450;

export class Parser {
  #abort = null;
  #timer = 0;

  constructor(settings) {
    const choice = element("parser");
    choice.replaceChildren(...settings.parsers.map((name) => make("option", { value: name }, name)));
    element("parser-field").hidden = settings.parsers.length < 2;
    const field = element("parse-source");
    const ask = (wait) => { clearTimeout(this.#timer); this.#timer = setTimeout(() => this.#parse(field.value), wait); };
    field.addEventListener("input", () => { fit(field); ask(WAIT_MS); });
    field.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask(0); });
    choice.addEventListener("change", () => ask(0));
  }

  async #parse(text) {
    this.#abort?.abort();
    const abort = this.#abort = new AbortController();
    const problem = element("parse-problem");
    problem.hidden = true;
    if (!text.trim()) return element("trees").replaceChildren();
    try {
      const answer = await json("api/parse", { body: { text, model: element("parser").value }, signal: abort.signal });
      element("trees").replaceChildren(...answer.trees.map((found, place) => card(found, place)));
      announce(`${plural(answer.trees.length, "tree")} drawn.`);
    } catch (error) {
      if (isAbort(error)) return undefined;
      problem.textContent = error.message;
      problem.hidden = false;
    }
    return undefined;
  }
}

// Where the browser cannot make a field as high as its text by itself.
function fit(field) {
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight}px`;
}

function card(found, place) {
  const words = (found.words ?? []).join(" ");
  const head = make("div", { className: "card-head" }, make("h2", {}, words || `Sentence ${place + 1}`));
  const made = make("article", { className: "card tree", aria: { label: `Tree of: ${words}` } }, head);
  if (found.problem) made.append(make("p", { className: "notice problem" }, found.problem));
  if (!found.tree) return made;
  const copy = iconButton("copy", "Copy the tree in brackets", () => copyText(found.tree, copy));
  const tools = make("div", { className: "tools" }, copy);
  if (found.svg) {
    tools.append(iconButton("save", "Save the picture as SVG", () => saveFile("tree.svg", found.svg, "image/svg+xml")));
    made.append(make("div", { className: "scroll", tabIndex: 0, role: "region", aria: { label: `Picture of the tree of: ${words}` } }, drawing(found.svg)));
  }
  head.append(tools);
  made.append(make("details", { open: !found.svg }, make("summary", {}, "In brackets"), make("pre", {}, found.tree)));
  return made;
}

// The server's file, without its white ground; its colours follow the page's by the style sheet.
function drawing(text) {
  const svg = document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
  if (svg.tagName !== "svg") return icon("clear");
  for (const script of svg.querySelectorAll("script, foreignObject")) script.remove();
  svg.querySelector(":scope > rect")?.remove();
  return svg;
}
