// Marks passages in a text.
//
// The service counts bytes of UTF-8, JavaScript counts UTF-16 units.

import { count, make } from "./dom.js";

const COLORS = 8;

/** Of each offset in bytes the index in UTF-16 units; an offset within a character is that of its start. */
export function indicesOfBytes(text, offsets) {
  const sorted = [...new Set(offsets)].sort((a, b) => a - b);
  const indices = new Map();
  let byte = 0;
  let index = 0;
  for (const offset of sorted) {
    while (byte < offset && index < text.length) {
      const code = text.codePointAt(index);
      const width = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      if (byte + width > offset) break;
      byte += width;
      index += code < 0x10000 ? 1 : 2;
    }
    indices.set(offset, index);
  }
  return indices;
}

/**
 * Cuts a text where a passage starts or ends. `ranges` are `{ number, start, end }` in bytes; the
 * segments `{ start, end, passages, starting }` in UTF-16 units follow each other without a gap.
 * `passages` are the numbers of all that cover the segment, the innermost last. `places` are
 * further cuts, in UTF-16 units.
 */
export function segments(text, ranges, places = []) {
  const indices = indicesOfBytes(text, ranges.flatMap(({ start, end }) => [start, end]));
  const placed = ranges
    .map(({ number, start, end }) => ({ number, start: indices.get(start), end: indices.get(end) }))
    .filter(({ start, end }) => start < end)
    .sort((a, b) => a.start - b.start || b.end - a.end || a.number - b.number);
  const cuts = new Set([0, text.length, ...places]);
  for (const { start, end } of placed) cuts.add(start).add(end);
  const sorted = [...cuts].sort((a, b) => a - b);
  const found = [];
  let open = [];
  let next = 0;
  for (let at = 0; at + 1 < sorted.length; at += 1) {
    const start = sorted[at];
    open = open.filter((passage) => passage.end > start);
    const starting = [];
    for (; next < placed.length && placed[next].start === start; next += 1) {
      open.push(placed[next]);
      starting.push(placed[next].number);
    }
    found.push({ start, end: sorted[at + 1], passages: open.map(({ number }) => number), starting });
  }
  return found;
}

/**
 * A function that counts the characters of a part of this text as reports do: letters and digits, or in a text without
 * any all but white space. The classes are those of `is_letter`, `is_number` and `is_white_space` of the library.
 */
function counter(text) {
  const ofWords = /(?!\p{M})[\p{Alphabetic}\p{N}]/gu;
  const counts = text.search(ofWords) >= 0 ? ofWords : /\P{White_Space}/gu;
  return (part) => part.match(counts)?.length ?? 0;
}

/**
 * The share of a text in passages, as reports count it: edited words do not count, nor do signs between words.
 * Where passages have no places in the text, `words` is the number of its words.
 */
export function shareInPassages(text, passages, words) {
  const places = passages.flatMap(({ a, matched_ranges: matched = [], by_letters: byLetters }) =>
    (matched.length > 0 && !byLetters ? matched : [a]));
  const inOrder = places.toSorted((a, b) => a[0] - b[0]);
  const joined = [];
  for (const [start, end] of inOrder) {
    const last = joined.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  if (passages.some(({ unit }) => unit === "tokens")) {
    return joined.reduce((sum, [start, end]) => sum + end - start, 0) / Math.max(words, 1);
  }
  const indices = indicesOfBytes(text, joined.flat());
  const size = counter(text);
  const found = joined.reduce((sum, [start, end]) => sum + size(text.slice(indices.get(start), indices.get(end))), 0);
  return found / Math.max(size(text), 1);
}

/** The class of a passage's color. */
export function colorClass(number) {
  return `p${(number - 1) % COLORS}`;
}

function listed(numbers) {
  if (numbers.length === 1) return `Passage ${numbers[0]}`;
  return `Passages ${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`;
}

/** Where something begins: its part, and its page, or its line if the text has no pages; as words to join. */
export function placeOf(part, page, line) {
  const named = part === undefined ? [] : [part];
  if (page !== undefined) return [...named, `page ${count(page)}`];
  return line === undefined ? named : [...named, `line ${count(line)}`];
}

/** The nodes of a part of a text, in which what is changed is underlined. */
export function underlined(text, start, end, changed) {
  const nodes = [];
  let at = start;
  for (const range of changed) {
    const [from, to] = [Math.max(range.start, start), Math.min(range.end, end)];
    if (from >= to) continue;
    if (at < from) nodes.push(text.slice(at, from));
    nodes.push(make("u", {}, text.slice(from, to)));
    at = to;
  }
  if (at < end) nodes.push(text.slice(at, end));
  return nodes;
}

/** The same, with what is boilerplate in gray. */
function grayed(text, start, end, changed, gray) {
  const nodes = [];
  let at = start;
  for (const range of gray) {
    const [from, to] = [Math.max(range.start, start), Math.min(range.end, end)];
    if (from >= to) continue;
    nodes.push(...underlined(text, at, from, changed));
    nodes.push(make("span", { class: "boilerplate" }, ...underlined(text, from, to, changed)));
    at = to;
  }
  nodes.push(...underlined(text, at, end, changed));
  return nodes;
}

/**
 * The nodes of a text with its passages marked. `marks` is filled with the marks of each passage, by
 * number. The text content of the nodes is the text: numbers of passages are shown by the style sheet,
 * so that a copied passage contains nothing else. `changed` are ranges in UTF-16 units, in order, whose
 * words the counterpart of a passage does not have; `boilerplate` are ranges in bytes, which are gray;
 * `parts` are `{ name, start }` in bytes, whose names are shown by the style sheet too.
 */
export function markedText(text, ranges, marks, { changed = [], boilerplate = [], parts = [] } = {}) {
  const indices = indicesOfBytes(text, boilerplate.flat());
  const gray = boilerplate.map((range) => ({ start: indices.get(range[0]), end: indices.get(range[1]) }));
  const starts = indicesOfBytes(text, parts.map((part) => part.start));
  const named = new Map(parts.map((part) => [starts.get(part.start), part.name]));
  const nodes = document.createDocumentFragment();
  for (const { start, end, passages, starting } of segments(text, ranges, [...named.keys()])) {
    if (named.has(start)) nodes.append(make("span", { class: "part", "data-name": named.get(start), role: "heading", "aria-level": 4, "aria-label": named.get(start) }));
    if (passages.length === 0) {
      nodes.append(...grayed(text, start, end, [], gray));
      continue;
    }
    const innermost = passages.at(-1);
    const mark = make("mark", {
      class: `passage ${colorClass(innermost)}${passages.length > 1 ? " overlapping" : ""}`,
      "data-passage": innermost,
      "data-passages": passages.join(" "),
      "data-number": starting.length > 0 && starting.join(" "),
      tabindex: starting.length > 0 && "0",
      title: listed(passages),
    }, ...grayed(text, start, end, changed, gray));
    for (const number of passages) {
      if (!marks.has(number)) marks.set(number, []);
      marks.get(number).push(mark);
    }
    nodes.append(mark);
  }
  return nodes;
}
