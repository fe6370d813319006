// How is the page built from data?
//
// Text from files and from the service enters the page through textContent and setAttribute only, so
// that no document can bring markup of its own.

const SVG = "http://www.w3.org/2000/svg";

/** The element with this id. */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element #${id}`);
  return found;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  // A string among the children becomes a text node.
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** An element of HTML; an attribute `onclick` is a listener. */
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An element of SVG. */
export function makeSvg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

const COUNT = new Intl.NumberFormat("en");

/** A whole number, with separators. */
export function count(number) {
  return COUNT.format(number);
}

/** A number of things, such as "1 file" or "1,200 files". */
export function counted(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** A share from 0 to 1 in per cent, rounded as the command and the reports do it. */
export function percent(number) {
  // Only 1 is shown as all, and only 0 as nothing.
  const inner = Math.min(Math.max(Math.round(1000 * number), 1), 999);
  const thousandths = number <= 0 ? 0 : number >= 1 ? 1000 : inner;
  return `${Math.floor(thousandths / 10)}.${thousandths % 10}\u00a0%`;
}

/** A size. */
export function bytes(number) {
  if (number < 1e3) return `${number} B`;
  if (number < 1e6) return `${(number / 1e3).toFixed(0)} kB`;
  return `${(number / 1e6).toFixed(1)} MB`;
}

/** A time. */
export function duration(microseconds) {
  if (microseconds < 1e6) return `${(microseconds / 1000).toFixed(1)} ms`;
  return `${(microseconds / 1e6).toFixed(1)} s`;
}

const PATH_CHARACTERS_MAX = 40;
const NAME_CHARACTERS_MAX = 60;

/** The directory that all names are in, with the separator at its end. An address is not in a directory. */
function commonDirectory(names) {
  if (names.length === 0 || names.some((name) => name.includes("://"))) return "";
  const ends = [...names[0].matchAll(/[/\\]/g)].map(({ index }) => names[0].slice(0, index + 1)).reverse();
  return ends.find((directory) => names.every((name) => name.startsWith(directory))) ?? "";
}

/** A path without the parts between the first and the last, if it is too long. */
function shortPath(path) {
  const isLong = [...path].length > PATH_CHARACTERS_MAX;
  const [, first, last] = (isLong && /^([^/\\]*[/\\]).*([/\\].*)$/s.exec(path)) || [];
  return shortened(first === undefined ? path : `${first}\u2026${last}`, NAME_CHARACTERS_MAX);
}

/**
 * Short forms of the names of a list, by name: without the directory that all of them are in, and of a
 * long path the first and the last part. Reports shorten names in the same way.
 */
export function shortNames(names) {
  const different = [...new Set(names)];
  const common = commonDirectory(different);
  const rest = (name) => name.slice(common.length) || name;
  const forms = different.map((name) => shortPath(rest(name)));
  const isAlone = (form) => forms.indexOf(form) === forms.lastIndexOf(form);
  return new Map(different.map((name, index) => [name, isAlone(forms[index]) ? forms[index] : rest(name)]));
}

/** Short forms of the names of vertices, by vertex; those of each kind are a list of their own. */
export function shortVertices(vertices) {
  const ofKind = (kind) => shortNames(vertices.filter((vertex) => vertex.kind === kind).map(({ name }) => name));
  const short = new Map([...new Set(vertices.map(({ kind }) => kind))].map((kind) => [kind, ofKind(kind)]));
  return new Map(vertices.map((vertex) => [vertex, short.get(vertex.kind).get(vertex.name)]));
}

/** A name of at most `max` characters, without its middle if need be: both ends tell files apart. */
export function shortened(name, max) {
  const characters = [...name];
  if (characters.length <= max) return name;
  const head = Math.ceil((max - 3) / 2);
  const tail = max - 3 - head;
  return `${characters.slice(0, head).join("")}...${characters.slice(-tail).join("")}`;
}

/** Hands a file that the service made to the reader, under this name. */
export function saveFile(file, name) {
  const address = URL.createObjectURL(file);
  make("a", { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}
