/** What becomes of a scenario: kept in the address, shared, downloaded, run elsewhere. */

import * as address from "./address.mjs";
import { find, notify } from "./dom.mjs";
import { shown } from "./quantity.mjs";

/** Milliseconds of rest after which the address follows; browsers limit how often it may. */
const REST = 300;

export class Actions {
  /**
   * @param {() => import("./address.mjs").Texts} texts of all settings
   * @param {() => string} text of the one that is edited
   */
  constructor(texts, text) {
    this.texts = texts;
    find("share").onclick = async () => {
      await this.#write();
      copy(location.href, "The address of this scenario is copied.");
    };
    find("download").onclick = () => download("playground.toml", text());
    find("local").onclick = () => find("commands").showModal();
    find("close").onclick = () => find("commands").close();
    find("copy-commands").onclick = () => copy(find("typed").textContent, "The commands are copied.");
  }

  /** What the address says. */
  said() {
    return address.read(location.hash);
  }

  /** Keeps the scenario in the address, once there is some rest. */
  remember() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#write(), REST);
  }

  async #write() {
    clearTimeout(this.timer);
    history.replaceState(null, "", await address.written(this.texts()));
  }

  /** Tells by what the numbers came. @param {any} opened @param {number} milliseconds */
  about({ build, modes_every: every, limits }, milliseconds) {
    find("build").textContent = build;
    find("took").textContent = `${shown(milliseconds, 2)} ms`;
    find("limits").textContent =
      `Modes are as of every ${every * 1000} ms. Here a run has at most ${limits.seconds} s, ` +
      `${limits.flows} flows and ${limits.packets / 1e6} million packets; the command line has no such limits.`;
  }
}

/** @param {string} text @param {string} done what is said then */
async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
    notify(done);
  } catch {
    notify("This browser does not let pages copy: please copy the address or the text by hand.");
  }
}

/** @param {string} name @param {string} text */
function download(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/toml" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
