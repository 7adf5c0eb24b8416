// The two panes: what is typed on the one side, its translation on the other, and how they point at each other.

import { drawSummary, meaning, openConfidence, summary } from "./confidence.js";
import { announce, copyText, element, make, percent, plural } from "./dom.js";
import { kept } from "./kept.js";
import { charactersOf, replaced } from "./paragraphs.js";
import { Sentence } from "./sentence.js";
import { askForKey } from "./settings.js";
import { Live } from "./translating.js";
import { fillMirror, fillOutput, linkedWith, mark, plainMirror, unmark, wordAt, wordAtPlace } from "./words.js";

const LONG = 600; // characters from which letters are smaller
const NOTHING = { source: "", text: "", segments: [], problems: [] };

export class Text {
  whole = NOTHING;
  pair = null;
  #chosen = new Map(); // other translations that the person has chosen, of which sentences

  constructor({ languages, history, limits, glossaries, keepsCorrections }) {
    Object.assign(this, { languages, history, limits, glossaries });
    this.containers = { source: element("mirror"), target: element("output") };
    this.live = new Live({
      partial: (whole, pair) => this.#show(whole, pair, false),
      done: (whole, pair) => this.#show(whole, pair, true),
      failed: (error) => this.#fail(error),
      working: (isAtWork) => { element("working").hidden = !isAtWork; element("output").ariaBusy = String(isAtWork); },
      waiting: (error) => announce(`The server is busy; trying again in ${Math.ceil(error.retryAfter)} seconds.`),
    }, limits);
    this.sentence = new Sentence({
      changed: (number, text) => this.#replace(number, text), marked: (...about) => this.#mark(...about), unmarked: () => unmark(this.containers), limits, keepsCorrections,
    });
    this.#listen();
    this.#typed();
    if (kept("live", true) && this.text.trim()) this.translate(true); // typed while the page was still loading
  }

  get text() {
    return element("source").value;
  }

  set(text, isNow = true) {
    element("source").value = text;
    this.#typed();
    this.translate(isNow);
  }

  // --- asking -------------------------------------------------------------------------------------------------------------

  #typed() {
    const { text } = this;
    const count = charactersOf(text);
    const most = this.limits.max_characters;
    plainMirror(element("mirror"), text);
    element("view-text").classList.toggle("long", count > LONG);
    element("count").textContent = most ? `${count.toLocaleString("en")} / ${most.toLocaleString("en")}` : plural(count, "character");
    element("count").classList.toggle("over", Boolean(most) && count > most);
    element("clear").hidden = !text;
    element("source").lang = this.languages.heard ?? "";
  }

  translate(isNow = false) {
    const { text } = this;
    element("problem").hidden = true;
    if (!text.trim()) return this.#empty();
    const most = this.limits.max_characters;
    if (most && charactersOf(text) > most) {
      this.live.cancel();
      this.#fail({ message: `The text is too long: ${charactersOf(text).toLocaleString("en")} characters of ${most.toLocaleString("en")} at most. Take parts of it, or send it as a document.` });
      return undefined;
    }
    if (this.whole.text) element("output").classList.toggle("stale", this.whole.source !== text);
    return this.live.ask(text, (wanted, signal) => this.#pair(wanted, signal), isNow);
  }

  // Translates anew what is there: the glossary is another one, or its terms have changed.
  again() {
    this.live.forget();
    this.translate(true);
  }

  async #pair(text, signal) {
    const found = await this.languages.pair(text, signal);
    const pair = found && { ...found, glossary: this.glossaries.idFor(found) };
    element("source").lang = this.languages.heard ?? "";
    if (!pair && !signal.aborted) this.#empty(false);
    return pair;
  }

  #empty(isForgotten = true) {
    this.live.cancel();
    if (isForgotten) {
      this.#chosen.clear();
      this.languages.forget();
      this.history.begin();
    }
    this.whole = NOTHING;
    this.sentence.close();
    this.#draw();
    return undefined;
  }

  #fail(error) {
    element("output").classList.remove("stale");
    if (error.wantsKey) askForKey(error.message);
    element("problem-text").textContent = error.message;
    element("problem").hidden = false;
  }

  // --- showing ------------------------------------------------------------------------------------------------------------

  #show(whole, pair, isDone) {
    const opened = this.sentence.isOpen ? this.sentence.number : 0;
    Object.assign(this, { whole: this.#asChosen(whole), pair });
    this.#draw();
    element("output").classList.remove("stale");
    if (!isDone) return;
    this.#announce();
    this.history.note(this.whole, pair);
    const { length } = this.whole.segments;
    if (length === 1) this.sentence.open(this.whole, 0, pair);
    else if (this.sentence.isOpen && opened < length) this.sentence.open(this.whole, opened, pair);
    else this.sentence.close();
  }

  // What was chosen stays chosen while another sentence is being written.
  #asChosen(whole) {
    let found = whole;
    if (this.#chosen.size) {
      whole.segments.forEach((segment, number) => {
        const text = this.#chosen.get(`${segment.source.text}\n${segment.target.text}`);
        if (text) found = replaced(found, number, text);
      });
    }
    return found;
  }

  #draw() {
    const { whole } = this;
    const [output, hadFocus] = [element("output"), element("output").contains(document.activeElement)];
    const number = document.activeElement?.dataset.sentence;
    fillOutput(output, whole, this.pair?.target ?? "");
    if (hadFocus) output.querySelector(`[data-sentence="${number}"]`)?.focus();
    if (whole.source === this.text) fillMirror(element("mirror"), whole);
    drawSummary(element("open-confidence"), whole.segments);
    element("copy").hidden = !whole.text;
    element("hint").hidden = this.sentence.isOpen;
    element("remarks").hidden = !whole.problems.length;
    element("remarks").replaceChildren(...whole.problems.map((problem) => make("li", {}, problem)));
  }

  #announce() {
    const found = summary(this.whole.segments);
    const sure = found ? `; ${meaning(found.mean).short}` : "";
    announce(this.whole.segments.length === 1 ? `${this.whole.text}${sure}` : `Translated: ${plural(this.whole.segments.length, "sentence")}${sure}`);
  }

  #replace(number, text) {
    const segment = this.whole.segments[number];
    this.#chosen.set(`${segment.source.text}\n${segment.best?.text ?? segment.target.text}`, text);
    this.whole = replaced(this.whole, number, text);
    this.#draw();
    this.sentence.open(this.whole, number, this.pair);
    this.history.note(this.whole, this.pair);
  }

  // --- pointing -----------------------------------------------------------------------------------------------------------

  #mark(number, side, range) {
    const segment = this.whole.segments[number];
    const other = side === "source" ? "target" : "source";
    if (!segment || this.whole.source !== this.text) return unmark(this.containers);
    mark(this.containers, number, { [side]: new Set([range]), [other]: linkedWith(segment, side, range) });
    for (const button of element("gloss").children) {
      const { classList, dataset } = button.firstChild;
      const isIn = side === "target" ? dataset.range === range : linkedWith(segment, "source", range).has(dataset.range);
      classList.toggle("linked", this.sentence.number === number && isIn);
    }
    return undefined;
  }

  #unmark() {
    unmark(this.containers);
    for (const button of element("gloss").querySelectorAll(".linked")) button.classList.remove("linked");
  }

  #listen() {
    const [source, output] = [element("source"), element("output")];
    output.dataset.placeholder = "Translation";
    source.addEventListener("input", () => { this.#typed(); if (kept("live", true) || !this.text.trim()) this.translate(); });
    source.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); this.translate(true); } });
    source.addEventListener("mousemove", (event) => this.#point("source", wordAt(element("mirror"), event.clientX, event.clientY)));
    source.addEventListener("mouseleave", () => this.#unmark());
    // The word at the caret, for who writes without a mouse.
    document.addEventListener("selectionchange", () => {
      if (document.activeElement !== source || source.selectionStart !== source.selectionEnd) return;
      this.#point("source", wordAtPlace(element("mirror"), this.whole.segments, source.selectionStart));
    });
    source.addEventListener("blur", () => this.#unmark());
    output.addEventListener("mouseover", (event) => this.#point("target", event.target.closest(".word")));
    output.addEventListener("mouseleave", () => this.#unmark());
    output.addEventListener("click", (event) => this.#open(event.target.closest(".said")));
    output.addEventListener("keydown", (event) => this.#walk(event));
    element("clear").addEventListener("click", () => this.clear());
    element("copy").addEventListener("click", () => this.copy());
    element("again").addEventListener("click", () => this.translate(true));
    element("open-confidence").addEventListener("click", () => openConfidence(this.pair.model));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.sentence.isOpen && !document.querySelector("dialog[open]")) this.sentence.close(element("sentence").contains(document.activeElement));
    });
  }

  #point(side, word) {
    if (!word) return this.#unmark();
    return this.#mark(Number(word.dataset.sentence), side, word.dataset.range);
  }

  #open(said) {
    if (!said || !getSelection().isCollapsed) return; // a selection is for copying
    for (const other of element("output").querySelectorAll(".said")) other.tabIndex = other === said ? 0 : -1;
    this.sentence.open(this.whole, Number(said.dataset.sentence), this.pair);
  }

  // Left and right from sentence to sentence, Enter opens one.
  #walk(event) {
    const said = event.target.closest(".said");
    const sentences = [...element("output").querySelectorAll(".said")];
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (!said) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#open(said);
      element("choice-list").querySelector("input:checked")?.focus();
    } else if (step) {
      event.preventDefault();
      const next = sentences[Math.max(0, Math.min(sentences.length - 1, sentences.indexOf(said) + step))];
      for (const other of sentences) other.tabIndex = other === next ? 0 : -1;
      next.focus();
    }
  }

  // --- what buttons and shortcuts do ----------------------------------------------------------------------------------------

  clear() {
    this.set("");
    element("source").focus();
    announce("Cleared.");
  }

  copy() {
    if (this.whole.text) copyText(this.whole.text, element("copy"));
  }

  swap() {
    const { text } = this.whole;
    if (!this.languages.swap()) return announce("These languages cannot be swapped.");
    this.history.begin();
    announce(`${this.languages.name(this.languages.source)} to ${this.languages.name(this.languages.target)}.`);
    return this.set(text || this.text);
  }
}
