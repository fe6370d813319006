// Pairs of files that share most text. The pairwise test of Finkel et al. (2002), section 2.6.

import { post, postForFile } from "./api.js";
import { byId, count, make, saveFile } from "./dom.js";
import { Chooser, leftOut, readDocuments, warned, warningsOf } from "./files.js";
import { PairsView, pairColumns } from "./pairs.js";
import { clearSides, showSides } from "./sides.js";
import { makeLatest, makeTask } from "./task.js";

/** Sets up the panel. */
export function setUpPairs() {
  const panel = byId("panel-pairs");
  const root = byId("pairs-side-by-side");
  const latest = makeLatest(root);
  const run = makeTask(panel, byId("pairs-status"), byId("pairs-run"));
  const files = new Chooser({
    inputs: [byId("pairs-files"), byId("pairs-directory")],
    target: panel,
    list: byId("pairs-chosen"),
  });
  const boilerplate = new Chooser({
    inputs: [byId("pairs-boilerplate")],
    list: byId("pairs-boilerplate-chosen"),
    what: "file of boilerplate",
    replaces: true,
  });
  const view = new PairsView({
    root: byId("pairs-results"),
    prefix: "pairs",
    caption: "The most similar pairs",
    columns: pairColumns(["First file", "Second file"],
      { ofA: (pair) => pair.containment_of_a, ofB: (pair) => pair.containment_of_b }),
    onChoose: async (pair, isFirst) => {
      await latest((signal) => showPair(root, pair, signal));
      if (!isFirst) root.scrollIntoView({ block: "nearest" });
    },
  });
  byId("pairs-form").addEventListener("submit", (event) => {
    event.preventDefault();
    run((task) => compareAll(files, boilerplate, view, task));
  });
  const reportForm = byId("pairs-report-form");
  const saveReport = makeTask(reportForm, byId("pairs-status"), byId("pairs-report"));
  reportForm.addEventListener("submit", (event) => {
    event.preventDefault();
    saveReport((task) => exportReport(task));
  });
}

/** The request whose pairs are shown, what could not be read for it, and what a reader does not see. */
let shown = null;
let unread = [];
let warnings = [];

/** Saves the report of the pairs that are shown. */
async function exportReport({ signal, say }) {
  say("Making the report.");
  const anonymous = byId("pairs-anonymous").checked;
  const file = await postForFile("v1/pairs/report", { pairs: shown, anonymous, not_compared: unread, warnings }, signal);
  saveFile(file, "report.html");
  byId("pairs-status").textContent = "The report has been saved as report.html.";
}

async function compareAll(files, boilerplate, view, { signal, say }) {
  const status = byId("pairs-status");
  const results = byId("pairs-results");
  results.hidden = true;
  byId("pairs-report-form").hidden = true;
  clearSides(byId("pairs-side-by-side"));
  const { documents, skipped } = await readDocuments(files.chosen, { signal, say });
  const handedOut = await readDocuments(boilerplate.chosen, { signal, say });
  const notRead = [...skipped, ...handedOut.skipped];
  if (documents.length < 2) {
    status.textContent = `Choose at least two files with text.${leftOut(notRead)}`;
    return;
  }
  say(`Comparing ${count(documents.length)} files.`);
  shown = {
    documents: documents.map(({ id, text }) => ({ id, text })),
    boilerplate: handedOut.documents.map(({ text }) => text),
    limit: Number(byId("pairs-limit").value),
  };
  const answer = await post("v1/pairs", shown, signal);
  const vertices = new Map(documents.map(({ id, text }) => [id, { name: id, kind: "file", text }]));
  const pairs = answer.pairs.map((pair) => ({ ...pair, a: vertices.get(pair.a), b: vertices.get(pair.b) }));
  unread = notRead.map(({ path, reason }) => ({ path, reason }));
  warnings = documents.flatMap(({ id, unseen }) => warningsOf(unseen).map((reason) => ({ path: id, reason })));
  const alone = answer.left_out ?? [];
  const compared = count(documents.length - alone.length);
  const found = pairs.length === 0
    ? `No two of the ${compared} files share a run of words.`
    : `${compared} files were compared.`;
  const cut = answer.more ? ` ${count(pairs.length)} of ${count(answer.total)} pairs shown; raise the maximum to see more.` : "";
  status.textContent = `${found}${cut}${leftOut([...notRead, ...alone])}${warned(documents)}`;
  results.hidden = pairs.length === 0;
  byId("pairs-form").classList.add("has-results");
  byId("pairs-report-form").hidden = pairs.length === 0;
  view.show(pairs);
}

async function showPair(root, { a, b }, signal) {
  if (root.hidden) {
    root.hidden = false;
    root.replaceChildren(make("p", { class: "loading" }, "Comparing the texts."));
  }
  const { passages } = await post("v1/compare", { a: { text: a.text }, b: { text: b.text } }, signal);
  const places = passages.map(({ a: query, b: hit, ...rest }) => ({
    ...rest, query, hit, query_page: rest.a_page, query_line: rest.a_line, hit_page: rest.b_page, hit_line: rest.b_line,
  }));
  showSides(root, { title: a.name, text: a.text }, { title: b.name, text: b.text }, places);
}
