// The search for documents that share text with one or more texts.

import { post, postForFile, storedDocument } from "./api.js";
import { byId, count, counted, duration, make, percent, saveFile, shortNames } from "./dom.js";
import { Chooser, leftOut, readDocuments, warned, wellFormed } from "./files.js";
import { clearSides, showSides } from "./sides.js";
import { fillTable, markChosen } from "./table.js";
import { makeLatest, makeTask } from "./task.js";
import { shareInPassages } from "./text.js";
import { showTraced } from "./traced.js";

/** The carriers of each part of a text that are named beside the best and the first. */
const CARRIERS = 5;

/** Sets up the panel. */
export function setUpSearch() {
  const panel = byId("panel-search");
  const form = byId("search-form");
  const field = byId("search-text");
  const run = makeTask(panel, byId("search-status"), byId("search-run"));
  const latest = makeLatest(byId("side-by-side"));
  const saveReport = makeTask(byId("search-results"), byId("search-status"), byId("search-report"));
  byId("search-report-form").addEventListener("submit", (event) => {
    event.preventDefault();
    saveReport((task) => exportReport(task));
  });
  const start = () => run((task) => search(chooser, task, latest));
  const chooser = new Chooser({
    inputs: [byId("search-files")],
    target: panel,
    list: byId("search-chosen"),
    replaces: true,
    onChange: () => {
      field.value = "";
      if (form.reportValidity()) start();
    },
  });
  // There is one thing to search for: the text, or the files.
  field.addEventListener("input", () => {
    if (field.value !== "") chooser.clear();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    start();
  });
}

function options() {
  const filter = byId("search-filter").value.trim();
  const minPassage = byId("search-min-passage").value;
  const limit = byId("search-limit").value;
  const show = byId("search-show").value;
  return {
    min_containment: Number(byId("search-containment").value) / 100,
    // Without a limit the hits are all documents with passages, which the service looks for.
    passages: true,
    ...(limit !== "" && { limit: Number(limit) }),
    ...(filter && { filter }),
    ...(minPassage !== "" && { min_passage: Number(minPassage) }),
    // Without a rank the preset of the index decides.
    ...(show === "trace" ? { goal: "trace", carriers: CARRIERS } : show !== "" && { rank: show }),
  };
}

async function search(chooser, { signal, say }, latest) {
  clearSides(byId("side-by-side"));
  byId("search-results").hidden = true;
  const pasted = byId("search-text").value;
  const { documents, skipped } = pasted !== ""
    ? { documents: [{ id: "Your text", text: wellFormed(pasted) }], skipped: [] }
    : await readDocuments(chooser.chosen, { signal, say });
  const status = byId("search-status");
  if (documents.length === 0) {
    status.textContent = `There is no text to search for.${leftOut(skipped)}`;
    return;
  }
  const wanted = options();
  const found = [];
  for (const [index, { id, text, unseen }] of documents.entries()) {
    say(documents.length > 1 ? `Searching for file ${index + 1} of ${documents.length}.` : "Searching.");
    const answer = await post("v1/search", { text, ...wanted }, signal);
    const told = unseen ?? answer.query.unseen;
    const shareOf = (hits) =>
      shareInPassages(text, hits.flatMap(({ passages }) => passages ?? []), answer.query.tokens);
    for (const hit of answer.hits) hit.share = shareOf([hit]);
    const reused = answer.trace?.reused ?? shareOf(answer.hits);
    found.push({ id, text, unseen: told, answer, reused, wanted, minPassage: wanted.min_passage ?? 1 });
  }
  byId("search-results").hidden = false;
  status.textContent = `${leftOut(skipped)}${warned(found)}`.trim();
  showQueries(found, latest);
}

/** Lists the texts, with most text found first. */
function showQueries(found, latest) {
  const table = byId("search-queries");
  byId("search-form").classList.add("has-results");
  byId("search-queries-view").hidden = found.length === 1;
  const inOrder = found.toSorted((a, b) => b.reused - a.reused);
  const short = shortNames(found.map(({ id }) => id));
  const choose = (query, line) => {
    markChosen(table, line);
    showAnswer(query, latest);
  };
  const rows = fillTable(table, [
    { title: "Your files", text: ({ id }) => short.get(id), full: ({ id }) => id, chooses: true },
    { title: "Text found", text: ({ reused }) => percent(reused), value: ({ reused }) => reused, isNumber: true, sorted: true },
    { title: "Documents", text: ({ answer }) => hitsOf(answer), value: ({ answer }) => answer.hits.length, isNumber: true },
  ], inOrder, {
    attributes: ({ id }) => ({ class: "query", "data-id": id }),
    onChoose: choose,
  });
  choose(inOrder[0], rows.get(inOrder[0]));
}

/** The number of hits that are shown, and of how many: "10 of 34", or "10+" if that is not known. */
function hitsOf(answer) {
  const shown = count(answer.hits.length);
  if (!answer.more) return shown;
  return answer.total === undefined ? `${shown}+` : `${shown} of ${count(answer.total)}`;
}

/** Says that hits were left out, if so. */
function leftOutBy(limit, { hits, more, total }) {
  if (!more) return "";
  if (hits.length < limit) return " Further documents were not looked at for passages.";
  return total === undefined
    ? " There are more: raise the maximum number of documents."
    : ` ${count(hits.length)} of ${count(total)} are shown: raise the maximum number of documents.`;
}

function summary({ answer, reused, wanted }) {
  const { tokens, stopped } = answer.query;
  const found = answer.hits.length === 0
    ? "No document shares enough text with this."
    // The carriers of a trace are beside its parts.
    : answer.trace ? "" : `${counted(answer.hits.length, "document shares", "documents share")} text with this.`;
  const more = leftOutBy(wanted.limit, answer);
  const incomplete = answer.complete === false ? " The search was cut short; documents may be missing." : "";
  const common = stopped === 0 ? "" : " Runs of words that very many documents have were not looked up.";
  return `${found}${more} ${shares(answer.trace, reused)}${incomplete}${common}`.trim()
    + ` ${counted(tokens, "word")}, searched in ${duration(answer.took_us)}.`;
}

/** The shares of a text: those of its trace, or the share in passages. */
function shares(trace, reused) {
  if (trace === undefined) return `${percent(reused)} of it is in shared passages.`;
  const spans = counted(trace.spans.length, "part");
  return `Of your text ${percent(trace.reused)} is reused, ${percent(trace.common)} common, `
    + `${percent(trace.cited)} cited and ${percent(trace.new)} new, in ${spans}.`;
}

let shown = null;

/** Saves the report of the document whose hits are shown. */
async function exportReport({ signal, say }) {
  const { id, text, wanted } = shown;
  say("Making the report.");
  const without = ["quotations", "bibliography"].filter((part) => byId(`search-without-${part}`).checked);
  const file = await postForFile("v1/report", { name: id, search: { text, ...wanted, without } }, signal);
  saveFile(file, "report.html");
  byId("search-status").textContent = "The report has been saved as report.html.";
}

function showAnswer(query, latest) {
  const { answer } = query;
  shown = query;
  byId("search-report-form").hidden = answer.hits.length === 0;
  const root = byId("side-by-side");
  byId("search-summary").textContent = summary(query);
  const traced = byId("search-traced");
  traced.hidden = true;
  const table = byId("search-hits");
  byId("search-hits-view").hidden = answer.hits.length === 0;
  table.caption.textContent = answer.trace
    ? "Documents that together have most of your text"
    : "Documents with the same text";
  clearSides(root);
  const has = (name) => answer.hits.some((hit) => hit[name] !== undefined);
  const choose = (hit, line) => {
    markChosen(table, line);
    return latest((signal) => showHit(query, hit, signal));
  };
  if (answer.trace) {
    showTraced(traced, { title: query.id, text: query.text }, answer.trace, async (carrier) => {
      markChosen(table, null);
      await latest((signal) => showHit(query, carrier, signal));
      root.scrollIntoView({ block: "nearest" });
    });
  }
  // A trace and the other ranks have an order of their own.
  const rank = query.wanted.rank ?? answer.defaults?.rank ?? "overlap";
  const isByShare = query.wanted.goal !== "trace" && rank === "overlap";
  const hits = isByShare
    ? answer.hits.toSorted((a, b) => b.share - a.share)
    : answer.hits;
  const short = shortNames(hits.map(({ id }) => id));
  const number = (title, value, text, sorted) =>
    ({ title, value, text: (hit) => text(value(hit)), isNumber: true, sorted });
  const rows = fillTable(table, [
    { title: "Document", text: ({ id }) => short.get(id), full: ({ id }) => id, chooses: true },
    number("Of your text", (hit) => hit.share, percent, isByShare),
    number("Of the document", (hit) => hit.containment_of_b, percent),
    { title: "Shared by both", text: resemblance, value: (hit) => hit.resemblance, isNumber: true },
    ...(has("weighted") ? [
      number("Rare words of your text", ({ weighted }) => weighted.containment_of_a, percent),
      number("Rare words of both", ({ weighted }) => weighted.resemblance, percent),
    ] : []),
    ...(has("passage_tokens") ? [number("Words in passages", (hit) => hit.passage_tokens ?? 0, count)] : []),
    ...(has("adds") ? [number("Adds", ({ adds }) => adds ?? 0, count)] : []),
  ], hits, {
    attributes: ({ id }) => ({ class: "hit", "data-id": id }),
    onChoose: async (hit, line) => {
      await choose(hit, line);
      root.scrollIntoView({ block: "nearest" });
    },
  });
  // A trace shows the passages itself.
  if (hits.length > 0 && !answer.trace) choose(hits[0], rows.get(hits[0]));
}

/** The share of the runs of words of both, with its standard error if it is an estimate. */
function resemblance({ resemblance: value, exact, standard_error: error }) {
  return exact || error === undefined ? percent(value) : `${percent(value)} \u00b1 ${(100 * error).toFixed(1)}`;
}

async function showHit({ id, text, minPassage }, hit, signal) {
  const root = byId("side-by-side");
  if (root.hidden) {
    root.hidden = false;
    root.replaceChildren(make("p", { class: "loading" }, "Fetching the texts."));
  }
  // The texts of all hits together may be large, so each is fetched when it is chosen.
  const [{ passages }, stored] = await Promise.all([
    post("v1/passages", { text, hit: hit.id }, signal),
    storedDocument(hit.id, signal),
  ]);
  const long = passages.filter(({ tokens }) => tokens >= minPassage);
  showSides(root, { title: id, text }, { title: hit.id, ...stored }, long);
}
