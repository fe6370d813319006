// Requests to the service.

// Another service may be under another path of the same host: it must not get this token.
const TOKEN_KEY = `cento-token ${location.pathname}`;
const TRIES_MAX = 5;
// The service may be configured otherwise; this only explains why a connection broke.
const BODY_BYTES_DEFAULT = 16 * 1024 * 1024;

/** An answer that is an error, or none. */
export class ServiceError extends Error {
  constructor(message, status = 0, code = "unreachable") {
    super(message);
    this.name = "ServiceError";
    this.status = status;
    this.code = code;
  }

  /** Whether a token, or another one, may help. */
  get isDenied() {
    return (this.status === 401 || this.status === 403) && this.code !== "foreign_site";
  }
}

/** The token, if there is one. */
export function token() {
  return sessionStorage.getItem(TOKEN_KEY) ?? "";
}

/** Keeps a token until the tab is closed; an empty one is forgotten. */
export function keepToken(value) {
  if (value) sessionStorage.setItem(TOKEN_KEY, value);
  else sessionStorage.removeItem(TOKEN_KEY);
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

async function failure(response) {
  const text = await response.text();
  try {
    const { code, message } = JSON.parse(text).error;
    return new ServiceError(sentence(message), response.status, code);
  } catch {
    return new ServiceError(`The service answered with status ${response.status}.`, response.status, "unknown");
  }
}

/** A message of the service as a sentence. */
export function sentence(message) {
  const text = String(message).trim();
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}

async function ask(method, path, { body, type, signal }) {
  const headers = {};
  if (token()) headers.Authorization = `Bearer ${token()}`;
  if (type) headers["Content-Type"] = type;
  for (let tries = 1; ; tries += 1) {
    let response;
    try {
      response = await fetch(path, { method, headers, body, signal, cache: "no-store" });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ServiceError(unreachable(body));
    }
    if (response.ok) return response;
    if (response.status !== 429 || tries === TRIES_MAX) throw await failure(response);
    const seconds = Number(response.headers.get("Retry-After")) || 1;
    await pause(Math.min(seconds, 30) * 1000, signal);
  }
}

function unreachable(body) {
  const parts = body instanceof FormData ? [...body.values()] : [body];
  const size = parts.reduce((sum, part) => sum + (part?.size ?? 0), 0);
  // A service that turns a large body away closes the connection, which looks like any broken one.
  if (size <= BODY_BYTES_DEFAULT) return "The service cannot be reached.";
  const mebibytes = Math.ceil(size / 1024 / 1024);
  return `The service closed the connection. The request has ${mebibytes} MiB, and the limit is 16 MiB `
    + "unless the service was started with a larger --max-body. Send less at a time.";
}

/** Asks for what is at `path`. */
export async function get(path, signal) {
  return (await ask("GET", path, { signal })).json();
}

/** Posts one JSON value. */
export async function post(path, value, signal) {
  const body = new Blob([JSON.stringify(value)]);
  return (await ask("POST", path, { body, type: "application/json", signal })).json();
}

/** Posts one JSON value that is answered with a file. */
export async function postForFile(path, value, signal) {
  const body = new Blob([JSON.stringify(value)]);
  return (await ask("POST", path, { body, type: "application/json", signal })).blob();
}

/** Posts files, each `{ file, path }`, as a form would. */
export async function postFiles(path, files, signal) {
  const body = new FormData();
  for (const { file, path: name } of files) body.append("file", file, name);
  // The browser knows what separates the parts.
  return (await ask("POST", path, { body, signal })).json();
}

/** Posts JSON lines, each with the newline at its end; returns the response. */
async function postLines(path, lines, signal) {
  const body = new Blob(lines);
  return ask("POST", path, { body, type: "application/x-ndjson", signal });
}

/** Posts JSON lines that are answered with one JSON value. */
export async function postLinesForOne(path, lines, signal) {
  return (await postLines(path, lines, signal)).json();
}

/** Posts JSON lines that are answered with a line each. */
export async function postLinesForEach(path, lines, signal) {
  const text = await (await postLines(path, lines, signal)).text();
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

/**
 * Batches of JSON lines: each of at most `bytesMax` and `linesMax`, or of one line that is larger.
 * Every batch comes with the values it is made of.
 */
export function* batches(values, toRequest, bytesMax, linesMax) {
  let batch = { values: [], lines: [] };
  let size = 0;
  for (const value of values) {
    const line = new Blob([JSON.stringify(toRequest(value)), "\n"]);
    const isFull = size + line.size > bytesMax || batch.lines.length === linesMax;
    if (batch.lines.length > 0 && isFull) {
      yield batch;
      batch = { values: [], lines: [] };
      size = 0;
    }
    batch.values.push(value);
    batch.lines.push(line);
    size += line.size;
  }
  if (batch.lines.length > 0) yield batch;
}

/** The text of a stored document, null if the index keeps none, and its parts. */
export async function storedDocument(id, signal) {
  const { text, parts = [] } = await get(`v1/documents/${encodeURIComponent(id)}`, signal);
  return { text, parts };
}
