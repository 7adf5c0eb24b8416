// From a text to its translation: one request at a time, the newest; what it replaces is cancelled.

import { ApiError, events, isAbort, json } from "./api.js";
import { charactersOf, joined, KeptParagraphs, paragraphsOf, toUnits } from "./paragraphs.js";

const STREAM_FROM = 400; // characters from which sentences are shown as they come
const WAIT_MS = 220; // after the last key, before the server is asked
const PARTS_MS = 120; // between two looks at what is there of a long text
const WORKING_MS = 250; // before the page says that it is at work: most answers are quicker

export class Live {
  #found = new KeptParagraphs();
  #abort = null;
  #timer = 0;

  // show: { partial(whole), done(whole), failed(error), working(isAtWork), waiting(error) }
  constructor(show, limits) {
    Object.assign(this, { show, limits });
  }

  cancel() {
    clearTimeout(this.#timer);
    this.#abort?.abort();
    this.#abort = null;
    this.show.working(false);
  }

  // Drops the translations of paragraphs that are kept.
  forget() {
    this.#found = new KeptParagraphs();
  }

  // pair(text, signal): a promise of { source, target, model }, or of null where nothing can be asked.
  ask(text, pair, isNow) {
    this.cancel();
    if (!text.trim()) return;
    this.#timer = setTimeout(() => this.#run(text, pair), isNow ? 0 : WAIT_MS);
  }

  async #run(text, pairOf) {
    const abort = new AbortController();
    this.#abort = abort;
    const timer = setTimeout(() => this.show.working(true), WORKING_MS);
    try {
      const pair = await pairOf(text, abort.signal);
      if (pair && this.#abort === abort) await this.#translate(text, pair, abort.signal);
    } catch (error) {
      if (!isAbort(error) && this.#abort === abort) this.show.failed(error);
    } finally {
      clearTimeout(timer);
      if (this.#abort === abort) {
        this.#abort = null;
        this.show.working(false);
      }
    }
  }

  async #translate(text, pair, signal) {
    const parts = paragraphsOf(text);
    const settings = JSON.stringify(pair);
    const translations = new Map();
    const wanted = [];
    for (const part of new Set(parts.filter((part, place) => place % 2 === 0 && part.trim()))) {
      const found = this.#found.get(settings, part);
      if (found) translations.set(part, found);
      else wanted.push(part);
    }
    const show = (name) => { if (!signal.aborted) this.show[name](joined(parts, translations), pair); };
    let shown = 0;
    const showPart = () => {
      if (performance.now() - shown < PARTS_MS) return;
      show("partial");
      shown = performance.now();
    };
    for (const group of this.#groups(wanted)) {
      await this.#group(group, pair, signal, (part, translation, isWhole) => {
        translations.set(part, translation);
        if (isWhole) this.#found.set(settings, part, translation);
        else showPart();
      });
      if (group !== wanted) showPart();
    }
    show("done");
  }

  // No more texts in a request than the server takes.
  * #groups(wanted) {
    const size = Math.max(1, this.limits.max_items ?? 100);
    if (wanted.length <= size) {
      if (wanted.length) yield wanted;
      return;
    }
    for (let start = 0; start < wanted.length; start += size) yield wanted.slice(start, start + size);
  }

  async #group(paragraphs, pair, signal, found) {
    const body = { text: paragraphs, ...pair, alignment: true };
    const options = { body, signal, onWait: (error) => this.show.waiting(error) };
    const whole = (answer) => answer.translations.forEach((translation, place) => found(paragraphs[place], {
      text: translation.text,
      segments: translation.segments.map((segment) => toUnits(paragraphs[place], translation.text, segment)),
      problems: translation.problems ?? [],
    }, true));
    if (charactersOf(paragraphs.join("")) < STREAM_FROM) return whole(await json("api/translate", options));
    const begun = paragraphs.map(() => []);
    for await (const { name, data } of events("api/translate", { ...options, body: { ...body, stream: true } })) {
      if (name === "error") throw new ApiError(503, data.error?.code ?? "", data.error?.message ?? "The server stopped half-way.");
      if (name === "done") return whole(data);
      if (name !== "segment") continue;
      begun[data.text ?? 0].push(data.segment);
      found(paragraphs[data.text ?? 0], partly(paragraphs[data.text ?? 0], begun[data.text ?? 0]), false);
    }
    throw new ApiError(503, "", "The server stopped half-way.");
  }
}

// A paragraph of which only the first segments are there: between them stands what will stand between them.
function partly(paragraph, segments) {
  const characters = [...paragraph];
  let text = [];
  const placed = segments.map((segment, place) => {
    const before = place ? segments[place - 1].source.end : 0;
    const gap = segment.target.start - text.length;
    const between = characters.slice(Math.max(before, segment.source.start - gap), segment.source.start);
    text = text.concat(between.length === gap ? between : Array(Math.max(0, gap)).fill(" "), [...segment.target.text]);
    return segment;
  });
  const whole = text.join("");
  return { text: whole, segments: placed.map((segment) => toUnits(paragraph, whole, segment)), problems: [] };
}
