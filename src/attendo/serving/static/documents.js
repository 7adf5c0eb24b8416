// Documents: sent, watched while they are translated, fetched.

import { ApiError, isAbort, json, send } from "./api.js";
import { announce, element, icon, iconButton, make, percent, saveFile } from "./dom.js";
import { counts, table } from "./findings.js";

const LOOK_MS = 700;
const OPTIONS = ["only", "mark"];
const SIZES = ["bytes", "KB", "MB", "GB"];

function size(bytes) {
  const step = Math.min(SIZES.length - 1, Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(1024)));
  return `${(bytes / 1024 ** step).toLocaleString("en", { maximumFractionDigits: step ? 1 : 0 })} ${SIZES[step]}`;
}

export class Documents {
  constructor(settings, languages, glossaries) {
    Object.assign(this, { settings: settings.documents, languages, glossaries });
    const [drop, file] = [element("drop"), element("file")];
    const formats = this.settings.formats ?? [];
    file.accept = formats.join(",");
    const most = this.settings.max_bytes ? `, up to ${size(this.settings.max_bytes)}` : "";
    element("formats").textContent = `Text and web pages, office documents, subtitles, and the files of translators and programs${most}. Layout, tags and placeholders stay as they are.`;
    element("endings").textContent = formats.join(", ");
    file.addEventListener("change", () => { this.#take([...file.files]); file.value = ""; });
    for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
    for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
    drop.addEventListener("drop", (event) => { event.preventDefault(); this.#take([...event.dataTransfer.files]); });
    // Beside the field a dropped file would replace the page.
    for (const name of ["dragover", "drop"]) window.addEventListener(name, (event) => event.preventDefault());
  }

  #take(files) {
    for (const file of files) this.#add(file);
  }

  #add(file) {
    const source = this.languages.source;
    const { target } = this.languages;
    const names = this.#names(source, target);
    const abort = new AbortController();
    const view = {
      name: file.name, abort, id: null,
      bar: make("progress", { max: 1, aria: { label: `Progress of ${file.name}` } }),
      state: make("p", { className: "state" }, `${names} · sending …`),
      tools: make("div", { className: "tools" }),
    };
    const title = make("h2", {}, file.name);
    view.item = make("li", { className: "card document" }, icon("file"), make("div", {}, title, view.bar, view.state), view.tools);
    view.tools.append(iconButton("clear", `Remove ${file.name}`, () => this.#remove(view)));
    element("documents").prepend(view.item);
    this.#work(view, file, { source, target }, names).catch((error) => isAbort(error) || this.#fail(view, error.message));
  }

  #names(source, target) {
    return `${source === "auto" ? "detected language" : this.languages.name(source)} to ${this.languages.name(target)}`;
  }

  async #work(view, file, { source, target }, names) {
    const { max_bytes: most } = this.settings;
    if (most && file.size > most) throw new Error(`It has ${size(file.size)}; this server takes documents of up to ${size(most)}.`);
    const { signal } = view.abort;
    const body = new FormData();
    body.append("file", file);
    body.append("source", source);
    const region = element("region").value.trim();
    body.append("target", region ? `${target.split("-")[0]}-${region}` : target);
    const glossary = this.glossaries.idFor({ source, target });
    if (glossary) body.append("glossary", glossary);
    for (const name of OPTIONS) body.append(name, element(name).value);
    const told = (text) => { view.state.textContent = `${names} · ${text}`; };
    const onWait = (error) => told(`the server is busy, trying again in ${Math.ceil(error.retryAfter)} s`);
    view.id = (await json("api/documents", { body, signal, onWait })).id;
    for (;;) {
      const found = await json(`api/documents/${encodeURIComponent(view.id)}`, { signal, onWait });
      if (found.status === "error") throw new ApiError(0, "document", found.message || "It could not be translated.");
      if (found.status === "done") return this.#finish(view, found, this.#names(found.source ?? source, target));
      if (found.status === "translating") view.bar.value = found.progress ?? 0;
      told(found.status === "queued" ? "waiting" : `translating, ${percent(found.progress ?? 0)}`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      signal.throwIfAborted();
    }
  }

  #finish(view, found, names) {
    view.state.textContent = [names, "done", ...(found.summary ? [counts(found.summary)] : []), found.message].filter(Boolean).join(" · ");
    view.bar.hidden = true;
    // What is said of the whole document; of its messages the table says it.
    const listed = new Set(found.summary?.findings.flatMap((finding) => finding.problems));
    const notes = found.summary?.findings_left_out ? [] : (found.problems ?? []).filter((problem) => !listed.has(problem));
    if (notes.length) view.state.after(make("ul", { className: "quiet" }, ...notes.map((note) => make("li", {}, note))));
    if (found.summary?.translated || found.summary?.left) view.item.append(this.#details(view));
    const path = `api/documents/${encodeURIComponent(view.id)}`;
    view.tools.prepend(
      this.#saving(view, "Save", `Save the translation of ${view.name}`, `${path}/result`),
      this.#saving(view, "Report", `Save the report on ${view.name}`, `${path}/report`),
    );
    announce(`${view.name} is translated.`);
  }

  // Long tables are fetched when somebody wants to see them.
  #details(view) {
    const details = make("details", {}, make("summary", {}, "What became of the messages"));
    details.addEventListener("toggle", () => this.#show(view, details).catch((error) => this.#fail(view, error.message)), { once: true });
    return details;
  }

  async #show(view, details) {
    details.append(table(await json(`api/documents/${encodeURIComponent(view.id)}/report`), view.name));
  }

  #saving(view, text, label, path) {
    const button = make("button", { type: "button", className: "plain", aria: { label } }, icon("save"), text);
    button.addEventListener("click", () => this.#save(view, path).catch((error) => this.#fail(view, error.message)));
    return button;
  }

  async #save(view, path) {
    const response = await send(path, { accept: "*/*" });
    const name = /filename\*=UTF-8''([^;]+)/i.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
    const plain = /filename="([^"]+)"/i.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
    saveFile(name ? decodeURIComponent(name) : plain ?? view.name, await response.blob());
  }

  #fail(view, message) {
    view.bar.hidden = true;
    view.state.textContent = message;
    view.state.classList.add("bad");
    announce(`${view.name}: ${message}`);
  }

  #remove(view) {
    view.abort.abort();
    view.item.remove();
    announce("Removed.");
    (element("documents").querySelector("button") ?? element("file")).focus();
    if (view.id) send(`api/documents/${encodeURIComponent(view.id)}`, { method: "DELETE" }).catch(() => { /* gone already */ });
  }
}
