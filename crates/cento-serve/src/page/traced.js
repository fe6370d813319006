// Shows where every part of a text comes from.

import { differences } from "./difference.js";
import { count, counted, make, percent } from "./dom.js";
import { markedText, placeOf, underlined } from "./text.js";

/**
 * Shows a text with its spans marked, and beside it the carriers of the span that is pointed at. `query`
 * is `{ title, text }`, `trace` that of the service, `onCarrier` takes a carrier that the reader chose.
 */
export function showTraced(root, { title, text }, trace, onCarrier) {
  root.hidden = trace.spans.length === 0;
  root.replaceChildren();
  if (root.hidden) return;
  const marks = new Map();
  const ranges = trace.spans.map(({ a: [start, end] }, index) => ({ number: index + 1, start, end }));
  const box = make("div", {
    class: "text", role: "region", tabindex: "0", "aria-label": title, "aria-describedby": "traced-hint",
  }, markedText(text, ranges, marks));
  const at = make("h3", { class: "span-at", "aria-live": "polite" });
  const carriers = make("div", { class: "carriers" });
  const panel = make("section", { class: "span-panel", "aria-label": "Where the chosen part comes from" }, at, carriers);
  const view = { trace, marks, at, carriers, chosen: 1, shown: 0, onCarrier };
  for (const [number, parts] of marks) {
    const span = trace.spans[number - 1];
    for (const mark of parts) {
      mark.title = `${carriersOf(span)}; best: ${span.best.id}`;
      mark.classList.toggle("common", span.is_common);
      mark.addEventListener("pointerenter", () => show(view, number));
      mark.addEventListener("focus", () => choose(view, number));
      mark.addEventListener("click", () => choose(view, number));
    }
  }
  // A look at other spans on the way to the carriers of the chosen one changes nothing.
  box.addEventListener("pointerleave", () => show(view, view.chosen));
  root.append(
    make("h2", {}, "Where the text comes from"),
    make("p", { class: "hint", id: "traced-hint" },
      "Point at a marked part, or reach it with Tab, to see the documents that have it. A click keeps it chosen. "
      + "Gray parts are common: more than half of all documents have them."),
    make("div", { class: "traced" }, box, panel),
  );
  choose(view, 1);
}

/** The number of documents that have a span: "about" where some were not compared. */
function carriersOf({ carriers, carriers_exact: isExact }) {
  return `${isExact ? "" : "about "}${counted(carriers, "document")}`;
}

function choose(view, number) {
  view.chosen = number;
  show(view, number);
}

function show(view, number) {
  for (const [other, parts] of view.marks) {
    for (const mark of parts) mark.classList.toggle("current", other === number);
  }
  if (view.shown === number) return;
  view.shown = number;
  const { spans, order } = view.trace;
  const span = spans[number - 1];
  view.at.textContent = `Part ${count(number)} of ${count(spans.length)}: ${counted(span.words, "word")}, in `
    + `${carriersOf(span)}${span.is_common ? ", common" : ""}`;
  const isFirst = (carrier) => carrier.id === span.first.id && carrier.index === span.first.index;
  const first = order === "date" ? "First by date" : "First added";
  const best = isFirst(span.best) && span.carriers > 1 ? `Best and ${first.toLowerCase()}` : "Best";
  const others = span.others ?? [];
  view.carriers.replaceChildren(
    carrierView(view, span, best, span.best),
    ...(isFirst(span.best) ? [] : [carrierView(view, span, first, span.first)]),
    ...(others.length === 0 ? [] : [make("h4", {}, "Others"), make("ul", {}, ...others.map((carrier) =>
      make("li", {}, button(view, carrier), ` ${details(carrier)}`)))]),
    ...(span.carriers > others.length + (isFirst(span.best) ? 1 : 2)
      ? [make("p", { class: "hint" }, "More documents have it.")] : []),
  );
}

function carrierView(view, span, heading, carrier) {
  const parts = [make("h4", {}, `${heading}: `, button(view, carrier)), make("p", { class: "hint" }, details(carrier))];
  if (carrier.text !== undefined) parts.push(make("blockquote", {}, ...underlined(carrier.text, 0, carrier.text.length, differences(span.text, carrier.text).right)));
  return make("div", { class: "carrier" }, ...parts);
}

function button(view, carrier) {
  return make("button", { type: "button", class: "choose", onclick: () => view.onCarrier(carrier) }, carrier.id);
}

/** Where the passage of a carrier begins, how alike it is, and when it was there. */
function details({ index, b_part: part, b_page: page, b_line: line, similarity, date, added }) {
  const of = index === undefined ? [] : [`index ${index}`];
  const when = date === undefined ? `added ${added.slice(0, 10)}` : `dated ${date}`;
  return [...of, ...placeOf(part, page, line), `${percent(similarity)} alike`, when].join("; ");
}
