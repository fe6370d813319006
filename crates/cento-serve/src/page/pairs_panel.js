// Pairs of files that share most text. The pairwise test of Finkel et al. (2002), section 2.6.

import { post, postForFile, storedDocument } from "./api.js";
import { byId, count, counted, make, saveFile } from "./dom.js";
import { Chooser, leftOut, readDocuments, warned, warningsOf } from "./files.js";
import { bodyOf, chosenUnit, fileSubmissions, groupFiles, setUpUnit, showSources, unitSaid, withTerm } from "./submissions.js";
import { PairsView, pairColumns } from "./pairs.js";
import { clearSides, showSides } from "./sides.js";
import { makeLatest, makeTask } from "./task.js";

/** Sets up the panel; `afterwards` is done when there are more documents. */
export function setUpPairs(afterwards) {
  setUpUnit();
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
  const fileForm = byId("pairs-file-form");
  const file = makeTask(fileForm, byId("pairs-file-status"), byId("pairs-file"));
  fileForm.addEventListener("submit", (event) => {
    event.preventDefault();
    file(async (task) => {
      const term = byId("pairs-term").value.trim();
      if (!term) {
        byId("pairs-file-status").textContent = "Enter the term above, so that the submissions of each year have names of their own.";
        byId("pairs-term").focus();
        return;
      }
      const added = await fileSubmissions(read.documents, term, task);
      byId("pairs-file-status").textContent = added;
      await afterwards();
    });
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
  const found = await readDocuments(files.chosen, { signal, say });
  const handedOut = await readDocuments(boilerplate.chosen, { signal, say });
  const grouped = await groupFiles(found.documents, chosenUnit(), signal);
  read = {
    ...grouped,
    handedOut: handedOut.documents.map(({ text }) => text),
    notRead: [...found.skipped, ...grouped.leftOut, ...handedOut.skipped],
    accepted: new Set(),
  };
  const least = byId("pairs-against").checked ? 1 : 2;
  if (read.documents.length < least) {
    const wanted = least === 1 ? "at least one file" : "at least two files";
    byId("pairs-status").textContent = `Choose ${wanted} with text.${unitSaid(read)}${leftOut(read.notRead)}`;
    return;
  }
  await compareRead(view, { signal, say });
}

function hideAll() {
  for (const id of ["pairs-results", "pairs-report-form", "pairs-class", "pairs-file-form", "pairs-left-out"]) byId(id).hidden = true;
  byId("pairs-file-status").textContent = "";
  clearSides(byId("pairs-side-by-side"));
}

/** The pairs that are shown unless the reader says otherwise: of submissions, whose text is counted by them, more. */
const PAIRS_DEFAULT = 20;
const HAND_IN_PAIRS_DEFAULT = 200;

/** The request to compare the documents that were read, without the boilerplate that is accepted. */
function request(documents) {
  const { handedOut, accepted, by } = read;
  const boilerplate = [...handedOut, ...accepted];
  const hasIndex = byId("pairs-against").checked;
  const isClass = by !== "file" || hasIndex;
  const groups = byId("pairs-group-by").value.trim();
  return {
    documents: documents.map((document) => bodyOf(document)),
    boilerplate,
    limit: Number(byId("pairs-limit").value) || (isClass ? HAND_IN_PAIRS_DEFAULT : PAIRS_DEFAULT),
    // Without boilerplate they are found when a pair is chosen.
    passages: isClass || boilerplate.length > 0,
    ...(hasIndex ? { against_index: true } : {}),
    ...(isClass ? { sources: true } : {}),
    ...(groups ? { group_by: groups } : {}),
  };
}

/** Compares the documents that were read, without the boilerplate that is accepted. */
async function compareRead(view, { signal, say }) {
  const { notRead, by } = read;
  const documents = withTerm(read.documents, byId("pairs-term").value.trim());
  say(`Comparing ${count(documents.length)} ${by === "file" ? "files" : "submissions"}.`);
  shown = request(documents);
  const answer = await post("v1/pairs", { ...shown, propose_boilerplate: SHARE }, signal);
  const pairs = withVertices(answer, documents);
  unread = notRead.map(({ path, reason }) => ({ path, reason }));
  warnings = documents.flatMap(({ id, unseen }) => warningsOf(unseen).map((reason) => ({ path: id, reason })));
  const alone = answer.left_out ?? [];
  const all = [...notRead, ...alone];
  byId("pairs-status").textContent = said(answer, documents, pairs) + unitSaid(read) + leftOut(all) + warned(documents);
  showLeftOut(all);
  byId("pairs-results").hidden = pairs.length === 0;
  byId("pairs-form").classList.add("has-results");
  byId("pairs-report-form").hidden = pairs.length === 0;
  byId("pairs-file-form").hidden = false;
  const hasIndex = shown.against_index === true;
  showSources({ sources: answer.sources ?? [], pairs, documents, hasIndex }, (own) => {
    byId("pairs-results").hidden = own.length === 0;
    clearSides(byId("pairs-side-by-side"));
    view.show(own);
  });
  showProposals(answer.proposed ?? []);
}

/** How many documents were compared, and with what, as sentences. */
function said({ left_out: alone = [], earlier_versions: earlier = [], more, total }, documents, pairs) {
  const compared = count(documents.length - alone.length);
  const what = read.by === "file" ? "files" : "submissions";
  const found = pairs.length === 0
    ? `None of the ${compared} ${what} shares a run of words with another.`
    : `${compared} ${what} were compared.`;
  const others = shown.against_index ? " Those of the index are not compared with each other." : "";
  const left = earlier.length === 0
    ? ""
    : ` Of ${counted(earlier.length, "submission")} the index has an earlier version, which is left out.`;
  const cut = more ? ` ${count(pairs.length)} of ${count(total)} pairs shown; raise the maximum to see more.` : "";
  return `${found}${others}${left}${cut}`;
}

/** The pairs of an answer, with what is known of both documents. */
function withVertices({ pairs, boilerplate = [] }, documents) {
  const key = (id, index) => JSON.stringify([id, index ?? null]);
  const gray = new Map(boilerplate.map(({ id, index, ranges }) => [key(id, index), ranges]));
  const own = new Map(documents.map((document) => [document.id, document]));
  const vertices = new Map();
  const vertex = (id, index) => {
    const name = index ? `${id} in ${index}` : id;
    if (!vertices.has(name)) {
      const known = index ? { kind: "registered", stored: id } : { kind: "file", ...own.get(id) };
      vertices.set(name, { ...known, name, boilerplate: gray.get(key(id, index)) });
    }
    return vertices.get(name);
  };
  return pairs.map((pair) => ({ ...pair, a: vertex(pair.a, pair.index_a), b: vertex(pair.b, pair.index_b) }));
}

/** Lists all that was left out, where the status names the first only. */
function showLeftOut(all) {
  byId("pairs-left-out").hidden = all.length === 0;
  byId("pairs-left-out-list").replaceChildren(...all.map(({ path, reason }) => make("li", {}, `${path}: ${reason}`)));
}

/** The share of the files that a passage is in which is proposed as boilerplate. */
const SHARE = 0.75;

/** Shows the passages that most documents have; a tick accepts one, and all numbers follow. */
function showProposals(proposed) {
  byId("pairs-proposals").hidden = proposed.length === 0;
  byId("pairs-proposed").replaceChildren(...proposed.map(({ documents, of_documents, tokens, text }) =>
    make("div", { class: "proposal" },
      make("label", { class: "check" },
        make("input", { type: "checkbox", checked: read.accepted.has(text), onchange: (event) => decide(text, event.target.checked) }),
        ` In ${count(documents)} of ${count(of_documents)} ${read.by === "file" ? "files" : "submissions"}, ${counted(tokens, "word")}`),
      make("details", {},
        make("summary", {}, text.length > 80 ? `${text.slice(0, 80)}\u2026` : text),
        make("blockquote", {}, text)))));
}

async function showPair(root, { a, b, passages: known }, signal) {
  if (root.hidden) {
    root.hidden = false;
    root.replaceChildren(make("p", { class: "loading" }, "Comparing the texts."));
  }
  for (const side of [a, b]) {
    if (side.stored !== undefined && side.text === undefined) Object.assign(side, await storedDocument(side.stored, signal));
  }
  const passages = known
    ?? (await post("v1/compare", { a: { text: a.text }, b: { text: b.text } }, signal)).passages;
  const side = ({ name: title, text, boilerplate, parts }) => ({ title, text, boilerplate, parts });
  showSides(root, side(a), side(b), passages);
}
