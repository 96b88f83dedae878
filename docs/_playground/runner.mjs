/** The page's side of a worker: asks for runs, and hears of the newest only. */

import { columnsOf } from "./columns.mjs";

/**
 * @typedef {{ opened: any, columns: import("./columns.mjs").Columns, milliseconds: number,
 *   read: { model: import("./model.mjs").Model | null } | null }} Run `read` of the newest text, where it was asked for
 * @typedef {{ progress(share: number): void, refused(refusal: import("./engine.mjs").Refusal): void,
 *   done(run: Run): void, failed(message: string): void }} Listener
 */

export class Runner {
  /** @param {Listener} listener */
  constructor(listener) {
    this.listener = listener;
    this.asked = 0;
    this.heard = 0;
    this.worker = new Worker(new URL("worker.mjs", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this.#hear(data);
    this.worker.onerror = (event) => listener.failed(event.message || "the engine's script could not be loaded");
  }

  /**
   * Asks for a run; what was asked before may not be answered any more.
   * @param {string} text
   * @param {boolean} read whether the text's model is wanted
   */
  ask(text, read) {
    this.worker.postMessage({ id: ++this.asked, text, read });
  }

  /** Whether the newest is not answered yet. */
  get busy() {
    return this.asked !== this.heard;
  }

  end() {
    this.worker.terminate();
  }

  /** @param {import("./worker.mjs").Answer} answer */
  #hear(answer) {
    if (answer.kind === "failed") return this.listener.failed(answer.message);
    if (answer.id < this.heard) return undefined;
    this.heard = answer.id;
    if (answer.kind === "progress") return this.listener.progress(answer.share);
    if (answer.kind === "refused") return this.listener.refused(answer.refusal);
    const { id, opened, block, milliseconds } = answer;
    const read = id === this.asked ? answer.read : null;
    return this.listener.done({ opened, read, milliseconds, columns: columnsOf(block) });
  }
}
