// The server's API: JSON in, JSON out, errors as one kind of error, a second try where the server asks for patience.

import { kept } from "./kept.js";

const LONGEST_WAIT_S = 15;

export class ApiError extends Error {
  constructor(status, code, message, retryAfter = null) {
    super(message.charAt(0).toUpperCase() + message.slice(1)); // stands alone on the page
    Object.assign(this, { status, code, retryAfter });
  }

  get wantsKey() {
    return this.status === 401 || this.status === 403;
  }
}

export const isAbort = (error) => error?.name === "AbortError";

async function errorOf(response) {
  let told = {};
  try {
    told = (await response.json()).error ?? {};
  } catch { /* not ours: a proxy's page, perhaps */ }
  const after = Number(told.retry_after_s ?? response.headers.get("Retry-After"));
  const message = told.message ?? `The server answered ${response.status}${response.statusText ? ` ${response.statusText}` : ""}.`;
  return new ApiError(response.status, told.code ?? "", message, Number.isFinite(after) && after > 0 ? after : null);
}

function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => { clearTimeout(timer); reject(new DOMException("stopped", "AbortError")); };
    const timer = setTimeout(() => { signal?.removeEventListener("abort", stop); resolve(); }, seconds * 1000);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

// Paths are relative, so that the page works wherever a proxy has put it.
async function request(path, { method, body, accept, signal, onWait }, isFirst) {
  const headers = { Accept: accept ?? "application/json" };
  const key = kept("key", "");
  if (key) headers.Authorization = `Bearer ${key}`;
  if (body && !(body instanceof FormData)) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, {
      method: method ?? (body ? "POST" : "GET"), headers, signal,
      body: body && !(body instanceof FormData) ? JSON.stringify(body) : body,
    });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ApiError(0, "unreachable", "The server does not answer. Is it running, and is this device online?");
  }
  if (response.ok) return response;
  const error = await errorOf(response);
  const mayWait = isFirst && [429, 503].includes(error.status) && error.retryAfter !== null && error.retryAfter <= LONGEST_WAIT_S;
  if (!mayWait) throw error;
  onWait?.(error);
  await pause(error.retryAfter, signal);
  return request(path, { method, body, accept, signal, onWait }, false);
}

export const send = (path, options = {}) => request(path, options, true);
export const json = async (path, options = {}) => (await send(path, options)).json();

// Server-sent events over a request with a body, which EventSource cannot do.
export async function* events(path, options) {
  const response = await send(path, { ...options, accept: "text/event-stream" });
  if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
    yield { name: "done", data: await response.json() };
    return;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    waiting += value.replaceAll("\r", "");
    const parts = waiting.split("\n\n");
    waiting = parts.pop();
    for (const part of parts) {
      const lines = part.split("\n");
      const name = lines.find((line) => line.startsWith("event:"))?.slice(6).trim() ?? "message";
      const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart()).join("\n");
      if (data) yield { name, data: JSON.parse(data) };
    }
  }
}
