// Lines between two columns of words, a colour a head, as in the paper's Figures 3 to 5.

const SVG = "http://www.w3.org/2000/svg";
const LEAST_LINE = 0.03; // as in the pictures for print: hundreds of hairlines would hide the rest
const LINE_STEPS = 12; // widths a line can have; lines of one head and width are one path, or long pairs get slow
const LONG = 40; // rows from which they are low, and a page without a link has no lines to the end of the sentence
const COLUMN_TITLES = { encoder: ["looks", "at"], decoder: ["writes", "reads"], cross: ["writes", "reads"] };

let rowHeight = 0;

function column(side, title, tokens) {
  const words = tokens.map((token, index) => make("li", {}, make("button", {
    type: "button", className: "word", tabIndex: index ? -1 : 0, data: { side, index },
  }, tokenText(token), make("small"), make("i"))));
  return make("div", { className: `column ${side}` },
    make("span", { className: "column-title", aria: { hidden: true } }, title),
    make("ol", { aria: { label: title } }, ...words));
}

function drawLinesFrame() {
  const { queries, keys } = table();
  const rows = Math.max(queries.length, keys.length);
  rowHeight = rows > LONG ? 20 : Math.max(22, Math.min(30, Math.floor((window.innerHeight - 300) / rows)));
  const lines = element("lines");
  lines.style.setProperty("--row", `${rowHeight}px`);
  lines.style.setProperty("--letters", `${Math.min(15, rowHeight - 6)}px`);
  lines.style.setProperty("--bands", `${Math.min(96, (lines.clientWidth < 480 ? 4 : 9) * state.heads.size)}px`);
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 100 ${rows * rowHeight}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  svg.style.height = `${rows * rowHeight}px`;
  const [looks, at] = COLUMN_TITLES[state.kind];
  lines.replaceChildren(column("query", looks, queries), svg, column("key", at, keys));
  drawLines();
}

function pathsOf(head, place, count) {
  const { queries, keys } = table();
  // Heads that agree run side by side instead of hiding each other.
  const shift = rowHeight / 2 + (place - (count - 1) / 2) * Math.min(2.4, (rowHeight * 0.6) / count);
  const drawn = Array.from({ length: LINE_STEPS + 1 }, () => []);
  for (let row = 0; row < queries.length; row++) {
    for (let key = 0; key < keys.length; key++) {
      const weight = table().weight(state.layer, head, row, key);
      if (weight < LEAST_LINE || !isInFocus(row, key)) continue;
      const [y1, y2] = [(row * rowHeight + shift).toFixed(1), (key * rowHeight + shift).toFixed(1)];
      drawn[Math.round(weight * LINE_STEPS)].push(`M0 ${y1}C35 ${y1} 65 ${y2} 100 ${y2}`);
    }
  }
  return drawn.flatMap((parts, step) => {
    if (!parts.length) return [];
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", parts.join(""));
    path.setAttribute("stroke", about.colours[head]);
    path.setAttribute("stroke-width", 0.5 + (4.5 * step) / LINE_STEPS);
    path.setAttribute("stroke-opacity", 0.3 + (0.6 * step) / LINE_STEPS);
    return [path];
  });
}

function isInFocus(row, key) {
  if (!state.focus) return state.ends || key !== endOf();
  return (state.focus.side === "query" ? row : key) === state.focus.index;
}

function drawLines() {
  const heads = shownHeads();
  const lines = element("lines");
  lines.querySelector("svg").replaceChildren(...heads.flatMap((head, place) => pathsOf(head, place, heads.length)));
  for (const word of lines.querySelectorAll(".word")) drawWord(word, heads);
}

// In focus, the other side's words carry a strip with a band a head, as deep as its weight (the paper's Figures 3 and 4).
function drawWord(word, heads) {
  const { focus } = state;
  const { side, index } = word.dataset;
  const isFocus = Boolean(focus) && focus.side === side && focus.index === Number(index);
  const [strip, small] = [word.querySelector("i"), word.querySelector("small")];
  word.classList.toggle("focused", isFocus);
  word.setAttribute("aria-pressed", isFocus && state.pinned);
  strip.style.background = "";
  small.textContent = "";
  word.classList.remove("unlinked");
  if (!focus || focus.side === side) return;
  const [row, key] = side === "key" ? [focus.index, Number(index)] : [Number(index), focus.index];
  const bands = heads.map((head, place) => {
    const colour = tint(about.colours[head], table().weight(state.layer, head, row, key));
    return `${colour} ${(100 * place) / heads.length}% ${(100 * (place + 1)) / heads.length}%`;
  });
  strip.style.background = `linear-gradient(to right, ${bands.join(", ")})`;
  const weight = mean(row, key);
  small.textContent = weight >= 0.005 ? weight.toFixed(2) : "";
  word.classList.toggle("unlinked", weight < LEAST_LINE);
}

// A link to a word of a long sentence shows the word.
function scrollToFocus() {
  const lines = element("lines");
  const word = lines.querySelector(".focused");
  if (word) lines.scrollTop = word.offsetTop - lines.offsetTop - lines.clientHeight / 2;
}

// Up and down within a column, left and right to the other one.
function walkLines(event) {
  const word = event.target.closest(".word");
  const steps = { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity, ArrowLeft: "query", ArrowRight: "key" };
  if (!word || !Object.hasOwn(steps, event.key)) return;
  event.preventDefault();
  const step = steps[event.key];
  const side = typeof step === "string" ? step : word.dataset.side;
  const words = [...element("lines").querySelectorAll(`.${side} .word`)];
  const wanted = Number(word.dataset.index) + (typeof step === "string" ? 0 : step);
  const next = words[Math.max(0, Math.min(words.length - 1, wanted))];
  for (const other of words) other.tabIndex = other === next ? 0 : -1;
  next.focus();
}
