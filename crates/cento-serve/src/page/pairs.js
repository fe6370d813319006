// Which pairs of files are most alike? A graph and a table of the same pairs, and a threshold.

import { counted, make, share } from "./dom.js";
import { makeGraph } from "./graph.js";
import { fillTable, markChosen } from "./table.js";

const GRAPH_WIDTH_DEFAULT = 900;

const HINT = "Closer means more similar: an edge of symmetric similarity s is -100 log s pixels longer than one of "
  + "identical files, as far as the plane has room for that. Choose an edge or a row to see the passages.";

/**
 * Shows pairs in `root`. Ids begin with `prefix`. `columns` are those of the table; `onChoose` takes a
 * pair, whose `a` and `b` are vertices of the graph.
 */
export class PairsView {
  constructor({ root, prefix, caption, columns, hint = "", onChoose }) {
    Object.assign(this, { columns, onChoose });
    this.pairs = [];
    this.threshold = make("input", {
      type: "range", id: `${prefix}-threshold`, min: 0, max: 1, step: 0.01, value: 0,
      oninput: () => this.filter(),
    });
    this.value = make("output", { for: `${prefix}-threshold`, id: `${prefix}-threshold-value` }, "0.00");
    this.shown = make("span", { class: "shown", role: "status" });
    this.table = make("table", { id: `${prefix}-pairs` }, make("caption", {}, caption));
    this.box = make("div", { class: "graph-box", id: `${prefix}-graph` });
    root.replaceChildren(
      make("div", { class: "threshold" },
        make("label", { for: `${prefix}-threshold` }, "Threshold of similarity"),
        this.threshold, this.value, this.shown),
      this.box,
      make("p", { class: "hint" }, `${hint}${HINT}`),
      make("div", { class: "table-box", tabindex: "0", role: "region", "aria-label": caption }, this.table),
    );
    // Groups of files stand side by side as far as there is room.
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  /** Shows these pairs, the most similar first. */
  show(pairs) {
    this.pairs = pairs;
    this.chosen = null;
    this.drawnWidth = null;
    this.draw();
    fillTable(this.table, this.columns, pairs, {
      attributes: (pair) => ({ class: "pair", "data-a": pair.a.name, "data-b": pair.b.name }),
      onChoose: (pair) => this.choose(pair),
    });
    this.table.parentElement.hidden = pairs.length === 0;
    this.rows = new Map([...this.table.querySelectorAll("tbody tr")].map((row, index) => [pairs[index], row]));
    this.filter();
  }

  draw() {
    const width = this.box.clientWidth || GRAPH_WIDTH_DEFAULT;
    if (width === this.drawnWidth) return;
    this.drawnWidth = width;
    this.graph = null;
    if (this.pairs.length === 0) {
      this.box.replaceChildren();
      return;
    }
    this.graph = makeGraph(this.pairs, width, (pair) => this.choose(pair));
    this.box.replaceChildren(this.graph.svg);
    this.filter();
    this.mark();
  }

  filter() {
    const threshold = Number(this.threshold.value);
    this.value.textContent = threshold.toFixed(2);
    const isShown = ({ symmetric }) => symmetric >= threshold;
    const shown = this.pairs.filter(isShown);
    this.shown.textContent = `${counted(shown.length, "pair")} of ${this.pairs.length}`;
    const connected = new Set(shown.flatMap(({ a, b }) => [a, b]));
    for (const pair of this.pairs) {
      this.graph?.edges.get(pair).classList.toggle("below", !isShown(pair));
      const row = this.rows?.get(pair);
      if (row) row.hidden = !isShown(pair);
    }
    // The others stay where they are, so that nothing jumps while the threshold moves.
    for (const [vertex, shape] of this.graph?.vertices ?? []) {
      shape.classList.toggle("below", !connected.has(vertex));
    }
  }

  choose(pair) {
    this.chosen = pair;
    this.mark();
    this.onChoose(pair);
  }

  mark() {
    markChosen(this.table, this.rows?.get(this.chosen) ?? null);
    for (const [pair, edge] of this.graph?.edges ?? []) {
      edge.classList.toggle("chosen", pair === this.chosen);
    }
  }
}

/** The columns that every table of pairs begins with. */
export function pairColumns(titleA, titleB) {
  return [
    { title: titleA, text: ({ a }) => a.name, chooses: true },
    { title: titleB, text: ({ b }) => b.name },
    { title: "Similarity", text: ({ symmetric }) => share(symmetric), isNumber: true },
  ];
}
