// Colours, typing, history, the key; dialogs and shortcuts.

import { element, make } from "./dom.js";
import { keep, keepTheme, kept, keptTheme } from "./kept.js";

const isDark = () => (keptTheme() || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

function drawTheme() {
  element("theme").value = keptTheme();
  element("toggle-theme").setAttribute("aria-pressed", isDark());
}

export function toggleTheme() {
  keepTheme(isDark() ? "light" : "dark");
  drawTheme();
}

export function listenToSettings({ keyChanged }) {
  drawTheme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawTheme);
  element("toggle-theme").addEventListener("click", toggleTheme);
  element("theme").addEventListener("change", ({ target }) => { keepTheme(target.value); drawTheme(); });
  for (const [id, name] of [["live", "live"], ["keep-history", "keep-history"]]) {
    element(id).checked = kept(name, true);
    element(id).addEventListener("change", ({ target }) => keep(name, target.checked));
  }
  element("key").value = kept("key", "");
  element("key").addEventListener("change", ({ target }) => { keep("key", target.value.trim()); keyChanged(); });
  element("open-settings").addEventListener("click", () => element("settings").showModal());
  element("open-keys").addEventListener("click", () => element("keys").showModal());
  // A click beside a dialog closes it, as people expect.
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("mousedown", (event) => {
      const box = dialog.getBoundingClientRect();
      const isInside = event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom;
      if (event.target === dialog && !isInside) dialog.close();
    });
  }
}

export function askForKey(message) {
  element("key-hint").textContent = `${message} It is kept in this browser and sent to this server alone.`;
  if (!element("settings").open) element("settings").showModal();
  element("key").focus();
}

// Letters with Alt and Shift, by their place on the keyboard: what they type differs from system to system.
export function listenToShortcuts(shortcuts) {
  document.addEventListener("keydown", (event) => {
    if (!event.altKey || !event.shiftKey || event.ctrlKey || event.metaKey || document.querySelector("dialog[open]")) return;
    const found = shortcuts.find(({ code }) => code === event.code);
    if (!found) return;
    event.preventDefault();
    found.does();
  });
  const rows = [["Ctrl+Enter", "translate now"], ...shortcuts.map(({ code, what }) => [`Alt+Shift+${code.replace("Key", "").replace("Digit", "")}`, what]),
    ["← →", "from sentence to sentence, in the translation"], ["Enter", "other translations of the sentence"], ["Escape", "closes what is open"]];
  element("keys-list").replaceChildren(...rows.map(([keys, what]) => make("tr", {}, make("td", {}, ...keys.split("+").flatMap((key, place) => [...(place ? ["+"] : []), make("kbd", {}, key)])), make("td", {}, what))));
}
