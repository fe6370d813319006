// How are rows of numbers shown, and one of them chosen?

import { make } from "./dom.js";

/**
 * Fills a table. A column is `{ title, text, isNumber, chooses }`: the one that `chooses` has the button
 * of its row. `onChoose` takes a row, `attributes` gives those of its element.
 *
 * On a narrow screen the style sheet makes a card of each row, which takes the roles of a table away;
 * so they are written out.
 */
export function fillTable(table, columns, rows, { onChoose = null, attributes = () => ({}) } = {}) {
  table.setAttribute("role", "table");
  for (const part of table.querySelectorAll("thead, tbody")) part.remove();
  const headings = columns.map(({ title, isNumber }) =>
    make("th", { role: "columnheader", scope: "col", class: isNumber && "number" }, title));
  const body = make("tbody", { role: "rowgroup" });
  for (const row of rows) {
    const line = make("tr", { role: "row", ...attributes(row) });
    for (const { title, text, isNumber, chooses } of columns) {
      const content = chooses && onChoose
        ? make("button", { type: "button", class: "choose" }, text(row))
        : text(row);
      line.append(make("td", { role: "cell", class: isNumber && "number", "data-title": title }, content));
    }
    if (onChoose) {
      line.classList.add("choosable");
      // The whole row can be clicked; the button in it serves the keyboard, and its click arrives here.
      line.addEventListener("click", () => onChoose(row, line));
    }
    body.append(line);
  }
  table.append(make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...headings)), body);
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
