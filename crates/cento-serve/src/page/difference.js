// Marks the words that differ between two passages.

/** Passages whose numbers of words have a larger product are not compared: it would take too long. */
const STEPS_MAX = 4_000_000;

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Scripts without spaces, whose letters are compared one by one. */
const ALONE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

function words(text) {
  const found = [];
  for (const { 0: run, index } of text.matchAll(WORD)) {
    for (const { 0: word, index: at } of run.matchAll(ALONE)) {
      found.push({ key: word.toLowerCase(), start: index + at, end: index + at + word.length });
    }
  }
  return found;
}

/**
 * The words that only one of two passages has at its place: `{ left, right }`, ranges `{ start, end }` in
 * UTF-16 units, in order. Case and punctuation make no difference. By the longest common subsequence.
 */
export function differences(one, other) {
  const [a, b] = [words(one), words(other)];
  let head = 0;
  while (head < a.length && head < b.length && a[head].key === b[head].key) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head
    && a[a.length - 1 - tail].key === b[b.length - 1 - tail].key) tail += 1;
  const [left, right] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  if (left.length * right.length > STEPS_MAX) return { left: [], right: [] };
  const wide = right.length + 1;
  const longest = new Uint16Array((left.length + 1) * wide);
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      longest[i * wide + j] = left[i].key === right[j].key
        ? longest[(i + 1) * wide + j + 1] + 1
        : Math.max(longest[(i + 1) * wide + j], longest[i * wide + j + 1]);
    }
  }
  const found = { left: [], right: [] };
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i].key === right[j].key) {
      i += 1;
      j += 1;
    } else if (j === right.length || (i < left.length && longest[(i + 1) * wide + j] >= longest[i * wide + j + 1])) {
      found.left.push({ start: left[i].start, end: left[i].end });
      i += 1;
    } else {
      found.right.push({ start: right[j].start, end: right[j].end });
      j += 1;
    }
  }
  return found;
}
