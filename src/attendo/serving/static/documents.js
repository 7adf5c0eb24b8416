// Documents: sent, watched while they are translated, fetched.

import { ApiError, isAbort, json, send } from "./api.js";
import { announce, element, icon, iconButton, make, percent, plural, saveFile } from "./dom.js";

const LOOK_MS = 700;
const MOST_REMARKS = 50;
const SIZES = ["bytes", "KB", "MB", "GB"];

function size(bytes) {
  const step = Math.min(SIZES.length - 1, Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(1024)));
  return `${(bytes / 1024 ** step).toLocaleString("en", { maximumFractionDigits: step ? 1 : 0 })} ${SIZES[step]}`;
}

export class Documents {
  constructor(settings, languages) {
    Object.assign(this, { settings: settings.documents, languages });
    const [drop, file] = [element("drop"), element("file")];
    const formats = this.settings.formats ?? [];
    file.accept = formats.join(",");
    const most = this.settings.max_bytes ? `; up to ${size(this.settings.max_bytes)}` : "";
    element("formats").textContent = `${formats.join(", ")}${most}. Layout, tags and placeholders stay as they are.`;
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
    body.append("target", target);
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
    view.bar.value = 1;
    const problems = found.problems ?? [];
    view.state.textContent = `${names} · done${problems.length ? ` · ${plural(problems.length, "remark")}` : ""}`;
    view.bar.hidden = true;
    if (problems.length) {
      view.state.after(make("details", {}, make("summary", {}, "What could not be kept as it was"),
        make("ul", { className: "quiet" }, ...problems.slice(0, MOST_REMARKS).map((problem) => make("li", {}, problem)))));
    }
    const button = make("button", { type: "button", className: "plain", aria: { label: `Save the translation of ${view.name}` } }, icon("save"), "Save");
    button.addEventListener("click", () => this.#save(view).catch((error) => this.#fail(view, error.message)));
    view.tools.prepend(button);
    announce(`${view.name} is translated.`);
  }

  async #save(view) {
    const response = await send(`api/documents/${encodeURIComponent(view.id)}/result`, { accept: "*/*" });
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
