/**
 * What the sliders can say of a scenario: flows over one bottleneck.
 *
 * The text of the scenario is the truth. `text.mjs` makes it of a model; `modelOf` takes a model from
 * what the core made of a text.
 *
 * @typedef {{ cca: string, rtt: number, start: number }} Flow ms, s
 * @typedef {{ name: string, duration: number, rate: number, loss: number, queue: string, buffer: number,
 *   ecn: boolean, flows: Flow[] }} Model s, Mbit/s, %, bandwidth-delay products
 */

import { numberIn } from "./quantity.mjs";

/** What each slider passes through. */
export const STOPS = {
  rate: [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200],
  rtt: [1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200, 250, 300],
  buffer: [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16],
  loss: [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 1, 2, 5],
  duration: [5, 10, 15, 20, 30, 60, 90, 120],
  start: [0, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60, 90],
};

export const MOST_FLOWS = 8;

/** Congestion controls by name, as their field spells them. */
export const CONTROLS = {
  reno: "Reno",
  cubic: "Cubic",
  bbr: "BBR",
  bbr3: "BBRv3",
  prague: "Prague",
  dctcp: "DCTCP",
  copa: "Copa",
  vegas: "Vegas",
  ledbat: "LEDBAT",
  westwood: "Westwood",
  illinois: "Illinois",
  yeah: "YeAH",
  bic: "BIC",
  htcp: "H-TCP",
  highspeed: "HighSpeed",
  scalable: "Scalable",
  hybla: "Hybla",
  veno: "Veno",
};

/** Queue disciplines, likewise. */
export const QUEUES = {
  fifo: "FIFO",
  codel: "CoDel",
  fq_codel: "FQ-CoDel",
  pie: "PIE",
  fq_pie: "FQ-PIE",
  cake: "Cake",
  cobalt: "COBALT",
  dualpi2: "DualPI2",
  red: "RED",
  fq: "FQ",
};

/** Those that ask for a feedback of their own, whatever the network does. */
export const OWN_FEEDBACK = new Set(["prague", "dctcp"]);

/** @type {Model} The first picture. */
export const FIRST = {
  name: "playground",
  duration: 10,
  rate: 20,
  loss: 0,
  queue: "fifo",
  buffer: 0.5,
  ecn: false,
  flows: [
    { cca: "bbr", rtt: 40, start: 0 },
    { cca: "cubic", rtt: 40, start: 2 },
  ],
};

/** The key by which a queue discipline is told how much it may hold. */
export const limitKey = (/** @type {string} */ queue) => (queue === "cake" ? "memory" : "limit");

/**
 * The model of a scenario as the core has read it.
 *
 * It may leave out what sliders have no place for: whoever wants to know writes the model's text and
 * sees whether it comes to the same scenario.
 * @param {any} scenario its canonical form
 * @returns {Model | null} null where it has no such model
 */
export function modelOf(scenario) {
  const bottleneck = scenario.topology.bottleneck;
  const queue = bottleneck?.queue;
  if (!(queue?.kind in QUEUES)) return null;
  const flows = scenario.flows.map((/** @type {any} */ flow) => ({
    cca: flow.cca?.kind,
    rtt: numberIn(flow.rtt, "ms"),
    start: numberIn(flow.start, "s"),
  }));
  const model = {
    name: scenario.name,
    duration: numberIn(scenario.duration, "s"),
    rate: numberIn(bottleneck.rate, "Mbit/s"),
    loss: numberIn(bottleneck.loss, "%"),
    queue: queue.kind,
    buffer: numberIn(queue[limitKey(queue.kind)], "bdp"),
    ecn: scenario.flows.some((/** @type {any} */ flow) => flow.ecn === "classic"),
    flows,
  };
  return readable(model) ? model : null;
}

/** @param {Model} model */
function readable({ flows, duration, rate, loss, buffer }) {
  const numbers = [duration, rate, loss, buffer, ...flows.flatMap(({ rtt, start }) => [rtt, start])];
  const few = flows.length >= 1 && flows.length <= MOST_FLOWS;
  return few && flows.every(({ cca }) => cca in CONTROLS) && !numbers.some(Number.isNaN);
}

/**
 * A model with changes that an address names: `{ buffer: "8", flow2: "reno", rtt1: "100" }`.
 * @param {Model} model
 * @param {Record<string, string>} changes keys of a model; `flowN`, `rttN`, `startN` of its Nth flow
 * @returns {Model}
 * @throws {Error} that names a change it does not know
 */
export function changed(model, changes) {
  const made = structuredClone(model);
  for (const [key, value] of Object.entries(changes)) {
    const [, field, nth] = /^(flow|rtt|start)(\d)$/.exec(key) ?? [];
    const flow = made.flows[Number(nth) - 1];
    if (field === "flow" && flow && value in CONTROLS) flow.cca = value;
    else if (field && field !== "flow" && flow && Number(value) >= 0) flow[field] = Number(value);
    else if (key === "queue" && value in QUEUES) made.queue = value;
    else if (key === "ecn" && ["on", "off"].includes(value)) made.ecn = value === "on";
    else if (["duration", "rate", "loss", "buffer"].includes(key) && Number(value) >= 0) made[key] = Number(value);
    else throw new Error(`the address asks for ${key}=${value}, which is no setting of this lesson`);
  }
  return made;
}
