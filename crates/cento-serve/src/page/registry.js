// Registered texts, and those that overlap with a new one. Finkel et al. (2002), section 2.6.

import { postLinesForOne, batches, sentence } from "./api.js";
import { byId, count, counted, make } from "./dom.js";
import { Chooser, leftOut, readDocuments } from "./files.js";
import { makeTask } from "./task.js";

const SEPARATOR = " | ";
const ID_BYTES_MAX = 1024;
const BATCH_BYTES_MAX = 8 * 1024 * 1024;
const BATCH_DOCUMENTS_MAX = 500;
const IDS_SHOWN_MAX = 1000;

/** Sets up the part of the panel that registers; `afterwards` is done when there are more documents. */
export function setUpRegister(afterwards) {
  const form = byId("register-form");
  const run = makeTask(form, byId("register-status"), byId("register-run"));
  const files = new Chooser({
    inputs: [byId("register-files"), byId("register-directory")],
    target: form,
    list: byId("register-chosen"),
    onChange: showExample,
  });
  function showExample() {
    const name = files.chosen.length > 0 ? nameOf(files.chosen[0]) : "essay.txt";
    const [directory, person] = strings();
    byId("register-example").textContent =
      idOf(name, directory || "directory name", person || "personal identification string");
  }
  byId("register-person").addEventListener("input", showExample);
  byId("register-name").addEventListener("input", showExample);
  showExample();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run((task) => register(files, task, afterwards));
  });
}

/** Says on the registration form what this index keeps. */
export function tellWhatIsKept({ stores_text: storesText }) {
  byId("register-warning").hidden = !storesText;
  byId("register-no-text").hidden = storesText;
}

/** Without control characters, which would make an id unreadable, and spaces around it. */
function cleaned(text) {
  return text.replace(/\p{Cc}+/gu, " ").trim();
}

function strings() {
  return [cleaned(byId("register-name").value), cleaned(byId("register-person").value)];
}

/** A file's name; in a directory, without that of the directory, which the reader gives. */
function nameOf({ path, isListed }) {
  return cleaned(isListed ? path : path.split("/").slice(1).join("/") || path);
}

function idOf(name, directory, person) {
  return [name, directory, person].join(SEPARATOR);
}

/** What will be registered, or a sentence that says why it cannot be. */
function records(documents, directory, person) {
  const ids = new Set();
  const found = [];
  for (const document of documents) {
    const id = idOf(nameOf(document), directory, person);
    if (new TextEncoder().encode(id).length > ID_BYTES_MAX) {
      return { problem: `An id has at most ${count(ID_BYTES_MAX)} bytes; that of ${document.path} is longer. Take shorter strings.` };
    }
    if (ids.has(id)) {
      return { problem: `Two of the files would have the id ${id}. Register them one after the other, with other directory names.` };
    }
    ids.add(id);
    found.push({ id, text: document.text, meta: { directory, registered: true } });
  }
  return { found };
}

async function register(files, { signal, say }, afterwards) {
  const status = byId("register-status");
  byId("register-result").hidden = true;
  const [directory, person] = strings();
  if (!directory || !person) {
    status.textContent = "Enter a personal identification string and a directory name.";
    return;
  }
  const { documents, skipped } = await readDocuments(files.chosen, { signal, say });
  if (documents.length === 0) {
    status.textContent = `Choose at least one file with text.${leftOut(skipped)}`;
    return;
  }
  const { found, problem } = records(documents, directory, person);
  if (problem) {
    status.textContent = problem;
    return;
  }
  const sum = { added: 0, replaced: 0, unchanged: 0, ids: [], errors: [] };
  try {
    for (const batch of batches(found, (record) => record, BATCH_BYTES_MAX, BATCH_DOCUMENTS_MAX)) {
      say(`Registering: ${count(sum.ids.length)} of ${count(found.length)} files are done.`);
      const answer = await postLinesForOne("v1/documents?commit=wait", batch.lines, signal);
      for (const name of ["added", "replaced", "unchanged"]) sum[name] += answer[name];
      const wrong = new Map((answer.errors ?? []).map(({ line, message }) => [line, message]));
      batch.values.forEach(({ id }, index) => {
        if (wrong.has(index + 1)) sum.errors.push(`${id}: ${sentence(wrong.get(index + 1))}`);
        else sum.ids.push(id);
      });
    }
  } finally {
    showRegistered(sum);
    await afterwards();
  }
  const errors = sum.errors.length === 0 ? "" : ` Not registered: ${sum.errors.slice(0, 3).join(" ")}`;
  status.textContent = `${counted(sum.added, "file is", "files are")} new on record, `
    + `${count(sum.replaced)} replaced, ${count(sum.unchanged)} unchanged.${leftOut(skipped)}${errors}`;
}

function showRegistered({ ids }) {
  byId("register-result").hidden = ids.length === 0;
  const shown = ids.slice(0, IDS_SHOWN_MAX).map((id) => make("li", {}, id));
  if (ids.length > IDS_SHOWN_MAX) shown.push(make("li", {}, "and so on"));
  byId("register-ids").replaceChildren(...shown);
}
