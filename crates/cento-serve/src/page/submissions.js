// Submissions: documents of several files, where their text is from, and their place in the index.

import { batches, post, postLinesForOne, sentence } from "./api.js";
import { byId, count, counted, make, percent, shortNames } from "./dom.js";
import { fillTable, markChosen } from "./table.js";

const BATCH_BYTES_MAX = 8 * 1024 * 1024;
const BATCH_DOCUMENTS_MAX = 500;

const UNITS = {
  directory: "all files of a directory or archive are one submission",
  archive: "all files of an archive are one submission",
};

/** The unit of a submission that the reader chose; null if the names are to decide. */
export function chosenUnit() {
  const unit = byId("pairs-by").value;
  return unit === "pattern" ? byId("pairs-pattern").value.trim() : unit || null;
}

/** Shows the field of the pattern if that is chosen. */
export function setUpUnit() {
  const show = () => {
    byId("pairs-pattern-label").hidden = byId("pairs-by").value !== "pattern";
    byId("pairs-pattern").required = byId("pairs-by").value === "pattern";
  };
  byId("pairs-by").addEventListener("change", show);
  show();
}

function bytesOf(text) {
  return new TextEncoder().encode(text).length;
}

/**
 * Makes documents of the files that were read. Returns `{ by, said, documents, leftOut }`; a document is
 * `{ id, text, unseen, parts, meta }`, `parts` with `{ name, start, text }`, or none of a document that
 * is one file.
 */
export async function groupFiles(files, by, signal) {
  const names = [...new Set(files.filter(({ list }) => !list).map(({ id }) => id))];
  const answer = by === "file" ? { by } : await post("v1/grouping", { names, ...(by ? { by } : {}) }, signal);
  if (answer.by === "file") return { by: "file", documents: files.map((file) => ({ ...file, parts: [] })), leftOut: [] };
  const byName = new Map(files.map((file) => [file.id, file]));
  const documents = answer.documents.map(({ id, parts: members, meta = {} }) => {
    const parts = [];
    let start = 0;
    const unseen = { hidden_characters: 0, mixed_words: 0 };
    for (const { name, file } of members) {
      const { text, unseen: own } = byName.get(names[file]);
      parts.push({ name, start, text });
      start += bytesOf(text) + 1;
      for (const kind of Object.keys(unseen)) unseen[kind] += own?.[kind] ?? 0;
    }
    return { id, parts, meta, unseen, text: parts.map(({ text }) => text).join("\n") };
  });
  const lists = [...new Set(files.flatMap(({ list }) => list ?? []))];
  const leftOut = lists.map((path) => ({ path, reason: "it is a list of records, and no part of a submission" }));
  return { by: answer.by, said: answer.said, documents, leftOut: [...leftOut, ...(answer.left_out ?? [])] };
}

/** What one submission is, as a sentence. */
export function unitSaid({ by, said }) {
  if (by === "file") return "";
  return ` ${sentence(said ?? UNITS[by] ?? `the pattern ${by} tells submissions apart`)}`;
}

/** The id under which a document is filed: the term, and its name without what all names begin with. */
export function withTerm(documents, term) {
  if (!term) return documents;
  const short = commonless(documents.map(({ id }) => id));
  return documents.map((document) => ({ ...document, id: `${term}/${short(document.id)}` }));
}

/** Names without the directory or archive that all are in. */
function commonless(ids) {
  const heads = ids.map((id) => id.split("/").slice(0, -1));
  const first = heads[0] ?? [];
  let common = 0;
  while (common < first.length && heads.every((head) => head[common] === first[common])) common += 1;
  return (id) => id.split("/").slice(common).join("/");
}

/** A document as the service takes it. */
export function bodyOf({ id, text, parts, meta }, more = {}) {
  const all = { ...meta, ...more };
  const own = parts.length > 0 ? { parts: parts.map(({ name, text: of }) => ({ name, text: of })) } : { text };
  return { id, ...own, ...(Object.keys(all).length > 0 ? { meta: all } : {}) };
}

/**
 * Shows what each submission has from where. `onChoose` takes the pairs of the chosen one, or all of them.
 */
export function showSources({ sources, pairs, documents, hasIndex }, onChoose) {
  byId("pairs-class").hidden = sources.length === 0;
  byId("pairs-class-files").hidden = true;
  if (sources.length === 0) {
    onChoose(pairs);
    return;
  }
  const ofDocument = new Map(documents.map((document) => [document.id, document]));
  const rows = sources.map((source) => {
    const own = pairs.filter(({ a, b }) => [a, b].some((side) => side.kind === "file" && side.name === source.document));
    const [best] = own;
    const other = best && (best.a.name === source.document && best.a.kind === "file" ? best.b : best.a);
    return { ...source, pairs: own, best, other: other?.name ?? "" };
  });
  const every = { document: "All submissions", pairs, isEvery: true };
  const table = byId("pairs-sources");
  const short = shortNames(rows.map(({ document }) => document));
  const share = (title, name) => ({
    title, isNumber: true, value: (row) => (row[name] ?? 0) / Math.max(row.tokens ?? 0, 1),
    text: (row) => (row.isEvery ? "" : percent(row[name] / Math.max(row.tokens, 1)) + (name === "new" && !row.complete ? "*" : "")),
  });
  const lines = fillTable(table, [
    { title: "Submission", text: ({ document }) => short.get(document) ?? document, full: ({ document }) => document, chooses: true },
    { title: "Words", isNumber: true, value: ({ tokens }) => tokens ?? 0, text: ({ tokens, isEvery }) => (isEvery ? "" : count(tokens)) },
    share("New", "new"),
    ...(hasIndex ? [share("Known before", "known")] : []),
    share("Shared in this class", "shared"),
    ...(rows.some(({ boilerplate }) => boilerplate > 0) ? [share("Excluded", "boilerplate")] : []),
    { title: "Most alike", text: ({ other = "", best }) => (best ? `${other}, ${percent(best.symmetric)}` : ""), value: ({ best }) => best?.symmetric ?? 0 },
  ], [every, ...rows], {
    attributes: ({ document, isEvery }) => ({ class: isEvery ? "every" : "submission", "data-id": !isEvery && document }),
    pinned: ({ isEvery }) => isEvery === true,
    onChoose: (row, line) => {
      markChosen(table, line);
      showFilesOf(row.isEvery ? null : ofDocument.get(row.document));
      onChoose(row.pairs);
    },
  });
  markChosen(table, lines.get(every));
  onChoose(pairs);
}

/** Names the files of a submission. */
function showFilesOf(document) {
  const said = byId("pairs-class-files");
  said.hidden = !document || document.parts.length === 0;
  if (said.hidden) return;
  const names = document.parts.map(({ name, text }) => `${name} (${counted(text.split("\n").length - text.endsWith("\n"), "line")})`);
  said.replaceChildren(make("strong", {}, document.id), `: ${names.join(", ")}`);
}

/** Adds submissions to the index, and returns what became of them, as a sentence. */
export async function fileSubmissions(documents, term, { signal, say }) {
  const named = withTerm(documents, term);
  const sum = { added: 0, replaced: 0, unchanged: 0, done: 0, errors: [] };
  for (const batch of batches(named, (one) => bodyOf(one, { term }), BATCH_BYTES_MAX, BATCH_DOCUMENTS_MAX)) {
    say(`Adding: ${count(sum.done)} of ${count(named.length)} are done.`);
    const answer = await postLinesForOne("v1/documents?commit=wait", batch.lines, signal);
    for (const name of ["added", "replaced", "unchanged"]) sum[name] += answer[name];
    for (const { line, message } of answer.errors ?? []) sum.errors.push(`${batch.values[line - 1].id}: ${sentence(message)}`);
    sum.done += batch.values.length;
  }
  const errors = sum.errors.length === 0 ? "" : ` Not added: ${sum.errors.join(" ")}`;
  return `${counted(sum.added, "submission")} added to the index as ${term}/\u2026, ${count(sum.replaced)} replaced, ${count(sum.unchanged)} unchanged.${errors}`;
}
