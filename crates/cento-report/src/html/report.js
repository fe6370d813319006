"use strict";
// Lists are sorted by their headings, and those of eight rows or more are filtered.
for (const table of document.querySelectorAll("table.list")) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const headings = [...table.tHead.rows[0].cells];
  const isNumber = (at) => headings[at].classList.contains("number");
  // A name is sorted as a whole, which its title has if it is shortened.
  const text = (row, at) => {
    const name = row.cells[at].querySelector("bdi");
    return name?.title || (name ?? row.cells[at]).textContent.trim();
  };
  const number = (row, at) => Number.parseFloat(text(row, at).replace(/,/g, "")) || 0;
  const compare = (at) => (isNumber(at)
    ? (a, b) => number(a, at) - number(b, at)
    : (a, b) => text(a, at).localeCompare(text(b, at), "en", { numeric: true }));
  const sort = (at, direction) => {
    const sign = direction === "ascending" ? 1 : -1;
    const inOrder = compare(at);
    body.append(...[...rows].sort((a, b) => sign * inOrder(a, b)));
    headings.forEach((heading, other) => {
      if (other === at) heading.setAttribute("aria-sort", direction);
      else heading.removeAttribute("aria-sort");
    });
  };
  if (rows.length > 1) {
    headings.forEach((heading, at) => {
      const [first, second] = isNumber(at) ? ["descending", "ascending"] : ["ascending", "descending"];
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...heading.childNodes);
      button.addEventListener("click", () =>
        sort(at, heading.getAttribute("aria-sort") === first ? second : first));
      heading.append(button);
    });
  }
  if (rows.length >= 8) {
    const field = document.createElement("input");
    const status = document.createElement("span");
    const label = document.createElement("label");
    status.setAttribute("role", "status");
    label.append("Show rows with ", field);
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
      for (const row of rows) {
        const titles = [...row.querySelectorAll("[title]")].map((element) => element.title);
        const all = [row.textContent, ...titles].join(" ").toLowerCase();
        row.hidden = !words.every((word) => all.includes(word));
      }
      const shown = rows.filter((row) => !row.hidden).length;
      status.textContent = words.length === 0 ? "" : `${shown} of ${rows.length} rows`;
    });
    const tools = document.createElement("div");
    tools.className = "tools";
    tools.append(label, status);
    (table.closest(".wide") ?? table).before(tools);
  }
}
// Recomputes the shares of a document when sources are unticked. Ranges are those of the bytes that
// count; sources are in the order of the file.
for (const section of document.querySelectorAll(".reuse")) {
  const total = Number(section.dataset.total);
  const rows = [...section.querySelectorAll("tr.source")].map((row) => ({
    row,
    number: Number(row.dataset.n),
    box: row.querySelector("input"),
    share: row.querySelector(".in-report"),
    bar: section.querySelector(`.bar rect[data-n="${row.dataset.n}"]`),
    ranges: row.dataset.ranges.split(" ").map((range) => range.split("-").map(Number)),
  }));
  const marks = [...section.querySelectorAll("mark")].map((mark) => ({
    mark,
    link: mark.firstElementChild,
    sources: mark.dataset.s.split(" ").map(Number),
  }));
  const colors = 12;
  const place = (bytes) => (total === 0 ? 0 : Math.floor((bytes * 1000 + Math.floor(total / 2)) / total));
  // Only 1 is shown as all, and only 0 as nothing.
  const thousandths = (bytes) => {
    if (bytes === 0 || total === 0) return 0;
    return bytes >= total ? 1000 : Math.min(Math.max(place(bytes), 1), 999);
  };
  const percent = (share) => `${Math.floor(share / 10)}.${share % 10}\u00a0%`;
  const length = (ranges) => ranges.reduce((sum, [start, end]) => sum + end - start, 0);
  const joined = (one, other) => {
    const all = [...one, ...other].sort((a, b) => a[0] - b[0]);
    const found = [];
    for (const [start, end] of all) {
      const last = found[found.length - 1];
      if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
      else found.push([start, end]);
    }
    return found;
  };
  const update = () => {
    let covered = [];
    const ticked = new Set();
    for (const { row, number, box, share, bar, ranges } of rows) {
      const before = length(covered);
      if (box.checked) {
        covered = joined(covered, ranges);
        ticked.add(number);
      }
      const after = length(covered);
      row.classList.toggle("out", !box.checked);
      if (share) share.textContent = box.checked ? percent(thousandths(after - before)) : "\u2013";
      bar.setAttribute("x", place(before));
      bar.setAttribute("width", place(after) - place(before));
    }
    // Those of a program are not shown as a sum.
    const sum = section.querySelector(".reused");
    if (sum) {
      const reused = thousandths(length(covered));
      sum.textContent = percent(reused);
      const others = reused + Number(section.dataset.apart);
      section.querySelector(".original").textContent = percent(total === 0 ? 0 : Math.max(0, 1000 - others));
      section.querySelector(".bar").setAttribute("aria-label", `${percent(reused)} reused`);
    }
    let before = null;
    let last = 0;
    for (const { mark, link, sources } of marks) {
      const owner = sources.find((source) => ticked.has(source)) ?? 0;
      const goesOn = before !== null && mark.previousSibling === before && last === owner;
      mark.className = owner === 0 ? "off" : `c${owner % colors}`;
      mark.classList.toggle("other", owner !== Number(mark.dataset.d));
      link.hidden = owner === 0 || goesOn;
      link.textContent = owner;
      link.href = `#${section.id}s${owner}`;
      before = mark;
      last = owner;
    }
  };
  for (const { box } of rows) box.addEventListener("change", update);
  for (const hidden of section.querySelectorAll(".scripted")) hidden.hidden = false;
  // A browser keeps ticks when a page is loaded again.
  if (rows.some(({ box }) => !box.checked)) update();
}
