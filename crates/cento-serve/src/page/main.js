// The tasks of the page, and the index.

import { get } from "./api.js";
import { byId, counted } from "./dom.js";
import { setUpPairs } from "./pairs_panel.js";
import { setUpRegister, tellWhatIsKept } from "./registry.js";
import { setUpSearch } from "./search.js";
import { report, setUpToken } from "./task.js";
import { setUpVerify } from "./verify.js";

const TABS = ["search", "pairs", "registry"];

function showTab(name) {
  for (const other of TABS) {
    const isChosen = other === name;
    const tab = byId(`tab-${other}`);
    tab.setAttribute("aria-selected", String(isChosen));
    // One tab is in the order of the Tab key; the arrow keys lead to the others.
    tab.tabIndex = isChosen ? 0 : -1;
    byId(`panel-${other}`).hidden = !isChosen;
  }
}

function showTabOfAddress() {
  const name = location.hash.slice(1);
  showTab(TABS.includes(name) ? name : TABS[0]);
}

function setUpTabs() {
  const moves = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  TABS.forEach((name, index) => {
    const tab = byId(`tab-${name}`);
    tab.addEventListener("click", () => {
      location.hash = name;
      showTab(name);
    });
    tab.addEventListener("keydown", (event) => {
      const places = { Home: 0, End: TABS.length - 1 };
      const to = event.key in moves ? (index + moves[event.key] + TABS.length) % TABS.length : places[event.key];
      if (to === undefined) return;
      event.preventDefault();
      byId(`tab-${TABS[to]}`).click();
      byId(`tab-${TABS[to]}`).focus();
    });
  });
  addEventListener("hashchange", showTabOfAddress);
  showTabOfAddress();
}

async function showStats() {
  try {
    const stats = await get("v1/stats");
    byId("stats").textContent = `${counted(stats.documents, "document")} to search`;
    tellWhatIsKept(stats);
  } catch (error) {
    report(error);
  }
}

byId("skip").addEventListener("click", (event) => {
  // The fragment of the address names the tab.
  event.preventDefault();
  byId("main").focus();
});
// A file that misses its place must not take the place of the page.
for (const kind of ["dragover", "drop"]) {
  addEventListener(kind, (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
}
setUpTabs();
setUpSearch();
setUpPairs(showStats);
setUpRegister(showStats);
setUpVerify();
setUpToken(showStats);
showStats();
