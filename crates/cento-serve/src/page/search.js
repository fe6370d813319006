// Which documents share text with this one?

import { post, postForFile, storedText } from "./api.js";
import { byId, count, counted, duration, make, saveFile, share } from "./dom.js";
import { Chooser, leftOut, readDocuments, warned, wellFormed } from "./files.js";
import { clearSides, showSides } from "./sides.js";
import { fillTable, markChosen } from "./table.js";
import { makeLatest, makeTask } from "./task.js";

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
  // A cover has an order of its own.
  const cover = byId("search-cover");
  const tellRank = () => {
    byId("search-rank").disabled = cover.checked;
  };
  cover.addEventListener("change", tellRank);
  tellRank();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    start();
  });
}

function options() {
  const filter = byId("search-filter").value.trim();
  const minPassage = byId("search-min-passage").value;
  const limit = byId("search-limit").value;
  const isCover = byId("search-cover").checked;
  return {
    min_containment: Number(byId("search-containment").value),
    // Without a limit the hits are all documents with passages, which the service looks for.
    ...(limit === "" ? { passages: true } : { limit: Number(limit) }),
    ...(filter && { filter }),
    ...(minPassage !== "" && { min_passage: Number(minPassage) }),
    ...(isCover ? { goal: "cover" } : { rank: byId("search-rank").value }),
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
    found.push({ id, text, unseen: told, answer, wanted, minPassage: wanted.min_passage ?? 1 });
  }
  byId("search-results").hidden = false;
  status.textContent = `${leftOut(skipped)}${warned(found)}`.trim();
  showQueries(found, latest);
}

function showQueries(found, latest) {
  const table = byId("search-queries");
  byId("search-queries-box").hidden = found.length === 1;
  fillTable(table, [
    { title: "File", text: ({ id }) => id, chooses: true },
    { title: "Hits", text: ({ answer }) => hitsOf(answer), isNumber: true },
    { title: "Best containment", text: ({ answer }) => best(answer.hits), isNumber: true },
    { title: "Global similarity", text: ({ answer }) => share(answer.query.global), isNumber: true },
  ], found, {
    attributes: ({ id }) => ({ class: "query", "data-id": id }),
    onChoose: (query, line) => {
      markChosen(table, line);
      showAnswer(query, latest);
    },
  });
  markChosen(table, table.querySelector("tbody tr"));
  showAnswer(found[0], latest);
}

function best(hits) {
  return hits.length === 0 ? "-" : share(Math.max(...hits.map((hit) => hit.containment_of_query)));
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
    ? " There are more: raise the maximum number of hits."
    : ` ${count(hits.length)} of ${count(total)} are shown: raise the maximum number of hits.`;
}

function summary({ answer, wanted }) {
  const { tokens, fingerprints, stopped, global } = answer.query;
  const parts = [
    counted(tokens, "token"),
    counted(fingerprints, "fingerprint"),
    `${count(stopped)} stopped`,
    `global similarity ${share(global)}`,
    duration(answer.took_us),
  ];
  const hits = answer.hits.length === 0
    ? "No document shares enough text with this."
    : `${counted(answer.hits.length, "hit")}.`;
  const explained = answer.explained === undefined
    ? ""
    : ` Together they explain ${share(answer.explained)} of the text.`;
  const incomplete = answer.complete === false ? " The search was cut short; hits may be missing." : "";
  const more = leftOutBy(wanted.limit, answer);
  return `${hits}${more}${explained}${incomplete} ${parts.join(", ")}.`;
}

let shown = null;

/** Saves the report of the document whose hits are shown. */
async function exportReport({ signal, say }) {
  const { id, text, wanted } = shown;
  say("Making the report.");
  const file = await postForFile("v1/report", {
    name: id,
    search: { text, ...wanted },
    exclude_quotations: byId("search-exclude-quotations").checked,
    exclude_bibliography: byId("search-exclude-bibliography").checked,
  }, signal);
  saveFile(file, "report.html");
  byId("search-status").textContent = "The report has been saved as report.html.";
}

function showAnswer(query, latest) {
  const { answer } = query;
  shown = query;
  byId("search-report-form").hidden = answer.hits.length === 0;
  const root = byId("side-by-side");
  byId("search-summary").textContent = summary(query);
  const table = byId("search-hits");
  table.parentElement.hidden = answer.hits.length === 0;
  clearSides(root);
  const has = (name) => answer.hits.some((hit) => hit[name] !== undefined);
  const choose = (hit, line) => {
    markChosen(table, line);
    return latest((signal) => showHit(query, hit, signal));
  };
  fillTable(table, [
    { title: "Document", text: ({ id }) => id, chooses: true },
    { title: "Of your text", text: (hit) => share(hit.containment_of_query), isNumber: true },
    { title: "Of the document", text: (hit) => share(hit.containment_of_hit), isNumber: true },
    { title: "Resemblance", text: resemblance, isNumber: true },
    { title: "Overlap", text: ({ overlap }) => count(overlap), isNumber: true },
    ...(has("weighted") ? [
      { title: "Weighted containment", text: ({ weighted }) => share(weighted.containment_of_query), isNumber: true },
      { title: "Weighted resemblance", text: ({ weighted }) => share(weighted.resemblance), isNumber: true },
    ] : []),
    ...(has("passage_tokens")
      ? [{ title: "In passages", text: (hit) => count(hit.passage_tokens ?? 0), isNumber: true }] : []),
    ...(has("adds") ? [{ title: "Adds", text: ({ adds }) => count(adds ?? 0), isNumber: true }] : []),
  ], answer.hits, {
    attributes: ({ id }) => ({ class: "hit", "data-id": id }),
    onChoose: async (hit, line) => {
      await choose(hit, line);
      root.scrollIntoView({ block: "nearest" });
    },
  });
  if (answer.hits.length > 0) choose(answer.hits[0], table.querySelector("tbody tr"));
}

/** The resemblance of the texts, with its standard error if it is an estimate. */
function resemblance({ resemblance: value, exact, standard_error: error }) {
  return exact || error === undefined ? share(value) : `${share(value)} \u00b1 ${error.toFixed(3)}`;
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
    storedText(hit.id, signal),
  ]);
  const long = passages.filter(({ tokens }) => tokens >= minPassage);
  showSides(root, { title: id, text }, { title: hit.id, text: stored }, long);
}
