// The controls, and what changes what is shown.

const KINDS = { encoder: "Encoder", decoder: "Decoder", cross: "Encoder-decoder" };
const VIEWS = { lines: "Lines", maps: "Heat map" };
const UNITS = { words: "Words", pieces: "Pieces" };
const MOST_NAMED = 5;

function radios(id, name, choices) {
  element(id).replaceChildren(...Object.entries(choices).map(([value, text]) =>
    make("label", {}, make("input", { type: "radio", name, value }), make("span", {}, text))));
}

function drawControls() {
  const kind = about.kinds[state.kind];
  for (const [name, value] of [["kind", state.kind], ["view", state.view], ["unit", state.unit]]) {
    document.querySelector(`input[name="${name}"][value="${value}"]`).checked = true;
  }
  const layer = element("layer");
  if (layer.length !== kind.layers) {
    layer.replaceChildren(...Array.from({ length: kind.layers }, (_, index) =>
      make("option", { value: index }, `${index + 1} of ${kind.layers}`)));
  }
  layer.value = state.layer;
  const chips = element("chips");
  if (chips.childElementCount !== kind.heads + 1) {
    chips.replaceChildren(...allHeads(state.kind).map((head) => {
      const chip = make("button", { type: "button", className: "chip", data: { head }, aria: { label: `head ${head + 1}` } }, `${head + 1}`);
      chip.style.setProperty("--head", about.colours[head]);
      return chip;
    }), make("button", { type: "button", id: "all" }, "all"));
  }
  for (const chip of chips.querySelectorAll(".chip")) chip.setAttribute("aria-pressed", state.heads.has(Number(chip.dataset.head)));
  element("all").setAttribute("aria-pressed", state.heads.size === kind.heads);
  element("ends").checked = state.ends;
  element("ends-field").hidden = state.view !== "lines";
  element("ends-name").textContent = table().keys[endOf()];
  element("explanation").textContent = kind.explanation;
  element("detail-title").textContent = `${kind.title}, layer ${state.layer + 1}, ${headsText()}`;
}

function drawReadout() {
  const { focus } = state;
  const readout = element("readout");
  if (state.view === "maps") {
    readout.textContent = "A row looks at its columns. Point at a cell for its weight.";
  } else if (!focus) {
    readout.textContent = "Point at a word to see its lines alone; a click keeps it.";
  } else {
    const looks = focus.side === "query";
    const others = strongestOf(looks ? table().keys : table().queries,
      (index) => (looks ? mean(focus.index, index) : mean(index, focus.index)), MOST_NAMED);
    const token = (looks ? table().queries : table().keys)[focus.index];
    readout.replaceChildren(make("b", {}, tokenText(token)), looks ? " looks at " : " is looked at by ", ...listed(others));
    if (state.heads.size > 1) readout.append(` (mean of ${headsText()})`);
  }
}

function strongestOf(tokens, weightOf, count) {
  return tokens.map((token, index) => ({ token, weight: weightOf(index) }))
    .sort((one, other) => other.weight - one.weight).slice(0, count).filter(({ weight }) => weight >= 0.005);
}

function listed(others) {
  if (!others.length) return ["nothing much"];
  return others.flatMap(({ token, weight }, index) => [index ? ", " : "", make("b", {}, tokenText(token)), ` ${number(weight)}`]);
}

function drawTable() {
  if (!element("strongest").open) return;
  const { queries, keys } = table();
  const rows = queries.map((token, row) => make("tr", {}, make("th", { scope: "row" }, tokenText(token)),
    make("td", {}, ...listed(strongestOf(keys, (index) => mean(row, index), 3)))));
  const head = make("tr", {}, ...["word", "looks at most"].map((text) => make("th", { scope: "col" }, text)));
  element("table").replaceChildren(make("table", {}, make("caption", {}, element("detail-title").textContent),
    make("thead", {}, head), make("tbody", {}, ...rows)));
}

function drawView() {
  element("lines").hidden = state.view !== "lines";
  element("map").hidden = state.view !== "maps";
  if (state.view === "lines") drawLinesFrame(); else drawMap();
  drawReadout();
}

function draw() {
  drawControls();
  drawOverview();
  drawView();
  drawTable();
  keepLink();
}

// Only where it changed, as pointing at words does not: browsers refuse a page that writes its address too often.
function keepLink() {
  const link = `#${linkText()}`;
  if (link === location.hash) return;
  try {
    history.replaceState(null, "", link);
  } catch { /* opened where addresses are fixed, as within another page */ }
  element("copied").textContent = "";
  element("link").hidden = true;
}

// --- what changes the state

function show(changes) {
  Object.assign(state, { focus: null, pinned: false }, changes);
  state.layer = Math.min(state.layer, table().layers - 1);
  const there = shownHeads().filter((head) => head < table().heads);
  state.heads = new Set(there.length ? there : allHeads(state.kind));
  draw();
}

function toggleHead(head) {
  const heads = new Set(state.heads);
  if (!heads.delete(head)) heads.add(head);
  show({ heads: heads.size ? heads : new Set([head]), focus: state.focus, pinned: state.pinned }); // no head at all says nothing
}

function focusOn(focus, pinned) {
  Object.assign(state, { focus, pinned });
  drawLines();
  drawReadout();
  keepLink();
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    element("copied").textContent = "Copied.";
  } catch {
    Object.assign(element("link"), { hidden: false, value: location.href });
    element("link").select();
    element("copied").textContent = "This browser does not let a page copy; here it is, selected.";
  }
}

function listenToControls() {
  element("controls").addEventListener("submit", (event) => event.preventDefault());
  element("controls").addEventListener("change", (event) => {
    const { name, value } = event.target;
    if (name === "kind") show({ kind: value, heads: state.heads.size === table().heads ? new Set(allHeads(value)) : state.heads });
    else if (name) show({ [name]: value });
    else if (event.target.id === "ends") show({ ends: event.target.checked, focus: state.focus, pinned: state.pinned });
    else show({ layer: Number(value), focus: state.focus, pinned: state.pinned });
  });
  element("chips").addEventListener("click", ({ target }) => {
    if (target.closest(".chip")) toggleHead(Number(target.closest(".chip").dataset.head));
    else if (target.closest("#all")) show({ heads: new Set(allHeads(state.kind)), focus: state.focus, pinned: state.pinned });
  });
  element("copy").addEventListener("click", copyLink);
  element("theme").addEventListener("change", ({ target }) => {
    document.documentElement.dataset.theme = target.value;
    drawView();
  });
  element("strongest").addEventListener("toggle", drawTable);
}

function listenToOverview() {
  const heads = element("heads");
  heads.addEventListener("keydown", walkOverview);
  heads.addEventListener("click", (event) => {
    const [map, name] = [".map", ".layer-name"].map((selector) => event.target.closest(selector));
    if (name) show({ layer: Number(name.dataset.layer), heads: new Set(allHeads(state.kind)) });
    if (!map) return;
    const [layer, head] = [Number(map.dataset.layer), Number(map.dataset.head)];
    if (event.shiftKey && layer === state.layer) toggleHead(head);
    else show({ layer, heads: new Set([head]) });
  });
}

function listenToLines() {
  const lines = element("lines");
  const focusOf = (word) => ({ side: word.dataset.side, index: Number(word.dataset.index) });
  const over = (event) => {
    const word = event.target.closest(".word");
    if (!word || state.pinned) return;
    const { side, index } = focusOf(word);
    if (state.focus?.side !== side || state.focus.index !== index) focusOn({ side, index }, false);
  };
  const out = () => state.focus && !state.pinned && focusOn(null, false);
  lines.addEventListener("mouseover", over);
  lines.addEventListener("focusin", over);
  lines.addEventListener("mouseleave", out);
  lines.addEventListener("focusout", (event) => lines.contains(event.relatedTarget) || out());
  lines.addEventListener("keydown", walkLines);
  lines.addEventListener("click", (event) => {
    const word = event.target.closest(".word");
    if (!word) return focusOn(null, false);
    const focus = focusOf(word);
    const isAgain = state.pinned && state.focus.side === focus.side && state.focus.index === focus.index;
    return focusOn(focus, !isAgain);
  });
}

function listenToWindow() {
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && state.focus) focusOn(null, false); });
  const map = element("map");
  map.addEventListener("mousemove", pointFromMouse);
  map.addEventListener("click", pointFromMouse);
  map.addEventListener("keydown", walkMap);
  let resizing = 0;
  window.addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(drawView, 150); });
  window.addEventListener("hashchange", () => { readLink(location.hash.slice(1)); draw(); scrollToFocus(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawView);
}

async function start() {
  tables = await readTables();
  radios("kinds", "kind", Object.fromEntries(Object.keys(about.kinds).map((name) => [name, KINDS[name]])));
  radios("views", "view", VIEWS);
  radios("units", "unit", Object.fromEntries(about.units.map((unit) => [unit, UNITS[unit]])));
  element("units-field").hidden = about.units.length === 1;
  for (const shade of document.querySelectorAll("[data-weight]")) shade.style.opacity = Math.sqrt(shade.dataset.weight);
  readLink(about.start);
  state.ends = Math.max(table().queries.length, table().keys.length) <= LONG;
  if (location.hash) readLink(location.hash.slice(1));
  document.documentElement.classList.add("started");
  document.querySelector("main").hidden = false;
  listenToControls();
  listenToOverview();
  listenToLines();
  listenToWindow();
  draw();
  scrollToFocus();
}

start().catch((error) => {
  const problem = element("problem");
  problem.textContent = `This browser cannot show the page (${error.message}). One of 2023 or later can.`;
  problem.hidden = false;
});
