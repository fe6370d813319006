// The chosen files, and the text that the service reads of them.

import { ServiceError, postFiles } from "./api.js";
import { bytes, count, counted, make } from "./dom.js";

const PARCEL_BYTES_MAX = 4 * 1024 * 1024;
const PARCEL_FILES_MAX = 200;
const NAMES_SHOWN_MAX = 500;

/**
 * Lets files be chosen with `inputs`, and dropped on `target`. They are listed in `list`. With
 * `replaces` a choice takes the place of the one before, otherwise it adds to it. `onChange` is called with
 * every choice.
 */
export class Chooser {
  constructor({ inputs, target = null, list, what = "file", replaces = false, onChange = () => {} }) {
    Object.assign(this, { list, what, replaces, onChange });
    this.chosen = [];
    for (const input of inputs) {
      input.addEventListener("change", () => {
        const files = [...input.files].map((file) => fromInput(file));
        // So that the same file can be chosen again when it has changed.
        input.value = "";
        this.take(files);
      });
    }
    if (target) this.acceptDrops(target);
  }

  acceptDrops(target) {
    target.addEventListener("dragover", (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      target.classList.add("drop-here");
    });
    target.addEventListener("dragleave", (event) => {
      if (!target.contains(event.relatedTarget)) target.classList.remove("drop-here");
    });
    target.addEventListener("drop", async (event) => {
      target.classList.remove("drop-here");
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      this.take(await dropped(event.dataTransfer));
    });
  }

  take(files) {
    const visible = files.filter(({ path, isListed }) => isListed || !isHidden(path));
    if (visible.length === 0) return;
    const before = this.replaces ? [] : this.chosen;
    const isNew = ({ path, file }) => !before.some((other) =>
      other.path === path && other.file.size === file.size && other.file.lastModified === file.lastModified);
    const order = (a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
    this.chosen = [...before, ...visible.filter(isNew)].sort(order);
    this.show();
    this.onChange();
  }

  clear() {
    this.chosen = [];
    this.show();
  }

  show() {
    if (this.chosen.length === 0) {
      this.list.replaceChildren();
      return;
    }
    const size = this.chosen.reduce((sum, { file }) => sum + file.size, 0);
    const names = this.chosen.slice(0, NAMES_SHOWN_MAX).map(({ path }) => make("li", {}, path));
    if (this.chosen.length > NAMES_SHOWN_MAX) names.push(make("li", {}, "and so on"));
    const summary = make("summary", {}, `${counted(this.chosen.length, this.what)}, ${bytes(size)}`);
    this.list.replaceChildren(
      make("details", {}, summary, make("ul", {}, ...names)),
      make("button", { type: "button", class: "clear", onclick: () => this.clear() }, "Remove"),
    );
  }
}

function fromInput(file) {
  return { file, path: file.webkitRelativePath || file.name, isListed: !file.webkitRelativePath };
}

/** Whether a file in a directory is one that directories have for themselves, such as .git/config. */
function isHidden(path) {
  return path.split("/").some((part) => part.startsWith("."));
}

/** The files of a drop, with those in directories. */
async function dropped(transfer) {
  // The items are gone after the first await.
  const items = [...transfer.items].filter(({ kind }) => kind === "file");
  const entries = items.map((item) => ({ entry: item.webkitGetAsEntry?.(), file: item.getAsFile() }));
  const found = [];
  for (const { entry, file } of entries) {
    if (entry?.isDirectory) await walk(entry, found);
    else if (file) found.push({ file, path: file.name, isListed: true });
  }
  return found;
}

async function walk(directory, found) {
  const reader = directory.createReader();
  for (;;) {
    // A directory is read in parts; the last one is empty.
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return;
    for (const entry of part) {
      const path = entry.fullPath.replace(/^\//, "");
      if (isHidden(path)) continue;
      if (entry.isDirectory) {
        await walk(entry, found);
      } else {
        const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
        found.push({ file, path, isListed: false });
      }
    }
  }
}

/** A text without halves of surrogate pairs, which UTF-8 cannot say. */
export function wellFormed(text) {
  return text.toWellFormed ? text.toWellFormed() : new TextDecoder().decode(new TextEncoder().encode(text));
}

/** Files as parts of requests, each of at most so many bytes and files, or of one file that is larger. */
function* parcels(chosen) {
  let parcel = [];
  let size = 0;
  for (const one of chosen) {
    const isFull = size + one.file.size > PARCEL_BYTES_MAX || parcel.length === PARCEL_FILES_MAX;
    if (parcel.length > 0 && isFull) {
      yield parcel;
      parcel = [];
      size = 0;
    }
    parcel.push(one);
    size += one.file.size;
  }
  if (parcel.length > 0) yield parcel;
}

/**
 * Has the service read files, in any form that it knows; of an archive each file in it. Returns
 * `{ documents: [{ id, text, unseen, path, list, isListed }], skipped: [{ path, reason }] }`; an id is the path, and
 * unlike that of any other; `list` is the path of the list that a record is from.
 */
export async function readDocuments(chosen, { signal, say }) {
  const documents = [];
  const skipped = [];
  const ids = new Set();
  let done = 0;
  for (const parcel of parcels(chosen)) {
    signal.throwIfAborted();
    say(`Reading file ${done + 1} of ${chosen.length}.`);
    done += parcel.length;
    let answer = null;
    try {
      answer = await postFiles("v1/texts", parcel, signal);
    } catch (error) {
      // Of several files it is not known which one is too large, or cannot be read.
      if (signal.aborted || error.isDenied || !(error instanceof ServiceError)) throw error;
      if (parcel.length === 1) {
        skipped.push({ path: parcel[0].path, reason: error.message });
        continue;
      }
      for (const one of parcel) {
        const alone = await readDocuments([one], { signal, say: () => {} });
        documents.push(...alone.documents.map((found) => ({ ...found, id: unique(found.id, ids) })));
        skipped.push(...alone.skipped);
      }
      continue;
    }
    const isListed = new Map(parcel.map((one) => [one.path, one.isListed]));
    for (const { id, text, unseen, list } of answer.documents) {
      const found = { id: unique(id, ids), text: wellFormed(text), unseen, path: id, list };
      documents.push({ ...found, isListed: isListed.get(id) ?? true });
    }
    skipped.push(...(answer.left_out ?? []), ...(answer.unread_files ?? []));
    const unnamed = { path: "a file that is not named", reason: "too many were left out" };
    skipped.push(...Array(answer.not_read_more ?? 0).fill(unnamed));
  }
  return { documents, skipped };
}

function unique(path, ids) {
  let id = path;
  for (let number = 2; ids.has(id); number += 1) id = `${path} (${number})`;
  ids.add(id);
  return id;
}

/** What a reader of a text does not see, as clauses after its name. */
export function warningsOf(unseen) {
  const { hidden_characters: hidden = 0, mixed_words: mixed = 0 } = unseen ?? {};
  return [
    ...(hidden > 0 ? [`contains ${counted(hidden, "character")} that a reader does not see`] : []),
    ...(mixed > 0 ? [`contains ${counted(mixed, "word")} with letters of another script that look the same`] : []),
  ];
}

/** The same of several texts, as sentences; empty if a reader sees all. */
export function warned(texts) {
  return texts.flatMap(({ id, unseen }) => warningsOf(unseen).map((what) => ` ${id} ${what}.`)).join("");
}

/** What was left out, as a sentence; empty if nothing was. */
export function leftOut(skipped) {
  if (skipped.length === 0) return "";
  const more = skipped.length > 3 ? `; and ${count(skipped.length - 3)} more` : "";
  const named = skipped.slice(0, 3).map(({ path, reason }) => `${path}: ${reason}`);
  return ` ${counted(skipped.length, "file was", "files were")} left out: ${named.join("; ")}${more}.`;
}
