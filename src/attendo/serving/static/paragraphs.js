// A text as paragraphs, which are translated apart, so that what did not change need not be asked for again.

const MOST_KEPT = 400;

// Between paragraphs stands a blank line at least; [paragraph, what is between, paragraph, ...], joined the text again.
export const paragraphsOf = (text) => text.split(/(\s*\n[^\S\n]*\n\s*)/);

// The server counts characters, a string of JavaScript UTF-16 units: an emoji is one there and two here.
export function unitsOf(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (place) => place;
  const units = [0];
  for (const character of text) units.push(units.at(-1) + character.length);
  return (place) => units[Math.min(place, units.length - 1)];
}

export const charactersOf = (text) => {
  let count = 0;
  for (const character of text) count += character ? 1 : 0;
  return count;
};

// What the server says of one paragraph, in units of this page.
export function toUnits(source, target, segment) {
  const [from, to] = [unitsOf(source), unitsOf(target)];
  return {
    ...segment,
    source: { ...segment.source, start: from(segment.source.start), end: from(segment.source.end) },
    target: { ...segment.target, start: to(segment.target.start), end: to(segment.target.end) },
    alignment: (segment.alignment ?? []).map((link) => ({ source: link.source.map(from), target: link.target.map(to) })),
  };
}

function moved(segment, source, target) {
  const span = (one, by) => ({ ...one, start: one.start + by, end: one.end + by });
  const range = ([start, end], by) => [start + by, end + by];
  return {
    ...segment,
    source: span(segment.source, source),
    target: span(segment.target, target),
    alignment: segment.alignment.map((link) => ({ source: range(link.source, source), target: range(link.target, target) })),
  };
}

// Paragraphs' translations as one; those that are not there yet are left out, and what is between stays.
export function joined(parts, translations) {
  const whole = { source: parts.join(""), text: "", segments: [], problems: [] };
  let at = 0;
  parts.forEach((part, place) => {
    const found = place % 2 ? null : translations.get(part);
    if (found) {
      whole.segments.push(...found.segments.map((segment) => moved(segment, at, whole.text.length)));
      whole.problems.push(...found.problems);
    }
    whole.text += found ? found.text : place % 2 || !part.trim() ? part : "";
    at += part.length;
  });
  whole.problems = [...new Set(whole.problems)];
  return whole;
}

// A translation with another text for one of its segments. How sure that one is, and which word is which, nobody knows;
// of the first one both are kept in `best`, for when the person comes back to it.
export function replaced(whole, number, text) {
  const segment = whole.segments[number];
  const { start, end } = segment.target;
  const by = text.length - (end - start);
  const best = segment.best ?? { text: segment.target.text, confidence: segment.confidence, alignment: segment.alignment };
  const known = text === best.text ? { confidence: best.confidence, alignment: best.alignment } : { confidence: null, alignment: [] };
  const chosen = { ...segment, ...known, best, target: { start, end: end + by, text } };
  const later = (links) => links.map((link) => ({ ...link, target: link.target.map((place) => place + by) }));
  const segments = whole.segments.map((each, place) => {
    if (place === number) return chosen;
    if (each.target.start < end) return each;
    return {
      ...each, alignment: later(each.alignment), best: each.best && { ...each.best, alignment: later(each.best.alignment) },
      target: { ...each.target, start: each.target.start + by, end: each.target.end + by },
    };
  });
  return { ...whole, text: whole.text.slice(0, start) + text + whole.text.slice(end), segments };
}

// The translations of paragraphs asked for last.
export class KeptParagraphs {
  #found = new Map();

  get(settings, paragraph) {
    return this.#found.get(`${settings}\n${paragraph}`);
  }

  set(settings, paragraph, translation) {
    const key = `${settings}\n${paragraph}`;
    this.#found.delete(key);
    this.#found.set(key, translation);
    if (this.#found.size > MOST_KEPT) this.#found.delete(this.#found.keys().next().value);
  }
}
