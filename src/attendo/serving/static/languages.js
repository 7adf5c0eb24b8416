// Which languages, and which model: the pickers, detection, swapping.

import { json } from "./api.js";
import { announce, element, make } from "./dom.js";
import { keep, kept } from "./kept.js";

const DETECTED_CHARACTERS = 2000;
const SURE = 0.8; // from which a language that is not served is believed
const ENOUGH = 16; // characters of which a language is told against what the person has chosen

export class Languages {
  #detected = { text: "", found: [] };

  constructor(settings, changed) {
    Object.assign(this, { settings, changed, pairs: settings.pairs });
    this.names = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });
    this.source = kept("source", settings.detect ? "auto" : this.pairs[0].source);
    if (this.source === "auto" ? !settings.detect : !this.sources().includes(this.source)) this.source = settings.detect ? "auto" : this.pairs[0].source;
    this.target = kept("target", this.pairs[0].target);
    if (!this.targets().includes(this.target)) [this.target] = this.targets();
    element("source-language").addEventListener("change", ({ target }) => this.choose({ source: target.value }));
    element("target-language").addEventListener("change", ({ target }) => this.choose({ target: target.value }));
    element("model").addEventListener("change", ({ target }) => { keep("model", target.value); this.changed(); });
    element("languages").hidden = false;
    this.draw();
  }

  name(code) {
    return this.settings.languages?.[code] ?? this.names.of(code) ?? code;
  }

  sources() {
    return [...new Set(this.pairs.map((pair) => pair.source))];
  }

  targets(source = this.source) {
    return [...new Set(this.pairs.filter((pair) => source === "auto" || pair.source === source).map((pair) => pair.target))];
  }

  // What the source is, as far as is known.
  get heard() {
    return this.source === "auto" ? this.#detected.found[0]?.language ?? null : this.source;
  }

  choose({ source = this.source, target = this.target }) {
    const before = this.heard;
    // The same on both sides: what was the source becomes the target, as people mean it.
    if (source === target && before && before !== source) target = before;
    Object.assign(this, { source, target });
    if (!this.targets().includes(this.target)) [this.target] = this.targets();
    keep("source", this.source);
    keep("target", this.target);
    this.draw();
    this.changed();
  }

  canSwap() {
    return Boolean(this.heard) && this.pairs.some((pair) => pair.source === this.target && pair.target === this.heard);
  }

  swap() {
    const heard = this.heard;
    if (!this.canSwap()) return false;
    [this.source, this.target] = [this.target, heard];
    keep("source", this.source);
    keep("target", this.target);
    this.draw();
    return true;
  }

  draw() {
    const options = (codes, chosen) => codes.map((code) => make("option", { value: code, selected: code === chosen }, this.name(code)));
    const auto = this.settings.detect ? [make("option", { value: "auto", selected: this.source === "auto" }, "Auto-detect")] : [];
    element("source-language").replaceChildren(...auto, ...options(this.sources(), this.source));
    element("target-language").replaceChildren(...options(this.targets(), this.target));
    this.drawModels();
    this.drawSwap();
  }

  drawSwap() {
    element("swap").setAttribute("aria-disabled", !this.canSwap());
  }

  #models() {
    return this.pairs.filter((pair) => pair.source === this.heard && pair.target === this.target).map((pair) => pair.model);
  }

  drawModels() {
    const models = this.#models();
    const chosen = models.includes(kept("model", "")) ? kept("model", "") : models[0];
    element("model-field").hidden = models.length < 2;
    element("model").replaceChildren(...models.map((model) => make("option", { value: model, selected: model === chosen }, model)));
  }

  // { source, target, model } to ask for; null where nothing served can translate the text, which is then said.
  async pair(text, signal, onWait) {
    if (this.source !== "auto") {
      this.#suggest(text, signal);
      return this.#chosen();
    }
    await this.#detect(text, signal, onWait);
    const found = this.#detected.found;
    const served = found.find((one) => this.sources().includes(one.language));
    if (!served || (served !== found[0] && found[0].confidence >= SURE)) {
      const known = found[0] && found[0].confidence >= SURE;
      this.#say(known ? `This looks like ${this.name(found[0].language)}, which is not served here.` : "Which language is this? Please choose it.");
      return null;
    }
    this.#detected.found = [served, ...found.filter((one) => one !== served)];
    if (!this.targets(served.language).includes(this.target)) {
      [this.target] = this.targets(served.language);
      element("target-language").value = this.target;
      announce(`Translating to ${this.name(this.target)}.`);
    }
    this.#say(`Detected: ${this.name(served.language)}`);
    this.drawModels();
    this.drawSwap();
    return this.#chosen();
  }

  #chosen() {
    const models = this.#models();
    if (!models.length) {
      this.#say(`${this.name(this.heard)} to ${this.name(this.target)} is not served here.`);
      return null;
    }
    return { source: this.heard, target: this.target, model: element("model").value || models[0] };
  }

  async #detect(text, signal, onWait) {
    const start = text.trim().slice(0, DETECTED_CHARACTERS);
    if (start === this.#detected.text) return;
    const { detected } = await json("api/detect", { body: { text: start }, signal, onWait });
    this.#detected = { text: start, found: detected };
  }

  // In passing: a text that is plainly not of the chosen language.
  async #suggest(text, signal) {
    const button = element("use-detected");
    if (!this.settings.detect || text.trim().length < ENOUGH) {
      this.#say("");
      return;
    }
    try {
      await this.#detect(text, signal);
    } catch { // the translation itself will say what is wrong
      return;
    }
    if (signal.aborted) return;
    const [best] = this.#detected.found;
    const differs = best && best.language !== this.source && best.confidence >= SURE && this.sources().includes(best.language);
    this.#say(differs ? `This looks like ${this.name(best.language)}.` : "");
    button.hidden = !differs;
    if (!differs) return;
    button.textContent = `Translate from ${this.name(best.language)}`;
    button.onclick = () => this.choose({ source: best.language });
  }

  #say(text) {
    element("detected").textContent = text;
    element("use-detected").hidden = true;
  }

  forget() {
    this.#detected = { text: "", found: [] };
    this.#say("");
    this.drawSwap();
  }
}
