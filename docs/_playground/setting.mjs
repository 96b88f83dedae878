/** One setting: its text, its model where sliders show all of it, its run and what is seen of it. */

import { make } from "./dom.mjs";
import { Runner } from "./runner.mjs";
import { seriesOf } from "./series.mjs";
import { sentence, tablesOf } from "./summary.mjs";
import { textOf } from "./text.mjs";
import { View } from "./view.mjs";

/**
 * @typedef {import("./model.mjs").Model} Model
 * @typedef {{ zoom(from: number, to: number): void, ran(setting: Setting): void, told(setting: Setting): void,
 *   failed(message: string): void }} Listener
 */

export class Setting {
  /** @param {"A" | "B"} name @param {Listener} listener */
  constructor(name, listener) {
    this.name = name;
    this.listener = listener;
    this.text = "";
    /** @type {Model | null} */
    this.model = null;
    /** @type {Model | null} The last one that there was. */
    this.last = null;
    /** Whether the model is still that of another text: it is being read, or was refused. */
    this.reading = false;
    this.refusal = null;
    this.opened = null;
    this.view = new View(listener.zoom);
    this.progress = make("progress", { max: 1, hidden: true, "aria-label": "Simulated" });
    this.sentence = make("p", { className: "sentence", "aria-live": "polite" });
    this.tables = make("div", {});
    const heading = make("h2", { className: "only-compared" }, `Setting ${name}`);
    this.element = make(
      "section",
      { className: "setting", "aria-label": `Setting ${name}` },
      heading,
      this.sentence,
      this.progress,
      this.view.element,
      this.tables,
    );
    this.runner = new Runner({
      progress: (share) => {
        this.progress.hidden = false;
        this.progress.value = share;
      },
      refused: (refusal) => this.#refused(refusal),
      done: (run) => this.#done(run),
      failed: listener.failed,
    });
  }

  /** @param {Model} model */
  setModel(model) {
    this.model = this.last = model;
    this.#ask(textOf(model), false);
  }

  /** The sliders follow when the core has read it. @param {string} text */
  setText(text) {
    this.#ask(text, true);
  }

  /** @param {string} text @param {boolean} read */
  #ask(text, read) {
    this.text = text;
    this.reading = read;
    this.runner.ask(text, read);
    this.element.setAttribute("aria-busy", "true");
  }

  end() {
    this.runner.end();
    this.element.remove();
  }

  /** @param {import("./engine.mjs").Refusal | null} refusal */
  #answered(refusal) {
    this.refusal = refusal;
    this.progress.hidden = true;
    this.element.setAttribute("aria-busy", String(this.runner.busy));
    this.element.classList.toggle("stale", refusal !== null);
  }

  /** @param {import("./engine.mjs").Refusal} refusal */
  #refused(refusal) {
    this.#answered(refusal);
    this.listener.told(this);
  }

  /** @param {import("./runner.mjs").Run} run */
  #done({ opened, columns, read, milliseconds }) {
    this.#answered(null);
    if (read) {
      this.reading = false;
      this.model = read.model;
      this.last = this.model ?? this.last;
    }
    this.opened = opened;
    this.milliseconds = milliseconds;
    this.series = seriesOf(opened, columns);
    this.sentence.textContent = sentence(opened, columns.summary);
    this.tables.replaceChildren(tablesOf(opened, columns.summary));
    this.listener.ran(this);
  }
}
