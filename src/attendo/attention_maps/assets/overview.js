// Small maps of all heads of one kind, layers from top to bottom.

const element = (id) => document.getElementById(id);

// Text goes in as text nodes only: a word may well be "<script>".
function make(tag, properties = {}, ...children) {
  const { data, aria, ...rest } = properties;
  const made = Object.assign(document.createElement(tag), rest);
  Object.assign(made.dataset, data);
  for (const [name, value] of Object.entries(aria ?? {})) made.setAttribute(`aria-${name}`, value);
  made.append(...children);
  return made;
}

function tokenText(token) {
  const text = make("bdi", { title: token });
  token.split(/(▁)/).forEach((part) => part && text.append(part === "▁" ? make("span", { className: "faint" }, part) : part));
  return text;
}

const channels = (colour) => [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));
const tint = (colour, weight) => `rgba(${channels(colour).join(", ")}, ${Math.sqrt(weight).toFixed(3)})`;
const number = (weight) => (weight > 0 && weight < 0.005 ? "<0.01" : weight.toFixed(2));

const MOST_PIXELS = 60; // of a small map's side: where more cells share one, it shows the heaviest, or lines would fade

// A pixel a cell; the browser makes them as large as there is room.
function drawSmall(canvas, layer, head) {
  const { queries, keys } = table();
  const share = Math.ceil(Math.max(queries.length, keys.length) / MOST_PIXELS);
  const [width, height] = [Math.ceil(keys.length / share), Math.ceil(queries.length / share)];
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const colour = channels(about.colours[head]);
  for (let row = 0; row < queries.length; row++) {
    for (let column = 0; column < keys.length; column++) {
      const place = 4 * (Math.floor(row / share) * width + Math.floor(column / share));
      image.data.set(colour, place);
      const opacity = 255 * Math.sqrt(table().weight(layer, head, row, column));
      image.data[place + 3] = Math.max(image.data[place + 3], opacity);
    }
  }
  context.putImageData(image, 0, 0);
  canvas.style.aspectRatio = Math.max(0.6, Math.min(1.7, keys.length / queries.length));
}

function smallMap(layer, head) {
  const { row, column, weight } = table().strongest(layer, head);
  const strongest = `strongest: ${table().queries[row]} → ${table().keys[column]} ${number(weight)}`;
  const label = `layer ${layer + 1}, head ${head + 1}`;
  const canvas = make("canvas", { aria: { hidden: true } });
  const map = make("button", {
    type: "button", className: "map", tabIndex: layer || head ? -1 : 0, title: `${label}; ${strongest}`,
    data: { layer, head }, aria: { label: `${label}; ${strongest}` },
  }, canvas, make("span", { aria: { hidden: true } }, `${head + 1}`));
  map.style.setProperty("--head", about.colours[head]);
  drawSmall(canvas, layer, head);
  return map;
}

// Drawn anew only where it shows something else: a choice of layer or head changes the marks alone.
function drawOverview() {
  const heads = element("heads");
  const shown = `${state.kind} ${state.unit}`;
  if (heads.dataset.shown !== shown) {
    heads.dataset.shown = shown;
    heads.style.setProperty("--columns", Math.min(table().heads, 8));
    heads.replaceChildren(...Array.from({ length: table().layers }, (_, layer) => make("div", { className: "layer" },
      make("button", { type: "button", className: "layer-name", data: { layer }, title: `all heads of layer ${layer + 1}` }, `layer ${layer + 1}`),
      make("div", { className: "maps" }, ...allHeads(state.kind).map((head) => smallMap(layer, head))))));
  }
  for (const map of heads.querySelectorAll(".map")) {
    map.setAttribute("aria-pressed", Number(map.dataset.layer) === state.layer && state.heads.has(Number(map.dataset.head)));
  }
}

// Arrow keys walk over the small maps; the tab key stops at one of them.
function walkOverview(event) {
  const maps = [...element("heads").querySelectorAll(".map")];
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -table().heads, ArrowDown: table().heads }[event.key];
  const next = step && maps[maps.indexOf(event.target.closest(".map")) + step];
  if (!next || !event.target.closest(".map")) return;
  event.preventDefault();
  for (const map of maps) map.tabIndex = map === next ? 0 : -1;
  next.focus();
}
