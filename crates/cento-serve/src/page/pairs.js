// Which pairs of files are most alike? A graph and a table of the same pairs, and a threshold.

import { counted, make, percent, shortVertices } from "./dom.js";
import { makeGraph } from "./graph.js";
import { fillTable, markChosen } from "./table.js";

const GRAPH_WIDTH_DEFAULT = 900;

const HINT = "The closer two of them are, the more they share. Choose a line or a row to see the passages.";

/**
 * Shows pairs in `root`. Ids begin with `prefix`. `columns` gives those of the table for short
 * names; `onChoose` takes a pair, whose `a` and `b` are vertices of the graph, and whether the page chose it.
 */
export class PairsView {
  constructor({ root, prefix, caption, columns, hint = "", onChoose }) {
    Object.assign(this, { columns, onChoose });
    this.pairs = [];
    this.threshold = make("input", {
      type: "range", id: `${prefix}-threshold`, min: 0, max: 1, step: 0.01, value: 0,
      oninput: () => this.filter(),
    });
    this.value = make("output", { for: `${prefix}-threshold`, id: `${prefix}-threshold-value` }, "0 %");
    this.shown = make("span", { class: "shown", role: "status" });
    this.table = make("table", { id: `${prefix}-pairs` }, make("caption", {}, caption));
    this.box = make("div", { class: "graph-box", id: `${prefix}-graph` });
    root.replaceChildren(
      make("div", { class: "threshold" },
        make("label", { for: `${prefix}-threshold` }, "Show pairs that share at least"),
        this.threshold, this.value, this.shown),
      make("div", { class: "pairs-view" },
        make("div", { class: "pairs-list" },
          make("div", { class: "table-box hits-box", tabindex: "0", role: "region", "aria-label": caption }, this.table)),
        make("div", { class: "pairs-graph" }, this.box, make("p", { class: "hint" }, `${hint}${HINT}`))),
    );
    // Groups of files stand side by side as far as there is room.
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  /** Shows these pairs, the most similar first, and the passages of the first. */
  show(pairs) {
    this.pairs = pairs;
    this.chosen = null;
    this.drawnWidth = null;
    this.table.parentElement.hidden = pairs.length === 0;
    const short = shortVertices(pairs.flatMap(({ a, b }) => [a, b]));
    this.rows = fillTable(this.table, this.columns(short, pairs), pairs, {
      attributes: (pair) => ({ class: "pair", "data-a": pair.a.name, "data-b": pair.b.name }),
      onChoose: (pair) => this.choose(pair),
    });
    this.draw();
    this.filter();
    if (pairs.length > 0) this.choose(pairs[0], true);
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
    this.value.textContent = `${Math.round(100 * threshold)}\u00a0%`;
    const isShown = ({ symmetric }) => symmetric >= threshold;
    const shown = this.pairs.filter(isShown);
    this.shown.textContent = `${shown.length} of ${counted(this.pairs.length, "pair")}`;
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

  /** Chooses a pair; `isFirst` if the page does so, not the reader, who then looks at the list. */
  choose(pair, isFirst = false) {
    this.chosen = pair;
    this.mark();
    this.onChoose(pair, isFirst);
  }

  mark() {
    markChosen(this.table, this.rows?.get(this.chosen) ?? null);
    for (const [pair, edge] of this.graph?.edges ?? []) {
      edge.classList.toggle("chosen", pair === this.chosen);
    }
  }
}

const scoreOf = ({ score }) => score ?? 0;

/** Whether pairs with scores are in the order of these. Programs that are too short to tell come after all others. */
function areByScore(pairs) {
  const scores = pairs.filter(({ too_short: isTooShort }) => !isTooShort).map(({ score }) => score);
  return scores.every((score, at) => score !== undefined && (at === 0 || scores[at - 1] >= score));
}

/**
 * The columns of a table of pairs, for short names: `ofA` and `ofB` give the share of each side that the
 * other has too.
 */
export function pairColumns([titleA, titleB], { ofA, ofB }) {
  const shareColumn = (title, value, sorted) =>
    ({ title, value, text: (pair) => percent(value(pair)), isNumber: true, sorted });
  return (short, pairs) => [
    { title: titleA, text: ({ a }) => short.get(a), full: ({ a }) => a.name, chooses: true },
    // The directory of a stored document may be its year.
    { title: titleB, text: ({ b }) => (b.stored === undefined ? short.get(b) : b.name), full: ({ b }) => b.name },
    // Programs have a score, and come by it if the preset of the index says so.
    ...(pairs.some(({ score }) => score !== undefined) ? [shareColumn("Score", scoreOf, areByScore(pairs))] : []),
    shareColumn("Shared by both", ({ symmetric }) => symmetric, !areByScore(pairs)),
    shareColumn("Of the first", ofA),
    shareColumn("Of the second", ofB),
  ];
}
