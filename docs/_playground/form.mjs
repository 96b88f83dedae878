/** The sliders: they show a model, and tell of each change. */

import { make } from "./dom.mjs";
import { CONTROLS, MOST_FLOWS, QUEUES, STOPS } from "./model.mjs";
import { slider } from "./slider.mjs";

/** @typedef {import("./model.mjs").Model} Model */

/** @type {[Exclude<keyof Model, "flows" | "name" | "ecn" | "queue">, string, string][]} */
const NUMBERS = [
  ["rate", "Rate", "Mbit/s"],
  ["buffer", "Buffer", "BDP"],
  ["loss", "Loss", "%"],
  ["duration", "Duration", "s"],
];

export class Form {
  /**
   * @param {HTMLElement} place
   * @param {(model: Model) => void} change
   */
  constructor(place, change) {
    this.change = change;
    this.flows = make("div", { className: "flows" });
    this.sliders = NUMBERS.map(([name, label, unit]) =>
      slider({
        name,
        label,
        unit,
        stops: STOPS[name],
        change: (value) => this.#set({ [name]: value }),
      }),
    );
    this.rtt = slider({
      name: "rtt",
      label: "RTT",
      unit: "ms",
      stops: STOPS.rtt,
      change: (value) => this.#setAll(value),
    });
    this.queue = choice("Queue", "queue", QUEUES, (kind) => this.#set({ queue: kind }));
    this.ecn = make("input", { type: "checkbox", name: "ecn", onchange: () => this.#set({ ecn: this.ecn.checked }) });
    this.apart = make("input", { type: "checkbox", name: "apart", onchange: () => this.show(this.model) });
    this.add = make("button", { type: "button", className: "add", onclick: () => this.#add() }, "Add a flow");
    const [rate, ...others] = this.sliders.map(({ element }) => element);
    place.append(
      this.flows,
      this.add,
      rate,
      this.rtt.element,
      check(this.apart, "Each flow has an RTT of its own"),
      ...others,
      this.queue.element,
      check(this.ecn, "ECN"),
    );
  }

  /** @param {Model} model */
  show(model) {
    this.model = model;
    NUMBERS.forEach(([name], number) => this.sliders[number].show(model[name]));
    const [{ rtt }] = model.flows;
    if (model.flows.some((flow) => flow.rtt !== rtt)) this.apart.checked = true;
    this.rtt.show(rtt);
    this.rtt.element.hidden = this.apart.checked;
    this.queue.select.value = model.queue;
    this.ecn.checked = model.ecn;
    this.add.disabled = model.flows.length >= MOST_FLOWS;
    this.#showFlows(model);
  }

  /** Rows are made anew only where their number changes, so that a slider that is dragged stays. */
  #showFlows({ flows }) {
    if (this.rows?.length !== flows.length) {
      this.rows = flows.map((_, number) => this.#row(number, flows.length));
      this.flows.replaceChildren(...this.rows.map(({ element }) => element));
    }
    flows.forEach((flow, number) => {
      const { control, start, rtt } = this.rows[number];
      control.select.value = flow.cca;
      start.show(flow.start);
      rtt.show(flow.rtt);
      rtt.element.hidden = !this.apart.checked;
    });
  }

  /** @param {number} number @param {number} of how many */
  #row(number, of) {
    const set = (part) =>
      this.#set({
        flows: this.model.flows.map((flow, k) => (k === number ? { ...flow, ...part } : flow)),
      });
    const control = choice("Control", `flow${number + 1}`, CONTROLS, (cca) => set({ cca }));
    const start = slider({
      name: `start${number + 1}`,
      label: "Start",
      unit: "s",
      stops: STOPS.start,
      change: (value) => set({ start: value }),
    });
    const rtt = slider({
      name: `rtt${number + 1}`,
      label: "RTT",
      unit: "ms",
      stops: STOPS.rtt,
      change: (value) => set({ rtt: value }),
    });
    const remove = make(
      "button",
      {
        type: "button",
        className: "remove",
        title: `Remove flow ${number + 1}`,
        disabled: of === 1,
        onclick: () => this.#set({ flows: this.model.flows.filter((_, k) => k !== number) }),
      },
      make("span", { "aria-hidden": "true" }, "×"),
      make("span", { className: "unseen" }, `Remove flow ${number + 1}`),
    );
    const legend = make("legend", {}, make("span", { className: `swatch line-${number}` }), `Flow ${number + 1}`);
    const element = make("fieldset", {}, legend, control.element, remove, start.element, rtt.element);
    return { element, control, start, rtt };
  }

  #add() {
    const { flows } = this.model;
    this.#set({ flows: [...flows, { ...flows[flows.length - 1] }] });
  }

  /** @param {number} rtt */
  #setAll(rtt) {
    this.#set({ flows: this.model.flows.map((flow) => ({ ...flow, rtt })) });
  }

  /** @param {Partial<Model>} part */
  #set(part) {
    this.show({ ...this.model, ...part });
    this.change(this.model);
  }
}

/**
 * @param {string} label
 * @param {string} name
 * @param {Record<string, string>} options texts by values
 * @param {(value: string) => void} change
 */
function choice(label, name, options, change) {
  const select = make(
    "select",
    { name, onchange: () => change(select.value) },
    ...Object.entries(options).map(([value, text]) => make("option", { value }, text)),
  );
  return { select, element: make("label", { className: "choice" }, make("span", {}, label), select) };
}

/** @param {HTMLElement} input @param {string} label */
const check = (input, label) => make("label", { className: "check" }, input, make("span", {}, label));
