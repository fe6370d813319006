// Documents on record that overlap with the files. Finkel et al. (2002), section 2.6.

import { batches, post, postLinesForEach, sentence, storedDocument } from "./api.js";
import { byId, count, make, percent, shortNames } from "./dom.js";
import { Chooser, leftOut, readDocuments } from "./files.js";
import { PairsView, pairColumns } from "./pairs.js";
import { clearSides, showSides } from "./sides.js";
import { fillTable, markChosen } from "./table.js";
import { makeLatest, makeTask } from "./task.js";

const PAIRS_MAX = 20;
const HITS_MAX = 20;
const BATCH_BYTES_MAX = 8 * 1024 * 1024;
// Small enough for progress to be seen, and for no request to take long.
const BATCH_SEARCHES_MAX = 100;

/** Sets up the part of the panel that verifies. */
export function setUpVerify() {
  const form = byId("verify-form");
  const root = byId("verify-side-by-side");
  const latest = makeLatest(root);
  const run = makeTask(form, byId("verify-status"), byId("verify-run"));
  const files = new Chooser({
    inputs: [byId("verify-choose"), byId("verify-directory")],
    target: form,
    list: byId("verify-chosen"),
  });
  const view = new PairsView({
    root: byId("verify-pairs-view"),
    prefix: "verify",
    hint: "Circles are your files, squares are documents on record. ",
    caption: "Shared text, most first",
    columns: pairColumns(["File", "On record"],
      { ofA: (pair) => pair.containment_of_a, ofB: (pair) => pair.containment_of_b }),
    onChoose: async (pair, isFirst) => {
      await latest((signal) => showPair(root, pair, signal));
      if (!isFirst) root.scrollIntoView({ block: "nearest" });
    },
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run((task) => verify(files, view, task));
  });
}

/** Twice what both texts have over what each has, from their resemblance. */
function symmetric({ resemblance }) {
  return (2 * resemblance) / (1 + resemblance);
}

async function verify(files, view, { signal, say }) {
  const status = byId("verify-status");
  byId("verify-results").hidden = true;
  clearSides(byId("verify-side-by-side"));
  const { documents, skipped } = await readDocuments(files.chosen, { signal, say });
  if (documents.length === 0) {
    status.textContent = `Choose at least one file with text.${leftOut(skipped)}`;
    return;
  }
  const filter = byId("verify-registered").checked ? { filter: "registered:true" } : {};
  const toSearch = ({ text }) => ({ text, limit: HITS_MAX, ...filter });
  const found = [];
  const refused = [...skipped];
  for (const batch of batches(documents, toSearch, BATCH_BYTES_MAX, BATCH_SEARCHES_MAX)) {
    say(`Searching: ${count(found.length)} of ${count(documents.length)} files are done.`);
    const answers = await postLinesForEach("v1/search", batch.lines, signal);
    batch.values.forEach((document, index) => {
      const answer = answers[index];
      if (answer?.error) refused.push({ path: document.id, reason: sentence(answer.error.message) });
      else if (answer) found.push({ document, answer });
    });
  }
  const overlapping = show(found, view);
  status.textContent = `${count(overlapping)} of ${count(found.length)} files share text with documents on record.`
    + leftOut(refused);
}

/** How many documents on record overlap, as far as they were asked for. */
function overlapsOf({ pairs, global }) {
  if (global === null) return "";
  return `${count(pairs.length)}${pairs.length === HITS_MAX ? " or more" : ""}`;
}

/** Shows what was found, and returns how many files overlap with anything. */
function show(found, view) {
  const records = new Map();
  const record = (id) => {
    if (!records.has(id)) records.set(id, { name: id, kind: "registered" });
    return records.get(id);
  };
  const queries = found.map(({ document, answer }) => {
    const a = { name: document.id, kind: "file", text: document.text };
    const pairs = answer.hits
      .map((hit) => ({ ...hit, a, b: record(hit.id), symmetric: symmetric(hit) }))
      .sort((one, other) => other.symmetric - one.symmetric);
    // Any document has at least as much as one of them; both numbers are estimates.
    const global = Math.max(answer.query.global, ...pairs.map(({ containment_of_a: one }) => one));
    return { name: document.id, global, pairs };
  });
  const all = queries.flatMap(({ pairs }) => pairs).sort((one, other) => other.symmetric - one.symmetric);
  queries.sort((one, other) => other.global - one.global);
  // The first row stands for all files together.
  const every = { name: "All files together", pairs: all.slice(0, PAIRS_MAX), global: null };
  const table = byId("verify-files");
  const choose = (query, line) => {
    markChosen(table, line);
    clearSides(byId("verify-side-by-side"));
    view.show(query.pairs);
    byId("verify-pairs-view").hidden = query.pairs.length === 0;
  };
  const short = shortNames(queries.map(({ name }) => name));
  const shortRecords = shortNames([...records.keys()]);
  const rows = fillTable(table, [
    { title: "Your files", text: ({ name }) => short.get(name) ?? name, full: ({ name }) => name, chooses: true },
    {
      title: "Found on record", value: ({ global }) => global ?? 0, sorted: true, isNumber: true,
      text: ({ global }) => (global === null ? "" : percent(global)),
    },
    { title: "In documents", text: overlapsOf, value: ({ pairs }) => pairs.length, isNumber: true },
    {
      title: "Most in", full: ({ pairs }) => pairs[0]?.b.name,
      text: ({ pairs }) => shortRecords.get(pairs[0]?.b.name) ?? "",
    },
  ], [every, ...queries], {
    attributes: ({ name, global }) => ({ class: global === null ? "every" : "file", "data-id": global !== null && name }),
    onChoose: choose,
    pinned: ({ global }) => global === null,
  });
  byId("verify-results").hidden = false;
  choose(every, rows.get(every));
  // The forms above fill a screen.
  byId("verify-results").scrollIntoView({ block: "start" });
  return queries.filter(({ pairs }) => pairs.length > 0).length;
}

async function showPair(root, { a, b }, signal) {
  if (root.hidden) {
    root.hidden = false;
    root.replaceChildren(make("p", { class: "loading" }, "Fetching the texts."));
  }
  const [{ passages }, stored] = await Promise.all([
    post("v1/passages", { text: a.text, hit: b.name }, signal),
    storedDocument(b.name, signal),
  ]);
  showSides(root, { title: a.name, text: a.text }, { title: b.name, ...stored }, passages);
}
