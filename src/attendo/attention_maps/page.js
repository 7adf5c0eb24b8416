"use strict";
// Without a library and without a build step: state in one object, `draw` shows it, events change it.
(() => {
  const data = JSON.parse(document.getElementById("weights").textContent);
  const element = (id) => document.getElementById(id);
  const LEAST_LINE = 0.03; // as in the static picture: hundreds of hairlines would hide the rest
  const LINE_STEPS = 12; // widths a line can have; lines of one head and width are one path, or long pairs get slow
  const SVG = "http://www.w3.org/2000/svg";

  for (const kind of Object.values(data.kinds)) {
    const bytes = Uint8Array.from(atob(kind.steps), (character) => character.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    const [queries, keys] = [kind.queries.length, kind.keys.length];
    kind.weight = (layer, head, row, column) =>
      view.getUint16(2 * (((layer * kind.heads + head) * queries + row) * keys + column), true) / data.weight_steps;
  }

  const state = { kind: "cross", layer: 0, heads: new Set(), view: "lines", focus: null, pinned: false };
  const current = () => data.kinds[state.kind];
  const shownHeads = () => [...state.heads].sort((one, other) => one - other);
  const mean = (row, column) => {
    const heads = shownHeads();
    return heads.reduce((sum, head) => sum + current().weight(state.layer, head, row, column), 0) / heads.length;
  };
  const blocked = (row, column) => state.kind === "decoder" && column > row;
  const number = (weight) => (weight < 0.0005 && weight > 0 ? "<0.001" : weight.toFixed(3));

  // Text goes in as text nodes only: a piece may well be "<script>".
  function make(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }
  function pieceText(piece) {
    const text = make("bdi", { title: piece });
    piece.split(/(▁)/).forEach((part) => part && text.append(part === "▁" ? make("span", { className: "faint" }, part) : part));
    return text;
  }
  function tint(colour, weight) {
    const [red, green, blue] = [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));
    return `rgba(${red}, ${green}, ${blue}, ${Math.sqrt(weight).toFixed(3)})`;
  }
  const shownColour = () => (state.heads.size === 1 ? data.colours[shownHeads()[0]] : "#7a8090");
  const headsText = () => {
    const heads = shownHeads().map((head) => head + 1);
    if (heads.length === 1) return `head ${heads[0]}`;
    return heads.length === current().heads ? `all ${heads.length} heads` : `heads ${heads.join(", ")}`;
  };

  // --- the panel's parts

  function drawControls() {
    const kind = current();
    element("detail-title").textContent = `${kind.title}, layer ${state.layer + 1}, ${headsText()}`;
    element("kind").replaceChildren(
      ...Object.entries(data.kinds).map(([name, other]) => make("option", { value: name, selected: name === state.kind }, other.title)));
    element("layer").replaceChildren(
      ...Array.from({ length: kind.layers }, (_, layer) =>
        make("option", { value: layer, selected: layer === state.layer }, `${layer + 1} of ${kind.layers}`)));
    const chips = element("chips");
    if (chips.childElementCount !== kind.heads) {
      chips.replaceChildren(...Array.from({ length: kind.heads }, (_, head) => {
        const chip = make("button", { type: "button", ariaLabel: `head ${head + 1}` }, `${head + 1}`);
        chip.style.setProperty("--head", data.colours[head]);
        chip.addEventListener("click", () => toggleHead(head));
        return chip;
      }));
    }
    [...chips.children].forEach((chip, head) => chip.setAttribute("aria-pressed", state.heads.has(head)));
    element("all").setAttribute("aria-pressed", state.heads.size === kind.heads);
    document.querySelectorAll("[data-view]").forEach((button) => button.setAttribute("aria-pressed", button.dataset.view === state.view));
    document.querySelectorAll(".map").forEach((map) => map.setAttribute("aria-pressed",
      map.dataset.kind === state.kind && +map.dataset.layer === state.layer && state.heads.has(+map.dataset.head)));
  }

  function drawLinesFrame() {
    const kind = current();
    const rows = Math.max(kind.queries.length, kind.keys.length);
    const row = Math.max(17, Math.min(30, Math.floor((window.innerHeight - 330) / rows)));
    const lines = element("lines");
    lines.style.setProperty("--row", `${row}px`);
    lines.style.setProperty("--letters", `${Math.min(15, row - 4)}px`);
    lines.style.setProperty("--bands", `${Math.min(96, (lines.clientWidth < 480 ? 4 : 9) * state.heads.size)}px`);
    const column = (side, pieces) => make("ul", { className: `pieces ${side}` }, ...pieces.map((piece, index) => {
      const button = make("button", { type: "button", className: "piece" }, pieceText(piece), make("small"), make("i"));
      Object.assign(button.dataset, { side, index });
      return make("li", {}, button);
    }));
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 100 ${rows * row}`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    svg.style.height = `${rows * row}px`;
    const [query, key] = { encoder: ["looks", "at"], decoder: ["writes", "reads"], cross: ["writes", "reads"] }[state.kind];
    lines.replaceChildren(
      make("span", { className: "head query" }, query), make("span"), make("span", { className: "head key" }, key),
      column("query", kind.queries), svg, column("key", kind.keys));
    drawLines();
  }

  function drawLines() {
    const kind = current();
    const lines = element("lines");
    const row = parseInt(lines.style.getPropertyValue("--row"), 10);
    const heads = shownHeads();
    const focus = state.focus;
    const paths = [];
    heads.forEach((head, place) => {
      // Heads that agree run side by side instead of hiding each other.
      const shift = row / 2 + (place - (heads.length - 1) / 2) * Math.min(2.4, (row * 0.6) / heads.length);
      const byWidth = Array.from({ length: LINE_STEPS + 1 }, () => []);
      for (let query = 0; query < kind.queries.length; query++) {
        if (focus && focus.side === "query" && focus.index !== query) continue;
        for (let key = 0; key < kind.keys.length; key++) {
          if (focus && focus.side === "key" && focus.index !== key) continue;
          const weight = kind.weight(state.layer, head, query, key);
          if (weight < (focus ? 0.005 : LEAST_LINE)) continue;
          const [from, to] = [query * row + shift, key * row + shift];
          byWidth[Math.round(weight * LINE_STEPS)].push(`M0 ${from}C40 ${from} 60 ${to} 100 ${to}`);
        }
      }
      byWidth.forEach((parts, step) => {
        if (!parts.length) return;
        const path = document.createElementNS(SVG, "path");
        path.setAttribute("d", parts.join(""));
        path.setAttribute("stroke", data.colours[head]);
        path.setAttribute("stroke-width", 0.5 + (4.5 * step) / LINE_STEPS);
        path.setAttribute("stroke-opacity", 0.3 + (0.6 * step) / LINE_STEPS);
        paths.push(path);
      });
    });
    lines.querySelector("svg").replaceChildren(...paths);
    lines.querySelectorAll(".piece").forEach((piece) => drawPiece(piece, heads, focus));
  }

  // In focus, the other side's pieces carry a strip with a band a head, as deep as its weight (the paper's Figures 3 and 4).
  function drawPiece(piece, heads, focus) {
    const { side, index } = piece.dataset;
    const isFocus = Boolean(focus) && focus.side === side && focus.index === +index;
    const [bandStrip, small] = [piece.querySelector("i"), piece.querySelector("small")];
    piece.classList.toggle("focused", isFocus);
    piece.setAttribute("aria-pressed", isFocus && state.pinned);
    bandStrip.style.background = "";
    small.textContent = "";
    if (!focus || focus.side === side) return;
    const [row, column] = side === "key" ? [focus.index, +index] : [+index, focus.index];
    if (blocked(row, column)) return;
    const bands = heads.map((head, place) => {
      const colour = tint(data.colours[head], current().weight(state.layer, head, row, column));
      return `${colour} ${(100 * place) / heads.length}% ${(100 * (place + 1)) / heads.length}%`;
    });
    bandStrip.style.background = `linear-gradient(to right, ${bands.join(", ")})`;
    const weight = mean(row, column);
    small.textContent = weight >= 0.005 ? weight.toFixed(2) : "";
  }

  function drawMatrix() {
    const kind = current();
    const matrix = element("matrix");
    const cell = Math.max(13, Math.min(38, Math.floor((matrix.clientWidth - 130) / kind.keys.length)));
    matrix.style.setProperty("--cell", `${cell}px`);
    matrix.style.setProperty("--letters", `${Math.max(10, Math.min(14, cell - 3))}px`);
    const colour = shownColour();
    const header = make("tr", {}, make("td"), ...kind.keys.map((piece) => make("th", { scope: "col" }, pieceText(piece))));
    const rows = kind.queries.map((piece, row) => make("tr", {}, make("th", { scope: "row" }, pieceText(piece)),
      ...kind.keys.map((_, column) => {
        if (blocked(row, column)) return make("td", { className: "blocked" });
        const weight = mean(row, column);
        const inside = make("span", { className: cell >= 27 && weight >= 0.005 ? "" : "unseen" }, weight.toFixed(2).replace(/^0/, ""));
        const made = make("td", {}, inside);
        made.style.background = tint(colour, weight);
        Object.assign(made.dataset, { row, column });
        return made;
      })));
    matrix.replaceChildren(make("table", {}, make("thead", {}, header), make("tbody", {}, ...rows)));
  }

  function drawReadout() {
    const readout = element("readout");
    const kind = current();
    const focus = state.focus;
    if (!focus || state.view === "matrix") {
      const many = state.heads.size > 1 ? " Several heads: the matrix shows their mean." : "";
      readout.textContent = state.view === "matrix"
        ? `A row looks at its columns; point at a cell for its weight.${many}`
        : "Point at a piece, or tab to it, to see its lines alone. Click keeps it; Escape lets go.";
      return;
    }
    const looks = focus.side === "query";
    const others = (looks ? kind.keys : kind.queries)
      .map((piece, index) => ({ piece, weight: looks ? mean(focus.index, index) : mean(index, focus.index) }))
      .sort((one, other) => other.weight - one.weight).slice(0, 5).filter((other) => other.weight >= 0.001);
    const piece = (looks ? kind.queries : kind.keys)[focus.index];
    const heads = state.heads.size > 1 ? ` (mean of ${headsText()})` : "";
    readout.replaceChildren(make("b", {}, pieceText(piece)), looks ? " looks at " : " is looked at by ");
    others.forEach(({ piece: other, weight }, index) =>
      readout.append(index ? ", " : "", make("b", {}, pieceText(other)), ` ${number(weight)}`));
    readout.append(heads);
  }

  function drawView() {
    element("lines").hidden = state.view !== "lines";
    element("matrix").hidden = state.view !== "matrix";
    if (state.view === "lines") drawLinesFrame(); else drawMatrix();
    drawReadout();
  }
  function draw() {
    drawControls();
    drawView();
    const heads = state.heads.size === current().heads ? "all" : shownHeads().map((head) => head + 1).join(",");
    try { history.replaceState(null, "", `#${state.kind}/${state.layer + 1}/${heads}/${state.view}`); } catch { /* opened where addresses are fixed */ }
  }

  // --- what changes the state

  function show(kind, layer, heads) {
    const limits = data.kinds[kind];
    Object.assign(state, { kind, layer: Math.min(layer, limits.layers - 1), focus: null, pinned: false });
    const kept = heads.filter((head) => head < limits.heads);
    state.heads = new Set(kept.length ? kept : Array.from({ length: limits.heads }, (_, head) => head));
    draw();
  }
  function toggleHead(head) {
    if (!state.heads.delete(head)) state.heads.add(head);
    if (!state.heads.size) state.heads.add(head); // a picture of no head says nothing
    draw();
  }
  function focusOn(focus, pinned) {
    Object.assign(state, { focus, pinned });
    drawLines();
    drawReadout();
  }
  const focusOf = (piece) => ({ side: piece.dataset.side, index: +piece.dataset.index });

  element("kind").addEventListener("change", (event) => show(event.target.value, state.layer, shownHeads()));
  element("layer").addEventListener("change", (event) => show(state.kind, +event.target.value, shownHeads()));
  element("all").addEventListener("click", () => show(state.kind, state.layer, []));
  element("theme").addEventListener("change", (event) => { document.documentElement.dataset.theme = event.target.value; });
  document.querySelectorAll("[data-view]").forEach((button) => button.addEventListener("click", () => {
    state.view = button.dataset.view;
    state.focus = null;
    state.pinned = false;
    draw();
  }));

  const lines = element("lines");
  const over = (event) => {
    const piece = event.target.closest(".piece");
    if (piece && !state.pinned) focusOn(focusOf(piece), false);
  };
  lines.addEventListener("mouseover", over);
  lines.addEventListener("focusin", over);
  lines.addEventListener("mouseleave", () => state.focus && !state.pinned && focusOn(null, false));
  lines.addEventListener("focusout", () => state.focus && !state.pinned && focusOn(null, false));
  lines.addEventListener("click", (event) => {
    const piece = event.target.closest(".piece");
    if (!piece) return focusOn(null, false);
    const focus = focusOf(piece);
    const again = state.pinned && state.focus.side === focus.side && state.focus.index === focus.index;
    return focusOn(focus, !again);
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && state.focus) focusOn(null, false); });

  // Small maps: a click enlarges, arrows walk, shift-click adds a head to those shown.
  document.querySelectorAll(".kind").forEach((section) => {
    const maps = [...section.querySelectorAll(".map")];
    section.addEventListener("click", (event) => {
      const map = event.target.closest(".map");
      if (!map) return;
      const place = [map.dataset.kind, +map.dataset.layer];
      if (event.shiftKey && place[0] === state.kind && place[1] === state.layer) toggleHead(+map.dataset.head);
      else show(...place, [+map.dataset.head]);
      if (getComputedStyle(element("detail")).position === "static") element("detail").scrollIntoView({ block: "start" });
    });
    section.addEventListener("keydown", (event) => {
      const heads = data.kinds[maps[0].dataset.kind].heads;
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -heads, ArrowDown: heads }[event.key];
      const next = step && maps[maps.indexOf(event.target.closest(".map")) + step];
      if (!next) return;
      event.preventDefault();
      maps.forEach((map) => { map.tabIndex = map === next ? 0 : -1; });
      next.focus();
    });
  });

  // --- tooltips

  const tooltip = element("tooltip");
  function tell(event, kind, layer, heads, row, column) {
    const weights = heads.map((head) => kind.weight(layer, head, row, column));
    const weight = weights.reduce((sum, one) => sum + one, 0) / weights.length;
    const of = heads.length > 1 ? `mean of ${heads.length} heads` : `layer ${layer + 1}, head ${heads[0] + 1}`;
    tooltip.replaceChildren(pieceText(kind.queries[row]), " → ", pieceText(kind.keys[column]), `  ${number(weight)}  (${of})`);
    tooltip.hidden = false;
    const { width, height } = tooltip.getBoundingClientRect();
    tooltip.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - width - 8))}px`;
    tooltip.style.top = `${event.clientY + 18 + height > window.innerHeight ? event.clientY - height - 10 : event.clientY + 18}px`;
  }
  document.addEventListener("mousemove", (event) => {
    const cell = event.target.closest?.("td[data-row]");
    const map = event.target.closest?.(".map");
    document.querySelectorAll("th.here").forEach((header) => header.classList.remove("here"));
    if (cell) {
      const [row, column] = [+cell.dataset.row, +cell.dataset.column];
      cell.parentElement.firstElementChild.classList.add("here");
      cell.closest("table").tHead.rows[0].cells[column + 1].classList.add("here");
      tell(event, current(), state.layer, shownHeads(), row, column);
    } else if (map) {
      const kind = data.kinds[map.dataset.kind];
      const box = map.querySelector("svg").getBoundingClientRect();
      const index = (place, start, size, count) => Math.max(0, Math.min(count - 1, Math.floor(((place - start) / size) * count)));
      tell(event, kind, +map.dataset.layer, [+map.dataset.head],
        index(event.clientY, box.top, box.height, kind.queries.length), index(event.clientX, box.left, box.width, kind.keys.length));
    } else tooltip.hidden = true;
  });

  let resizing = 0;
  window.addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(drawView, 150); });

  // --- the start: the address, as in #cross/2/1,3/matrix, or the top layer's look at the source

  document.documentElement.classList.add("scripted");
  const [kind, layer, heads, view] = decodeURIComponent(location.hash.slice(1)).split("/");
  if (view === "matrix") state.view = view;
  if (Object.hasOwn(data.kinds, kind) && +layer >= 1) {
    show(kind, +layer - 1, heads === "all" || !heads ? [] : heads.split(",").map((head) => +head - 1).filter((head) => head >= 0));
  } else show("cross", data.kinds.cross.layers - 1, []);
})();
