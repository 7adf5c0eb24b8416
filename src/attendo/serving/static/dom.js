// What every module of the page builds with.

export const element = (id) => document.getElementById(id);

// Text goes in as text nodes only: a sentence may well be "<script>".
export function make(tag, properties = {}, ...children) {
  const { data, aria, ...rest } = properties;
  const made = Object.assign(document.createElement(tag), rest);
  Object.assign(made.dataset, data);
  for (const [name, value] of Object.entries(aria ?? {})) made.setAttribute(`aria-${name}`, value);
  made.append(...children);
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

export function makeSvg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function icon(name) {
  return makeSvg("svg", { "aria-hidden": "true" }, makeSvg("use", { href: `#i-${name}` }));
}

export function iconButton(name, label, listener) {
  const button = make("button", { type: "button", className: "icon", title: label, aria: { label } }, icon(name));
  button.addEventListener("click", listener);
  return button;
}

// A screen reader hears the last thing said; the same words twice are said twice.
let timer = 0;
export function announce(text) {
  clearTimeout(timer);
  element("status").textContent = "";
  timer = setTimeout(() => { element("status").textContent = text; }, 60);
}

export const plural = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
export const percent = (share) => `${Math.round(100 * share)}\u00a0%`; // never at the end of a line without its sign

// A second copy button may be pressed before the first has gone back to its icon.
const shown = new WeakMap();
export async function copyText(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // no permission, or no https: the old way
    const field = make("textarea", { value: text, className: "visually-hidden" });
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
    button.focus();
  }
  announce("Copied.");
  clearTimeout(shown.get(button));
  button.querySelector("use").setAttribute("href", "#i-done");
  shown.set(button, setTimeout(() => button.querySelector("use").setAttribute("href", "#i-copy"), 1500));
}

export function saveFile(name, content, type) {
  const link = make("a", { href: URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
