// Pairs of files that share most text. The pairwise test of Finkel et al. (2002), section 2.6.

import { post, postForFile } from "./api.js";
import { byId, count, counted, make, saveFile } from "./dom.js";
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
  decide = (text, isAccepted) => {
    if (isAccepted) read.accepted.add(text);
    else read.accepted.delete(text);
    hideAll();
    run(async (task) => {
      byId("pairs-proposals").disabled = true;
      try {
        await compareRead(view, task);
      } finally {
        byId("pairs-proposals").disabled = false;
      }
    });
  };
  const reportForm = byId("pairs-report-form");
  const saveReport = makeTask(reportForm, byId("pairs-status"), byId("pairs-report"));
  reportForm.addEventListener("submit", (event) => {
    event.preventDefault();
    saveReport((task) => exportReport(task));
  });
}

/** Accepts or rejects a proposal of boilerplate. */
let decide = null;

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

/** The documents that were read last, and the proposals of boilerplate that are accepted, as texts. */
let read = null;

async function compareAll(files, boilerplate, view, { signal, say }) {
  hideAll();
  byId("pairs-proposals").hidden = true;
  const { documents, skipped } = await readDocuments(files.chosen, { signal, say });
  const handedOut = await readDocuments(boilerplate.chosen, { signal, say });
  read = {
    documents,
    handedOut: handedOut.documents.map(({ text }) => text),
    notRead: [...skipped, ...handedOut.skipped],
    accepted: new Set(),
  };
  if (documents.length < 2) {
    byId("pairs-status").textContent = `Choose at least two files with text.${leftOut(read.notRead)}`;
    return;
  }
  await compareRead(view, { signal, say });
}

function hideAll() {
  byId("pairs-results").hidden = true;
  byId("pairs-report-form").hidden = true;
  clearSides(byId("pairs-side-by-side"));
}

/** Compares the documents that were read, without the boilerplate that is accepted. */
async function compareRead(view, { signal, say }) {
  const { documents, handedOut, notRead, accepted } = read;
  say(`Comparing ${count(documents.length)} files.`);
  const boilerplate = [...handedOut, ...accepted];
  shown = {
    documents: documents.map(({ id, text }) => ({ id, text })),
    boilerplate,
    limit: Number(byId("pairs-limit").value),
    // Without boilerplate they are found when a pair is chosen.
    passages: boilerplate.length > 0,
  };
  const answer = await post("v1/pairs", { ...shown, propose_boilerplate: SHARE }, signal);
  const grey = new Map((answer.boilerplate ?? []).map(({ id, ranges }) => [id, ranges]));
  const vertices = new Map(documents.map(({ id, text }) =>
    [id, { name: id, kind: "file", text, boilerplate: grey.get(id) }]));
  const pairs = answer.pairs.map((pair) => ({ ...pair, a: vertices.get(pair.a), b: vertices.get(pair.b) }));
  unread = notRead.map(({ path, reason }) => ({ path, reason }));
  warnings = documents.flatMap(({ id, unseen }) => warningsOf(unseen).map((reason) => ({ path: id, reason })));
  const alone = answer.left_out ?? [];
  const compared = count(documents.length - alone.length);
  const found = pairs.length === 0
    ? `No two of the ${compared} files share a run of words.`
    : `${compared} files were compared.`;
  const cut = answer.more ? ` ${count(pairs.length)} of ${count(answer.total)} pairs shown; raise the maximum to see more.` : "";
  byId("pairs-status").textContent = `${found}${cut}${leftOut([...notRead, ...alone])}${warned(documents)}`;
  byId("pairs-results").hidden = pairs.length === 0;
  byId("pairs-form").classList.add("has-results");
  byId("pairs-report-form").hidden = pairs.length === 0;
  view.show(pairs);
  showProposals(answer.proposed ?? []);
}

/** The share of the files that a passage is in which is proposed as boilerplate. */
const SHARE = 0.75;

/** Shows the passages that most files have; a tick accepts one, and all numbers follow. */
function showProposals(proposed) {
  byId("pairs-proposals").hidden = proposed.length === 0;
  byId("pairs-proposed").replaceChildren(...proposed.map(({ documents, of_documents, tokens, text }) =>
    make("div", { class: "proposal" },
      make("label", { class: "check" },
        make("input", { type: "checkbox", checked: read.accepted.has(text), onchange: (event) => decide(text, event.target.checked) }),
        ` In ${count(documents)} of ${count(of_documents)} files, ${counted(tokens, "word")}`),
      make("details", {},
        make("summary", {}, text.length > 80 ? `${text.slice(0, 80)}\u2026` : text),
        make("blockquote", {}, text)))));
}

async function showPair(root, { a, b, passages: known }, signal) {
  if (root.hidden) {
    root.hidden = false;
    root.replaceChildren(make("p", { class: "loading" }, "Comparing the texts."));
  }
  const passages = known
    ?? (await post("v1/compare", { a: { text: a.text }, b: { text: b.text } }, signal)).passages;
  const places = passages.map(({ a: query, b: hit, ...rest }) => ({
    ...rest, query, hit, query_page: rest.a_page, query_line: rest.a_line, hit_page: rest.b_page, hit_line: rest.b_line,
  }));
  const side = ({ name: title, text, boilerplate }) => ({ title, text, boilerplate });
  showSides(root, side(a), side(b), places);
}
