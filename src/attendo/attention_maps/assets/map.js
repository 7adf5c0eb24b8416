// One head, or the mean of several, as a heat map with the words at its edges.

const LEAST_CELL = 14;
const MOST_CELL = 40;
const CELL_WITH_NUMBER = 30;

let cellSize = 0;
let cursor = { row: 0, column: 0 };

function labels(className, tokens) {
  return make("div", { className, aria: { hidden: true } }, ...tokens.map((token) => make("span", {}, tokenText(token))));
}

function drawMap() {
  const { queries, keys } = table();
  const map = element("map");
  const room = map.clientWidth - Math.min(150, map.clientWidth * 0.36) - 4;
  cellSize = Math.max(LEAST_CELL, Math.min(MOST_CELL, Math.floor(room / keys.length)));
  map.style.setProperty("--cell", `${cellSize}px`);
  map.style.setProperty("--letters", `${Math.max(11, Math.min(14, cellSize - 2))}px`);
  const canvas = make("canvas", { aria: { hidden: true } });
  const sheet = make("div", { className: "cells" }, canvas, make("div", { className: "cursor", hidden: true }));
  const scroll = make("div", {
    className: "scroll", tabIndex: 0, role: "application",
    aria: { roledescription: "heat map", label: `${queries.length} rows look at ${keys.length} columns; arrow keys go from cell to cell` },
  }, make("span", { className: "corner" }), labels("keys", keys), labels("queries", queries), sheet);
  map.replaceChildren(scroll);
  drawCells(canvas);
}

function drawCells(canvas) {
  const { queries, keys } = table();
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  Object.assign(canvas, { width: keys.length * cellSize * ratio, height: queries.length * cellSize * ratio });
  canvas.style.width = `${keys.length * cellSize}px`;
  canvas.style.height = `${queries.length * cellSize}px`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  const style = getComputedStyle(document.documentElement);
  const [text, edge, panel] = ["--text", "--edge", "--panel"].map((name) => style.getPropertyValue(name).trim());
  Object.assign(context, { font: `11px ${getComputedStyle(document.body).fontFamily}`, textAlign: "center", textBaseline: "middle" });
  const isSingle = state.heads.size === 1;
  const colour = isSingle ? about.colours[shownHeads()[0]] : text;
  for (let row = 0; row < queries.length; row++) {
    for (let column = 0; column < keys.length; column++) {
      const [x, y, size] = [column * cellSize, row * cellSize, cellSize - 1];
      const weight = mean(row, column);
      if (!weight && table().isHidden(row, column)) hatch(context, x, y, size, edge);
      context.fillStyle = tint(colour, weight);
      context.fillRect(x, y, size, size);
      if (cellSize >= CELL_WITH_NUMBER && weight >= 0.005) {
        context.fillStyle = isSingle || weight < 0.3 ? text : panel;
        context.fillText(weight.toFixed(2).replace(/^0/, ""), x + size / 2, y + size / 2 + 1);
      }
    }
  }
}

function hatch(context, x, y, size, colour) {
  context.strokeStyle = colour;
  context.beginPath();
  for (const part of [0.25, 0.75]) {
    context.moveTo(x, y + size * part);
    context.lineTo(x + size * part, y);
    context.moveTo(x + size * part, y + size);
    context.lineTo(x + size, y + size * part);
  }
  context.stroke();
}

function pointAt(row, column) {
  const { queries, keys } = table();
  cursor = { row: Math.max(0, Math.min(queries.length - 1, row)), column: Math.max(0, Math.min(keys.length - 1, column)) };
  const map = element("map");
  const mark = map.querySelector(".cursor");
  mark.hidden = false;
  mark.style.transform = `translate(${cursor.column * cellSize}px, ${cursor.row * cellSize}px)`;
  for (const label of map.querySelectorAll(".here")) label.classList.remove("here");
  map.querySelector(".queries").children[cursor.row].classList.add("here");
  map.querySelector(".keys").children[cursor.column].classList.add("here");
  const weight = table().isHidden(cursor.row, cursor.column) ? "out of sight" : number(mean(cursor.row, cursor.column));
  element("readout").replaceChildren(make("b", {}, tokenText(queries[cursor.row])), " looks at ",
    make("b", {}, tokenText(keys[cursor.column])), `: ${weight}${state.heads.size > 1 ? ` (mean of ${headsText()})` : ""}`);
}

function pointFromMouse(event) {
  const box = element("map").querySelector("canvas").getBoundingClientRect();
  const [row, column] = [(event.clientY - box.top) / cellSize, (event.clientX - box.left) / cellSize].map(Math.floor);
  if (event.target.closest(".cells")) pointAt(row, column);
}

function walkMap(event) {
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const step = steps[event.key];
  if (!step) return;
  event.preventDefault();
  const isFirst = element("map").querySelector(".cursor").hidden;
  pointAt(cursor.row + (isFirst ? 0 : step[0]), cursor.column + (isFirst ? 0 : step[1]));
  scrollToCursor();
}

// The labels stay at the edges, so a cell below them counts as outside.
function scrollToCursor() {
  const scroll = element("map").querySelector(".scroll");
  const [left, top] = [scroll.querySelector(".queries").offsetWidth, scroll.querySelector(".keys").offsetHeight];
  const [x, y] = [cursor.column * cellSize, cursor.row * cellSize];
  scroll.scrollLeft = Math.max(x + left + cellSize - scroll.clientWidth, Math.min(scroll.scrollLeft, x));
  scroll.scrollTop = Math.max(y + top + cellSize - scroll.clientHeight, Math.min(scroll.scrollTop, y));
}
