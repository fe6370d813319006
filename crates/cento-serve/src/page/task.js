// Messages while the page works, and when something goes wrong.

import { ServiceError, keepToken, token } from "./api.js";
import { byId, make } from "./dom.js";

// A task that was refused for want of a token, to be done again with one.
let refused = null;

/** Takes the last message back. */
export function clearMessage() {
  byId("message").replaceChildren();
}

/** Shows a message, with a button that takes it back. */
export function showMessage(text) {
  const close = make("button", { type: "button", class: "close", onclick: clearMessage }, "Close");
  byId("message").replaceChildren(make("span", {}, text), close);
}

/** Shows why something failed; `again` is what to do when there is another token. */
export function report(error, again = null) {
  if (error?.name === "AbortError") return;
  if (!(error instanceof ServiceError)) console.error(error);
  showMessage(error?.message || String(error));
  if (error instanceof ServiceError && error.isDenied) {
    refused = again;
    byId("token-form").hidden = false;
    byId("token").value = token();
  }
}

/** Lets the token field do its work; `afterwards` is done with every new token. */
export function setUpToken(afterwards) {
  byId("token-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    keepToken(byId("token").value.trim());
    byId("token-form").hidden = true;
    clearMessage();
    const again = refused;
    refused = null;
    await afterwards();
    if (again) await again();
  });
}

/**
 * Something that a button of a panel starts, and that takes time. Returns a function that does an
 * action with `{ signal, say }` unless another one is still going on, and shows how it goes.
 */
export function makeTask(panel, status, button) {
  let current = null;
  const say = (text, ...more) => status.replaceChildren(text, ...more);
  const run = async (action) => {
    if (current) return;
    current = new AbortController();
    const { signal } = current;
    const stop = make("button", { type: "button", class: "stop", onclick: () => current?.abort() }, "Stop");
    clearMessage();
    panel.setAttribute("aria-busy", "true");
    // A disabled button would lose the focus.
    button.setAttribute("aria-disabled", "true");
    try {
      await action({ signal, say: (text) => say(`${text} `, stop) });
      if (stop.isConnected) say("");
    } catch (error) {
      say(signal.aborted ? "Stopped." : "");
      report(error, () => run(action));
    } finally {
      current = null;
      panel.setAttribute("aria-busy", "false");
      button.removeAttribute("aria-disabled");
    }
  };
  return run;
}

/** Returns a function that does an action with a signal, and stops the one before. */
export function makeLatest(region) {
  let current = null;
  const run = async (action) => {
    current?.abort();
    const mine = new AbortController();
    current = mine;
    region.setAttribute("aria-busy", "true");
    try {
      await action(mine.signal);
    } catch (error) {
      report(error, () => run(action));
    } finally {
      if (current === mine) region.setAttribute("aria-busy", "false");
    }
  };
  return run;
}
