// What this browser keeps for the person: choices, history, a key. Nothing of it is sent anywhere but the key, to this server.

const PREFIX = "attendo.";
const unkept = new Map(); // where the browser keeps nothing, as long as the page is open

export function kept(name, otherwise) {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? unkept.get(name) ?? otherwise : JSON.parse(text);
  } catch {
    return unkept.get(name) ?? otherwise;
  }
}

export function keep(name, value) {
  unkept.set(name, value);
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
    return true;
  } catch { // full, or forbidden
    return false;
  }
}

// A plain word and no JSON, since theme.js reads it before modules are there.
export function keptTheme() {
  return document.documentElement.dataset.theme ?? "";
}

export function keepTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  try {
    if (theme) localStorage.setItem(`${PREFIX}theme`, theme);
    else localStorage.removeItem(`${PREFIX}theme`);
  } catch { /* until the page is closed, then */ }
}
