// How alike are these files, at a glance?

import { makeSvg, percent, shortVertices, shortened } from "./dom.js";
import { arrange, distanceOf, pack } from "./layout.js";

const RADIUS = 8;
const NAME_CHARACTERS_MAX = 26;
const NAME_HEIGHT = 16;
// An upper estimate at the size the style sheet gives to names.
const CHARACTER_WIDTH = 7.2;
const PADDING = 14;
const GAP = 36;
// On a telephone there is no room for long names.
const NARROW = 480;
const NAME_CHARACTERS_NARROW = 16;

/**
 * The graph of pairs `{ a, b, symmetric }`, where `a` and `b` are vertices `{ name, kind }`. Returns
 * `{ svg, edges, vertices }`, with the element of each edge by pair, and of each vertex. The table of
 * the same pairs says the same in words; edges are buttons, vertices only look like something.
 */
export function makeGraph(pairs, width, onChoose) {
  const vertices = [...new Set(pairs.flatMap(({ a, b }) => [a, b]))];
  const number = new Map(vertices.map((vertex, index) => [vertex, index]));
  const wanted = pairs.map(({ a, b, symmetric }) =>
    ({ a: number.get(a), b: number.get(b), distance: distanceOf(symmetric) }));
  const { places, names, wide, high } = place(vertices, wanted, width);
  const svg = makeSvg("svg", {
    class: "graph",
    role: "group",
    "aria-label": `Graph of ${vertices.length} files: the more two of them share, the closer they are. The table lists the pairs.`,
    // One unit is one pixel, so that a distance has as many pixels as it says.
    viewBox: `0 0 ${wide} ${high}`,
    width: wide,
    height: high,
  });
  const edges = new Map();
  // The most similar pairs are drawn last, above the others.
  for (const [index, pair] of [...pairs.entries()].reverse()) {
    const edge = makeEdge(pair, places[wanted[index].a], places[wanted[index].b]);
    edge.addEventListener("click", () => onChoose(pair));
    edge.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      onChoose(pair);
    });
    edges.set(pair, edge);
    svg.append(edge);
  }
  const shapes = new Map();
  vertices.forEach((vertex, index) => {
    const shape = makeVertex(vertex, places[index], names[index]);
    shapes.set(vertex, shape);
    svg.append(shape);
  });
  return { svg, edges, vertices: shapes };
}

/** Where vertices and their names stand in a picture that is about so wide. */
function place(vertices, edges, width) {
  const places = [];
  const names = [];
  const short = shortVertices(vertices);
  const namesMax = width < NARROW ? NAME_CHARACTERS_NARROW : NAME_CHARACTERS_MAX;
  const texts = vertices.map((vertex) => shortened(short.get(vertex), namesMax));
  const groups = arrange(vertices.length, edges, width);
  for (const group of groups) {
    group.members.forEach((vertex, index) => { places[vertex] = group.places[index]; });
    const inside = edges.filter(({ a }) => group.members.includes(a));
    const found = placeNames(group, texts, inside.map(({ a, b }) => [places[a], places[b]]));
    group.members.forEach((vertex, index) => { names[vertex] = found[index]; });
    group.box = boxAround(group.places, found);
  }
  const corners = pack(groups.map(({ box }) => box), width - 2 * PADDING, GAP);
  let [wide, high] = [0, 0];
  groups.forEach(({ members, box }, index) => {
    const x = corners[index].left - box.left + PADDING;
    const y = corners[index].top - box.top + PADDING;
    for (const vertex of members) {
      places[vertex] = { x: places[vertex].x + x, y: places[vertex].y + y };
      names[vertex] = { ...names[vertex], left: names[vertex].left + x, top: names[vertex].top + y };
    }
    wide = Math.max(wide, Math.ceil(corners[index].left + box.wide + 2 * PADDING));
    high = Math.max(high, Math.ceil(corners[index].top + box.high + 2 * PADDING));
  });
  return { places, names, wide, high };
}

function boxAround(places, names) {
  const left = Math.min(...places.map(({ x }) => x - RADIUS), ...names.map((name) => name.left));
  const top = Math.min(...places.map(({ y }) => y - RADIUS), ...names.map((name) => name.top));
  const right = Math.max(...places.map(({ x }) => x + RADIUS), ...names.map((name) => name.left + name.wide));
  const bottom = Math.max(...places.map(({ y }) => y + RADIUS), ...names.map((name) => name.top + name.high));
  return { left, top, wide: right - left, high: bottom - top };
}

function makeEdge(pair, from, to) {
  const { a, b, symmetric } = pair;
  const label = `${a.name} and ${b.name}: ${percent(symmetric)} shared by both`;
  const ends = { x1: from.x.toFixed(1), y1: from.y.toFixed(1), x2: to.x.toFixed(1), y2: to.y.toFixed(1) };
  return makeSvg("g", { class: "edge", role: "button", tabindex: "0", "aria-label": label },
    makeSvg("title", {}, label),
    // A thin line is hard to hit.
    makeSvg("line", { class: "reach", ...ends }),
    makeSvg("line", { class: "line", ...ends, "stroke-width": (1 + 3 * symmetric).toFixed(1) }));
}

function makeVertex({ name, kind }, { x, y }, { text, left, top }) {
  const shape = kind === "registered"
    ? makeSvg("rect", { x: x - RADIUS, y: y - RADIUS, width: 2 * RADIUS, height: 2 * RADIUS, rx: 2 })
    : makeSvg("circle", { cx: x, cy: y, r: RADIUS });
  return makeSvg("g", { class: `vertex ${kind}`, "aria-hidden": "true" },
    makeSvg("title", {}, name), shape,
    makeSvg("text", { x: left, y: top + NAME_HEIGHT - 4 }, text));
}

/** Gives each name of a group the place beside its vertex where it covers the least. */
function placeNames({ members, places }, texts, lines) {
  const taken = places.map(({ x, y }) => ({ left: x - RADIUS, top: y - RADIUS, wide: 2 * RADIUS, high: 2 * RADIUS, weight: 2 }));
  for (const [from, to] of lines) taken.push(...alongLine(from, to));
  return members.map((vertex, index) => {
    const text = texts[vertex];
    const wide = [...text].length * CHARACTER_WIDTH;
    const { x, y } = places[index];
    const near = RADIUS + 4;
    const middle = y - NAME_HEIGHT / 2;
    const candidates = [
      [x + near, middle], [x - near - wide, middle],
      [x - wide / 2, y + near - 1], [x - wide / 2, y - near - NAME_HEIGHT + 1],
      [x + near - 4, y + near - 5], [x + near - 4, y - near - NAME_HEIGHT + 5],
      [x - near - wide + 4, y + near - 5], [x - near - wide + 4, y - near - NAME_HEIGHT + 5],
    ].map(([left, top]) => ({ left, top, wide, high: NAME_HEIGHT, text }));
    const covered = candidates.map((box) => taken.reduce((sum, other) => sum + common(box, other), 0));
    const best = candidates[covered.indexOf(Math.min(...covered))];
    // Names must not cover each other; an edge behind one does less harm.
    taken.push({ ...best, weight: 4 });
    return best;
  });
}

function alongLine(from, to) {
  const steps = Math.ceil(Math.hypot(from.x - to.x, from.y - to.y) / 8);
  return Array.from({ length: steps }, (_, step) => {
    const part = (step + 0.5) / steps;
    const x = from.x + part * (to.x - from.x);
    const y = from.y + part * (to.y - from.y);
    return { left: x - 3, top: y - 3, wide: 6, high: 6 };
  });
}

function common(a, b) {
  const wide = Math.min(a.left + a.wide, b.left + b.wide) - Math.max(a.left, b.left);
  const high = Math.min(a.top + a.high, b.top + b.high) - Math.max(a.top, b.top);
  return wide > 0 && high > 0 ? wide * high * (b.weight ?? 1) : 0;
}
