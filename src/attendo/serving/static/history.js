// What was translated, kept in this browser alone, until the person deletes it.

import { announce, element, iconButton, make } from "./dom.js";
import { keep, kept } from "./kept.js";

const MOST = 100;
const LONGEST = 5000; // characters of a side: a browser keeps some 5 MB in all
const SETTLED_MS = 2000;

export class History {
  #timer = 0;
  #current = null; // the entry that further typing changes

  constructor(restore, name) {
    Object.assign(this, { restore, name });
    element("open-history").addEventListener("click", () => this.open());
    element("history-delete").addEventListener("click", () => this.#deleteAll());
  }

  get entries() {
    const found = kept("history", []);
    return Array.isArray(found) ? found : [];
  }

  // A translation that stood for two seconds is one that the person has read.
  note(whole, pair) {
    clearTimeout(this.#timer);
    if (!kept("keep-history", true) || !whole.text.trim()) return;
    this.#timer = setTimeout(() => this.#add(whole, pair), SETTLED_MS);
  }

  // What is typed next is another text.
  begin() {
    this.#current = null;
    clearTimeout(this.#timer);
  }

  #add(whole, pair) {
    const entry = {
      id: this.#current ?? crypto.randomUUID?.() ?? String(Math.random()), time: Date.now(), source: pair.source, target: pair.target,
      text: whole.source.slice(0, LONGEST), translation: whole.text.slice(0, LONGEST),
    };
    this.#current = entry.id;
    const others = this.entries.filter((other) => other.id !== entry.id && (other.text !== entry.text || other.target !== entry.target));
    let entries = [entry, ...others].slice(0, MOST);
    while (!keep("history", entries) && entries.length > 1) entries = entries.slice(0, entries.length >> 1); // full: the oldest go
  }

  open() {
    this.#draw();
    element("history").showModal();
  }

  #draw() {
    const entries = this.entries;
    element("history-empty").hidden = entries.length > 0;
    element("history-empty").textContent = kept("keep-history", true) ? "Nothing yet." : "Nothing is kept: see Settings.";
    element("history-delete").hidden = !entries.length;
    element("history-list").replaceChildren(...entries.map((entry) => this.#item(entry)));
  }

  #item(entry) {
    const when = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" }).format(entry.time);
    const open = make("button", { type: "button", className: "entry" },
      make("span", { lang: entry.source, dir: "auto" }, entry.text), make("span", { className: "made", lang: entry.target, dir: "auto" }, entry.translation),
      make("span", { className: "when" }, `${this.name(entry.source)} to ${this.name(entry.target)}, ${when}`));
    open.addEventListener("click", () => {
      element("history").close();
      this.begin();
      this.restore(entry);
    });
    return make("li", {}, open, iconButton("clear", `Delete: ${entry.text.slice(0, 40)}`, (event) => this.#delete(entry, event.currentTarget)));
  }

  #delete(entry, button) {
    const next = button.closest("li").nextElementSibling ?? button.closest("li").previousElementSibling;
    const place = next && [...element("history-list").children].indexOf(next) - (next === button.closest("li").nextElementSibling ? 1 : 0);
    keep("history", this.entries.filter((other) => other.id !== entry.id));
    if (this.#current === entry.id) this.begin();
    this.#draw();
    announce("Deleted.");
    (element("history-list").children[place]?.querySelector(".icon") ?? element("history").querySelector(".icon")).focus();
  }

  #deleteAll() {
    keep("history", []);
    this.begin();
    this.#draw();
    announce("The history is empty.");
    element("history").querySelector(".icon").focus();
  }
}
