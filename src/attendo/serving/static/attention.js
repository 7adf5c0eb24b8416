// The page of `attendo attention` in a frame: its own scripts, asked for through the API like everything else.

import { send } from "./api.js";
import { element } from "./dom.js";

let wanted = 0;

export async function openAttention(source, target, pair) {
  const [dialog, frame, problem, wait] = ["attention", "attention-frame", "attention-problem", "attention-wait"].map(element);
  const mine = ++wanted;
  frame.hidden = problem.hidden = true;
  wait.hidden = false;
  dialog.showModal();
  try {
    const body = { text: source, target, source: pair.source, target_lang: pair.target, model: pair.model };
    const page = await (await send("api/attention", { body, accept: "text/html" })).text();
    if (mine !== wanted || !dialog.open) return;
    await show(frame, page);
    frame.hidden = false;
  } catch (error) {
    problem.textContent = error.message;
    problem.hidden = false;
  }
  wait.hidden = true;
}

// What is shown is parsed but runs nothing: its scripts are the server's files, which the frame loads itself.
async function show(frame, page) {
  await new Promise((resolve) => {
    frame.addEventListener("load", resolve, { once: true });
    frame.src = "attention";
  });
  const inside = frame.contentDocument;
  const theme = document.documentElement.dataset.theme;
  if (theme) inside.documentElement.dataset.theme = theme;
  // Its style sheet is the server's file too; within the text it would be refused, and complained about.
  const parsed = new DOMParser().parseFromString(page.replace(/<style>.*?<\/style>/s, ""), "text/html");
  for (const script of parsed.body.querySelectorAll("script:not([type])")) script.remove();
  inside.body.replaceChildren(...[...parsed.body.childNodes].map((node) => inside.adoptNode(node)));
  for (const name of frame.contentDocument.documentElement.dataset.scripts.split(" ")) {
    const script = inside.createElement("script");
    script.src = `static/attention/${name}`;
    script.async = false; // in their order
    inside.body.append(script);
  }
}
