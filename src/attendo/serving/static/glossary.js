// The caller's glossaries: chosen for translating, and edited row by row.

import { ApiError, json, send } from "./api.js";
import { announce, element, iconButton, make, plural } from "./dom.js";
import { keep, kept } from "./kept.js";
import { askForKey } from "./settings.js";

const FIELDS = ["source", "target", "forms", "forbidden"];
const LABELS = { source: "Term", target: "Translation", forms: "Other forms", forbidden: "Not to be used" };
const LISTS = ["forms", "forbidden"];
const ROWS_AT_ONCE = 500;

const listed = (text) => text.split("|").map((part) => part.trim()).filter(Boolean);

export class Glossaries {
  #all = [];
  #open = null; // the one that is edited; null for a new one
  #rows = []; // terms with the fields that the table does not show

  // changed(): the texts on the page are to be translated again.
  constructor(languages, changed) {
    Object.assign(this, { languages, changed });
    element("glossary").addEventListener("change", ({ target }) => { keep("glossary", target.value); this.changed(); });
    element("glossary-edit").addEventListener("change", ({ target }) => this.#try(() => this.#show(target.value)));
    element("term-add").addEventListener("click", () => this.#add({}, true));
    element("glossary-save").addEventListener("click", () => this.#try(() => this.#save()));
    element("glossary-delete").addEventListener("click", () => this.#try(() => this.#delete()));
    element("glossary-file").addEventListener("change", ({ target }) => { this.#try(() => this.#read(target.files[0])); target.value = ""; });
    this.#put(null);
  }

  // What is being written meanwhile stays, unless the glossary that it belongs to is not there any more.
  async load() {
    try {
      this.#all = (await json("api/glossaries")).glossaries;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error; // a key is missing perhaps: there are none until there is one
      this.#all = [];
    }
    const gone = this.#open && !this.#all.some((one) => one.id === this.#open.id);
    if (gone) this.#put(null);
    this.#draw();
  }

  // The id of the glossary that a text of these languages is translated with.
  idFor(pair) {
    const chosen = this.#all.find((one) => one.id === kept("glossary", ""));
    return chosen && chosen.source === pair.source && chosen.target === pair.target ? chosen.id : undefined;
  }

  #draw() {
    const chosen = this.#all.some((one) => one.id === kept("glossary", "")) ? kept("glossary", "") : "";
    const options = (first, selected) => [make("option", { value: "" }, first), ...this.#all.map((one) => make("option", { value: one.id, selected: one.id === selected }, `${one.name} (${one.source} → ${one.target})`))];
    element("glossary").replaceChildren(...options("none", chosen));
    element("glossary-edit").replaceChildren(...options("a new one", this.#open?.id));
    element("glossary-field").hidden = !this.#all.length;
  }

  async #show(id) {
    try {
      this.#put(id ? await json(`api/glossaries/${encodeURIComponent(id)}`) : null);
    } catch (error) {
      this.#draw(); // the choice is again that of the glossary whose terms are still there
      throw error;
    }
  }

  #put(glossary) {
    this.#open = glossary;
    element("glossary-name").value = glossary?.name ?? "";
    element("glossary-delete").hidden = !glossary;
    element("glossary-languages").textContent = glossary ? `${this.languages.name(glossary.source)} to ${this.languages.name(glossary.target)}` : "of the languages chosen above";
    this.#fill(glossary?.terms ?? [{}]);
  }

  #fill(terms) {
    this.#rows = [];
    element("terms").replaceChildren();
    for (const term of terms.slice(0, ROWS_AT_ONCE)) this.#add(term, false);
    const more = terms.slice(ROWS_AT_ONCE);
    this.#rows.push(...more.map((term) => ({ term, fields: null })));
    element("terms-more").textContent = more.length ? `${plural(more.length, "more term")}, not shown, stay as they are.` : "";
  }

  #add(term, isNew) {
    const fields = Object.fromEntries(FIELDS.map((name) => [name, make("input", {
      type: "text", maxLength: 200, autocomplete: "off", dir: "auto", aria: { label: LABELS[name] },
      value: LISTS.includes(name) ? (term[name] ?? []).join(" | ") : term[name] ?? "",
    })]));
    const row = { term, fields };
    const line = make("tr", {}, ...FIELDS.map((name) => make("td", {}, fields[name])));
    line.append(make("td", {}, iconButton("clear", "Remove the term", () => {
      this.#rows = this.#rows.filter((other) => other !== row);
      line.remove();
      element("term-add").focus();
    })));
    this.#rows.push(row);
    element("terms").append(line);
    if (isNew) fields.source.focus();
  }

  #terms() {
    const terms = this.#rows.map(({ term, fields }) => (fields ? {
      ...term, source: fields.source.value.trim(), target: fields.target.value.trim(),
      forms: listed(fields.forms.value), forbidden: listed(fields.forbidden.value),
    } : term));
    return terms.filter((term) => term.source || term.target);
  }

  #pair() {
    if (this.#open) return { source: this.#open.source, target: this.#open.target };
    const source = this.languages.source === "auto" ? this.languages.sources().find((code) => this.languages.targets(code).includes(this.languages.target)) : this.languages.source;
    return { source, target: this.languages.target };
  }

  async #save() {
    const name = element("glossary-name").value.trim() || "Glossary";
    const body = { name, ...this.#pair(), terms: this.#terms() };
    const path = this.#open ? `api/glossaries/${encodeURIComponent(this.#open.id)}` : "api/glossaries";
    const saved = await json(path, { method: this.#open ? "PUT" : "POST", body });
    if (!this.#open) keep("glossary", saved.id); // who makes one wants it used
    this.#open = saved;
    await this.load();
    await this.#show(saved.id);
    this.#say(`Saved: ${plural(saved.entries, "term")}.`);
    this.changed();
  }

  async #delete() {
    await send(`api/glossaries/${encodeURIComponent(this.#open.id)}`, { method: "DELETE" });
    this.#put(null);
    await this.load();
    this.#say("Deleted.");
    this.changed();
  }

  async #read(file) {
    const ending = /\.[^.]+$/.exec(file.name)?.[0] ?? "";
    const found = await json("api/glossaries/read", { body: { content: await file.text(), ending, ...this.#pair() } });
    const terms = this.#terms();
    const known = new Set(terms.map((term) => term.source));
    this.#fill([...terms, ...found.terms.filter((term) => !known.has(term.source))]);
    if (!element("glossary-name").value) element("glossary-name").value = file.name.replace(/\.[^.]+$/, "");
    this.#say([`${plural(found.terms.length, "term")} read, not saved yet.`, ...found.notes].join(" "));
  }

  #say(text) {
    element("glossary-state").textContent = text;
    element("glossary-state").classList.remove("bad");
    announce(text);
  }

  // One thing at a time: meanwhile nothing can be written that its answer would overwrite.
  async #try(work) {
    const [card, focused] = [element("glossary-card"), document.activeElement];
    element("glossary-state").textContent = "";
    card.inert = true;
    try {
      await work();
    } catch (error) {
      if (error.wantsKey) askForKey(error.message);
      element("glossary-state").textContent = error.message;
      element("glossary-state").classList.add("bad");
      announce(error.message);
    }
    card.inert = false;
    if (document.activeElement === document.body) focused.focus();
  }
}
