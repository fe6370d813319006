// Tables of results: rows to choose from, sorted and filtered by the reader.

import { counted, make } from "./dom.js";

// Fewer rows are seen at a glance.
const SORT_ROWS_MIN = 4;
const FILTER_ROWS_MIN = 8;

/**
 * Fills a table, and returns the element of each row. A column is
 * `{ title, text, value, full, isNumber, chooses, sorted }`: `value` is the number or text to sort by,
 * `full` the whole of a shortened text, and the column that `chooses` has the button of its row. Rows
 * come in the order of the column that is `sorted`. `onChoose` takes a row, `attributes` gives those of
 * its element. A `pinned` row stays first, and is never filtered out.
 *
 * On a narrow screen the style sheet makes a card of each row, which takes the roles of a table away;
 * so they are written out.
 */
export function fillTable(table, columns, rows, options = {}) {
  const { onChoose = null, attributes = () => ({}), pinned = () => false } = options;
  table.setAttribute("role", "table");
  for (const part of table.querySelectorAll("thead, tbody")) part.remove();
  const body = make("tbody", { role: "rowgroup" });
  const elements = new Map();
  for (const row of rows) {
    const line = make("tr", { role: "row", ...attributes(row) });
    for (const { title, text, full, isNumber, chooses } of columns) {
      const whole = full?.(row);
      const content = chooses && onChoose
        ? make("button", { type: "button", class: "choose", title: whole }, text(row))
        : text(row);
      line.append(make("td", {
        role: "cell", class: isNumber ? "number" : whole && "name", "data-title": title, title: !chooses && whole,
      }, content));
    }
    if (onChoose) {
      line.classList.add("choosable");
      // The whole row can be clicked; the button in it serves the keyboard, and its click arrives here.
      line.addEventListener("click", () => onChoose(row, line));
    }
    elements.set(row, line);
    body.append(line);
  }
  const view = { table, columns, rows, elements, body, pinned };
  const headings = make("tr", { role: "row" }, ...columns.map((column) => heading(view, column)));
  table.append(make("thead", { role: "rowgroup" }, headings), body);
  placeTools(view);
  return elements;
}

function heading(view, column) {
  const { title, isNumber, sorted } = column;
  const button = make("button", { type: "button", class: "sort" }, title);
  const cell = make("th", {
    role: "columnheader", scope: "col", class: isNumber && "number",
    "aria-sort": sorted && (isNumber ? "descending" : "ascending"),
  }, button);
  button.addEventListener("click", () => {
    const now = cell.getAttribute("aria-sort");
    const first = isNumber ? "descending" : "ascending";
    const other = isNumber ? "ascending" : "descending";
    sort(view, column, now === first ? other : first);
  });
  return cell;
}

/** Sorts the rows by a column. Equal rows keep their order. */
function sort({ table, columns, rows, elements, body, pinned }, column, direction) {
  const value = column.value ?? column.full ?? column.text;
  const compare = column.isNumber
    ? (a, b) => value(a) - value(b)
    : (a, b) => String(value(a)).localeCompare(String(value(b)), "en", { numeric: true });
  const sign = direction === "ascending" ? 1 : -1;
  const sorted = rows.toSorted((a, b) => pinned(b) - pinned(a) || sign * compare(a, b));
  body.append(...sorted.map((row) => elements.get(row)));
  [...table.querySelectorAll("thead th")].forEach((cell, index) => {
    if (columns[index] === column) cell.setAttribute("aria-sort", direction);
    else cell.removeAttribute("aria-sort");
  });
}

/** Shows only the rows that have all words of a text somewhere. */
function filter({ columns, rows, elements, pinned }, text, status) {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const isShown = (row) => {
    const cells = columns.map((column) => `${column.text(row)} ${column.full?.(row) ?? ""}`);
    const all = cells.join(" ").toLowerCase();
    return pinned(row) || words.every((word) => all.includes(word));
  };
  const shown = rows.filter(isShown);
  for (const row of rows) elements.get(row).classList.toggle("filtered-out", !isShown(row));
  status.textContent = words.length === 0 ? "" : `${shown.length} of ${counted(rows.length, "row")}`;
}

/** Puts a field to filter by, and for cards one to sort by, above the box of a table. */
function placeTools(view) {
  const { table, columns, rows } = view;
  const box = table.parentElement;
  if (!box) return;
  if (box.previousElementSibling?.classList.contains("table-tools")) box.previousElementSibling.remove();
  const tools = [];
  if (rows.length >= FILTER_ROWS_MIN) {
    const status = make("span", { class: "shown", role: "status" });
    const field = make("input", {
      type: "text", spellcheck: "false", autocomplete: "off",
      oninput: () => filter(view, field.value, status),
    });
    tools.push(make("label", { class: "filter" }, "Show rows with ", field), status);
  }
  if (rows.length >= SORT_ROWS_MIN) {
    const select = make("select", { onchange: () => {
      const column = columns[Number(select.value)];
      sort(view, column, column.isNumber ? "descending" : "ascending");
    } });
    if (!columns.some(({ sorted }) => sorted)) {
      select.append(make("option", { disabled: true, selected: true }, "order of the search"));
    }
    select.append(...columns.map(({ title, sorted }, index) =>
      make("option", { value: index, selected: sorted }, title)));
    tools.push(make("label", { class: "sort-by" }, "Sort by ", select));
  }
  if (tools.length > 0) box.before(make("div", { class: "table-tools" }, ...tools));
}

/** Marks the chosen row of a table. */
export function markChosen(table, line) {
  for (const other of table.querySelectorAll("tr.chosen")) {
    other.classList.remove("chosen");
    other.querySelector(".choose")?.removeAttribute("aria-current");
  }
  line?.classList.add("chosen");
  line?.querySelector(".choose")?.setAttribute("aria-current", "true");
}
