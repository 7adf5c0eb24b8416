// One sentence: other translations of it, how sure the model is, word by word, its attention.

import { isAbort, json } from "./api.js";
import { openAttention } from "./attention.js";
import { dots, levelOf, meaning } from "./confidence.js";
import { announce, element, make, percent } from "./dom.js";

const WANTED = 5;

export class Sentence {
  #abort = null;
  #known = new Map(); // alternatives of sentences asked for already

  // changed(number, text): another translation is wanted in the text; marked(number, side, range) points at words.
  constructor({ changed, marked, unmarked, limits, keepsCorrections }) {
    Object.assign(this, { changed, marked, unmarked, limits, number: -1, whole: null, pair: null });
    element("sentence-before").addEventListener("click", () => this.step(-1));
    element("sentence-after").addEventListener("click", () => this.step(1));
    element("sentence-close").addEventListener("click", () => this.close(true));
    element("open-attention").addEventListener("click", () => openAttention(this.segment.source.text, this.segment.target.text, this.pair));
    element("choice-list").addEventListener("change", ({ target }) => this.#choose(target.value));
    element("correction").hidden = !keepsCorrections;
    element("correction").addEventListener("submit", (event) => { event.preventDefault(); this.#correct(); });
    const gloss = element("gloss");
    const point = ({ target }) => {
      const button = target.closest("button");
      if (button) this.marked(this.number, "target", button.dataset.range);
    };
    gloss.addEventListener("mouseover", point);
    gloss.addEventListener("focusin", point);
    gloss.addEventListener("click", point);
    gloss.addEventListener("mouseleave", () => this.unmarked());
    gloss.addEventListener("focusout", () => this.unmarked());
  }

  get segment() {
    return this.whole.segments[this.number];
  }

  get isOpen() {
    return this.number >= 0;
  }

  step(by) {
    const next = this.number + by;
    if (next >= 0 && next < this.whole.segments.length) this.open(this.whole, next, this.pair);
  }

  open(whole, number, pair) {
    const isSame = this.isOpen && this.segment?.source.text === whole.segments[number].source.text;
    Object.assign(this, { whole, number, pair });
    const { segment } = this;
    const count = whole.segments.length;
    element("sentence").hidden = false;
    element("sentence-title").textContent = count > 1 ? `Sentence ${number + 1} of ${count}` : "This sentence";
    for (const [id, isThere] of [["sentence-before", number > 0], ["sentence-after", number < count - 1]]) {
      element(id).hidden = count < 2;
      element(id).setAttribute("aria-disabled", !isThere);
    }
    this.#drawConfidence(segment);
    if (!isSame || !element("correction").contains(document.activeElement)) this.#drawCorrection(segment);
    this.#drawGloss(segment);
    if (!isSame) this.#drawChoices([segment.target.text], "Looking for others …");
    this.#drawMarks();
    this.#ask(segment);
  }

  close(isByHand = false) {
    this.#abort?.abort();
    const { number } = this;
    Object.assign(this, { number: -1 });
    element("sentence").hidden = true;
    this.#drawMarks();
    if (isByHand) element("output").querySelector(`[data-sentence="${number}"]`)?.focus();
  }

  #drawMarks() {
    for (const said of element("output").querySelectorAll(".said")) {
      if (Number(said.dataset.sentence) === this.number) said.setAttribute("aria-current", "true");
      else said.removeAttribute("aria-current");
    }
    for (const heard of element("mirror").querySelectorAll(".heard")) {
      heard.classList.toggle("chosen", Number(heard.dataset.sentence) === this.number && this.whole.segments.length > 1);
    }
  }

  #drawConfidence(segment) {
    const isKnown = Boolean(levelOf(segment.confidence));
    element("sentence-confidence").hidden = !isKnown;
    if (!isKnown) return;
    const { word, long } = meaning(segment.confidence);
    element("sentence-dots").replaceChildren(dots(segment.confidence));
    element("sentence-meaning").replaceChildren(make("b", { className: `confidence-word level-${levelOf(segment.confidence)}` }, `${word}, ${percent(segment.confidence)}.`), ` ${long}`);
  }

  // In the translation's order, each word with what it comes from below.
  #drawGloss(segment) {
    const { source, target, alignment } = segment;
    const cut = (side, [start, end]) => bare(side.text.slice(start - side.start, end - side.start));
    const words = new Map();
    for (const link of alignment) {
      const range = link.target.join("-");
      if (!words.has(range)) words.set(range, { text: cut(target, link.target), start: link.target[0], from: [] });
      words.get(range).from.push([link.source[0], cut(source, link.source)]);
    }
    const items = [...words].sort(([, one], [, other]) => one.start - other.start).map(([range, { text, from }]) => {
      const origin = from.sort((one, other) => one[0] - other[0]).map(([, word]) => word).join(" ");
      return make("li", {}, make("button", { type: "button", data: { range }, aria: { label: `${text}, from ${origin}` } }, text, make("span", {}, origin)));
    });
    element("words-part").hidden = !items.length;
    element("gloss").replaceChildren(...items);
  }

  async #ask(segment) {
    this.#abort?.abort();
    const wanted = Math.min(WANTED, this.limits.n_best ?? WANTED);
    const first = segment.best?.text ?? segment.target.text;
    const key = JSON.stringify([segment.source.text, first, this.pair]);
    if (wanted < 2) return this.#drawChoices([first], "");
    if (!this.#known.has(key)) {
      const abort = new AbortController();
      this.#abort = abort;
      try {
        const answer = await json("api/translate", { body: { text: segment.source.text, ...this.pair, n_best: wanted }, signal: abort.signal });
        const [found] = answer.translations;
        const others = [found.text, ...(found.segments.length === 1 ? found.segments[0].alternatives.map((one) => one.text) : found.alternatives)];
        this.#known.set(key, [first, ...others.filter((text, place) => text.trim() && text !== first && others.indexOf(text) === place)]);
      } catch (error) {
        if (!isAbort(error)) this.#drawChoices([segment.target.text], error.message);
        return undefined;
      }
      if (abort.signal.aborted) return undefined;
    }
    const texts = this.#known.get(key);
    return this.#drawChoices(texts, texts.length > 1 ? "" : "There is no other that is about as good.");
  }

  #drawChoices(texts, note) {
    const list = element("choice-list");
    const hadFocus = list.contains(document.activeElement);
    const now = this.segment.target.text;
    const labels = texts.map((text) => make("label", { className: "choice", lang: this.pair.target, dir: "auto" },
      make("input", { type: "radio", name: "choice", value: text, checked: text === now }),
      make("span", {}, ...(text === texts[0] ? [text] : different(texts[0], text)))));
    list.replaceChildren(...labels, ...(note ? [make("p", { className: "quiet" }, note)] : []));
    if (hadFocus) list.querySelector("input:checked")?.focus();
  }

  #drawCorrection(segment) {
    element("correction-text").value = segment.target.text;
    element("correction-text").lang = this.pair.target;
    element("correction-problem").hidden = true;
  }

  // What a person wrote goes into the text and to the server, which answers with it from then on.
  async #correct() {
    const { segment, number, pair } = this;
    const text = element("correction-text").value.trim();
    if (!text) return;
    const machine = segment.best?.text ?? segment.target.text;
    const corrections = [{ text: segment.source.text, translation: text, machine }];
    try {
      await json("api/corrections", { body: { source: pair.source, target: pair.target, model: pair.model, corrections } });
    } catch (error) {
      element("correction-problem").textContent = error.message;
      element("correction-problem").hidden = false;
      return;
    }
    element("correction-problem").hidden = true;
    if (this.number === number && text !== segment.target.text) this.changed(number, text);
    announce("Kept on this server.");
  }

  #choose(text) {
    this.changed(this.number, text);
    announce("Put into the translation.");
  }
}

// A word without the marks that stand at it.
const bare = (word) => word.replace(/^[\p{P}]+(?=.)|(?<=.)[\p{P}]+$/gu, "");

// A text with the words in bold that another has not: the longest common sequence of words stays plain.
export function different(before, after) {
  const [old, now] = [before, after].map((text) => text.split(/(\s+)/));
  const table = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      table[i][j] = old[i] === now[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  const parts = [];
  let [i, j] = [0, 0];
  while (j < now.length) {
    if (i < old.length && old[i] === now[j]) {
      parts.push(now[j]);
      i += 1;
      j += 1;
    } else if (i < old.length && table[i + 1][j] >= table[i][j + 1]) {
      i += 1;
    } else {
      parts.push(now[j].trim() ? make("b", {}, now[j]) : now[j]);
      j += 1;
    }
  }
  return parts;
}
