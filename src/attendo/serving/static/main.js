// The page: reads what the server serves, and puts the parts together.

import { ApiError, json } from "./api.js";
import { Documents } from "./documents.js";
import { element } from "./dom.js";
import { Glossaries } from "./glossary.js";
import { History } from "./history.js";
import { Languages } from "./languages.js";
import { Parser } from "./parser.js";
import { askForKey, listenToSettings, listenToShortcuts, toggleTheme } from "./settings.js";
import { Text } from "./text.js";

const VIEWS = ["text", "documents", "glossary", "parse"];
let views = {};

function show() {
  const asked = location.hash.slice(1);
  const chosen = views[asked] ? asked : Object.keys(views)[0];
  for (const view of VIEWS) {
    element(`view-${view}`).hidden = view !== chosen;
    const link = document.querySelector(`[data-view="${view}"]`);
    link.hidden = !views[view];
    if (view === chosen) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  element("languages").hidden = chosen === "parse";
  document.title = { text: "Translate · attendo", documents: "Documents · attendo", glossary: "Glossary · attendo", parse: "Sentence trees · attendo" }[chosen] ?? "attendo";
}

function build(settings) {
  const limits = settings.limits ?? {};
  let text = null;
  views = {};
  if (settings.pairs.length) {
    const languages = new Languages(settings, () => text?.translate(true));
    const history = new History((entry) => {
      location.hash = "text";
      languages.choose({ source: entry.source, target: entry.target });
      text.set(entry.text);
    }, (code) => languages.name(code));
    const glossaries = new Glossaries(languages, () => text?.again());
    text = new Text({ languages, history, limits, glossaries, keepsCorrections: Boolean(settings.corrections) });
    views.text = text;
    if (settings.documents) views.documents = new Documents(settings, languages, glossaries);
    views.glossary = glossaries;
    glossaries.load();
    element("swap").addEventListener("click", () => text.swap());
    listenToShortcuts([
      { code: "KeyS", what: "swap the languages", does: () => text.swap() },
      { code: "KeyC", what: "copy the translation", does: () => text.copy() },
      { code: "KeyX", what: "clear the text", does: () => text.clear() },
      { code: "KeyF", what: "go to the text", does: () => { location.hash = "text"; element("source").focus(); } },
      { code: "KeyT", what: "go to the translation", does: () => element("output").querySelector('.said[tabindex="0"]')?.focus() },
      { code: "KeyH", what: "history", does: () => history.open() },
      { code: "KeyD", what: "dark colours", does: toggleTheme },
      { code: "KeyK", what: "keyboard shortcuts", does: () => element("keys").showModal() },
    ]);
  } else {
    for (const id of ["open-history", "open-keys"]) element(id).hidden = true;
  }
  if (settings.parsers?.length) views.parse = new Parser(settings);
  element("server").textContent = settings.version ? `attendo ${settings.version}` : "attendo";
  show();
  if (location.hash.slice(1) === "" && text) element("source").focus();
  return text;
}

async function start() {
  let text = null;
  listenToSettings({ keyChanged: () => { views.glossary?.load(); text?.translate(true); } });
  window.addEventListener("hashchange", show);
  try {
    const settings = await json("api/settings");
    text = build(settings);
    if (!Object.keys(views).length) throw new ApiError(0, "", "This server has no model to work with yet.");
  } catch (error) {
    if (error.wantsKey) askForKey(error.message);
    element("page-problem").textContent = error instanceof ApiError ? error.message : `This browser cannot show the page (${error.message}). One of 2023 or later can.`;
    element("page-problem").hidden = false;
    element("view-text").hidden = true;
  }
}

start();
