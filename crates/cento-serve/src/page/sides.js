// Shows the passages that two texts share.

import { count, counted, make, percent } from "./dom.js";
import { differences } from "./difference.js";
import { fillTable } from "./table.js";
import { indicesOfBytes, markedText, placeOf } from "./text.js";

// Programs are read in columns; prose is not.
const PROGRAM = /\.(?:c|cc|cpp|cs|go|h|hpp|java|js|kt|php|py|rb|rs|ts)$/i;

let shown = 0;

/**
 * Shows two texts side by side in `root`. `query` and `hit` are `{ title, text }`, perhaps with
 * `boilerplate`, ranges in bytes that do not count, and `parts`, `{ name, start }` in bytes; a text is
 * null if the index keeps none. `passages` are those of the service.
 */
export function showSides(root, query, hit, passages) {
  root.hidden = false;
  const isTokens = passages.some(({ unit }) => unit === "tokens");
  if (isTokens || query.text === null || hit.text === null) {
    showRanges(root, query, hit, passages);
    return;
  }
  shown += 1;
  const changed = differing(query.text, hit.text, passages);
  const sides = {
    query: makeSide("query", query, passages.map((passage) => passage.a), changed.query),
    hit: makeSide("hit", hit, passages.map((passage) => passage.b), changed.hit),
  };
  const at = make("span", { class: "passage-at", role: "status" });
  const view = { sides, at, current: 0, last: passages.length, passages };
  const go = (step) => () => {
    const number = view.current === 0 ? 1 : view.current + step;
    goTo(view, ((number - 1 + view.last) % view.last) + 1);
  };
  const button = (name, text, step) => make("button", { type: "button", class: name, onclick: go(step) }, text);
  const bar = passages.length === 0
    ? make("p", { class: "passage-bar" }, "No shared passage is long enough to be shown.")
    : make("div", { class: "passage-bar" },
      button("previous", "Previous passage", -1), button("next", "Next passage", 1), at);
  root.replaceChildren(
    make("h2", {}, "Shared passages"),
    bar,
    make("p", { class: "hint", id: `sides-hint-${shown}` },
      "Click on a passage, or press Enter on it, to see its counterpart; where passages overlap, do so again for the next one. "
      + "Underlined words are not in the counterpart."),
    make("div", { class: "sides" }, sides.query.element, sides.hit.element),
  );
  for (const name of ["query", "hit"]) listen(view, name);
  if (passages.length > 0) goTo(view, 1);
}

/** Shows that something is being fetched, or that there is nothing to show. */
export function clearSides(root) {
  root.replaceChildren();
  root.hidden = true;
}

/** The places in which passages differ from their counterparts, in each text. */
function differing(query, hit, passages) {
  const found = { query: [], hit: [] };
  const inQuery = indicesOfBytes(query, passages.flatMap((passage) => passage.a));
  const inHit = indicesOfBytes(hit, passages.flatMap((passage) => passage.b));
  // The longest passage that has a place decides about it: that of another is chance.
  for (const passage of passages.toSorted((a, b) => a.tokens - b.tokens)) {
    const [start, end] = passage.a.map((byte) => inQuery.get(byte));
    const [from, to] = passage.b.map((byte) => inHit.get(byte));
    const { left, right } = differences(query.slice(start, end), hit.slice(from, to));
    replaceWithin(found.query, start, end, left);
    replaceWithin(found.hit, from, to, right);
  }
  const inOrder = (a, b) => a.start - b.start;
  return { query: found.query.sort(inOrder), hit: found.hit.sort(inOrder) };
}

/** Replaces what is known of a range by these ranges, which count from its start. */
function replaceWithin(ranges, start, end, others) {
  const kept = ranges.flatMap((range) => [
    { start: range.start, end: Math.min(range.end, start) },
    { start: Math.max(range.start, end), end: range.end },
  ].filter((part) => part.start < part.end));
  ranges.splice(0, ranges.length, ...kept, ...others.map((range) => ({ start: range.start + start, end: range.end + start })));
}

function makeSide(name, { title, text, boilerplate, parts }, ranges, changed) {
  const marks = new Map();
  const numbered = ranges.map(([start, end], index) => ({ number: index + 1, start, end }));
  const box = make("div", {
    class: `text${[title, ...(parts ?? []).map((part) => part.name)].some((one) => PROGRAM.test(one)) ? " program" : ""}`,
    role: "region",
    tabindex: "0",
    "aria-label": title,
    "aria-describedby": `sides-hint-${shown}`,
  }, markedText(text, numbered, marks, { changed, boilerplate, parts }));
  const gray = boilerplate?.length > 0 && make("p", { class: "hint" },
    make("span", { class: "boilerplate" }, "Excluded text"), `, shown so, does not count: ${percent(shareOfBytes(text, boilerplate))}.`);
  const element = make("article", { class: `side ${name}` }, make("h3", {}, title), ...(gray ? [gray] : []), box);
  return { element, box, marks };
}

/** The share of a text that these ranges are, in bytes. */
function shareOfBytes(text, ranges) {
  const bytes = ranges.reduce((sum, [start, end]) => sum + end - start, 0);
  return bytes / Math.max(new TextEncoder().encode(text).length, 1);
}

function listen(view, name) {
  const { box } = view.sides[name];
  const choose = (mark, clientY) => {
    const numbers = mark.dataset.passages.split(" ").map(Number);
    // Where passages overlap the innermost comes first, then each of the others in turn.
    const at = numbers.indexOf(view.current);
    const isAgain = at >= 0 && view.from === mark;
    const number = isAgain ? numbers.at(at - 1) : numbers.at(-1);
    goTo(view, number, { name, clientY });
    view.from = mark;
  };
  box.addEventListener("click", (event) => {
    const mark = event.target.closest("mark.passage");
    // A click that ends a selection is about the selection.
    if (mark && getSelection().isCollapsed) choose(mark, event.clientY);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches("mark.passage")) return;
    event.preventDefault();
    choose(event.target, event.target.getClientRects()[0].top);
  });
}

/** Where in one of the texts something begins; nothing in a text of one line. */
function place(text, part, page, line) {
  const all = placeOf(part, page, line);
  return all.length === 0 ? "" : `; ${[text, ...all].join(", ")}`;
}

/** Where a passage begins and ends on the screen. */
function extent(marks) {
  const last = marks.at(-1).getClientRects();
  return { top: marks[0].getClientRects()[0].top, bottom: last[last.length - 1].bottom };
}

/**
 * Makes a passage the current one. If the reader pointed at a place of it on one side, the other side
 * is moved so that the same share of the passage lies before the line that comes to the same height:
 * passages may be longer than the screen.
 */
function goTo(view, number, pointed = null) {
  for (const { box, marks } of Object.values(view.sides)) {
    for (const mark of box.querySelectorAll("mark.current")) mark.classList.remove("current");
    for (const mark of marks.get(number) ?? []) mark.classList.add("current");
  }
  view.current = number;
  view.from = null;
  const { tokens, similarity, ...at } = view.passages[number - 1];
  view.at.textContent = `Passage ${count(number)} of ${count(view.last)}: `
    + `${counted(tokens, "word")}, ${percent(similarity)} alike`
    + place("first text", at.a_part, at.a_page, at.a_line)
    + place("second text", at.b_part, at.b_page, at.b_line);
  let reached = 0;
  let height = null;
  if (pointed) {
    const { box, marks } = view.sides[pointed.name];
    const { top, bottom } = extent(marks.get(number));
    reached = Math.min(Math.max((pointed.clientY - top) / Math.max(bottom - top, 1), 0), 1);
    height = pointed.clientY - box.getBoundingClientRect().top;
  }
  for (const [name, { box, marks }] of Object.entries(view.sides)) {
    if (name === pointed?.name || !marks.has(number)) continue;
    const { top, bottom } = extent(marks.get(number));
    const wanted = Math.min(height ?? box.clientHeight / 5, box.clientHeight * 0.8);
    box.scrollTop += top + reached * (bottom - top) - box.getBoundingClientRect().top - wanted;
  }
}

function showRanges(root, query, hit, passages) {
  const table = make("table", { class: "ranges" }, make("caption", {}, "Shared passages"));
  const box = make("div", { class: "table-box", tabindex: "0", role: "region", "aria-label": "Shared passages" }, table);
  const range = ([start, end]) => `${count(start)} to ${count(end)}`;
  root.replaceChildren(
    make("h2", {}, `${query.title} and ${hit.title}`),
    make("p", { class: "no-text" }, "This index stores no text, so the passages cannot be shown. "
      + "Their places are numbers of words, counted from 0; the end is not part of the passage."),
    passages.length > 0 ? box : make("p", {}, "There is no shared passage."),
  );
  fillTable(table, [
    { title: "Passage", text: ({ number }) => String(number), value: ({ number }) => number, sorted: true },
    { title: "In your text", text: (passage) => range(passage.a), value: (passage) => passage.a[0] },
    { title: "In the document", text: (passage) => range(passage.b), value: (passage) => passage.b[0] },
    { title: "Words", text: ({ tokens }) => count(tokens), value: ({ tokens }) => tokens, isNumber: true },
    { title: "Alike", text: ({ similarity }) => percent(similarity), value: ({ similarity }) => similarity, isNumber: true },
  ], passages.map((passage, index) => ({ ...passage, number: index + 1 })));
}
