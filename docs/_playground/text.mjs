/** The scenario file of a model. */

import { limitKey, OWN_FEEDBACK } from "./model.mjs";

/** Short runs are shown in finer samples than the core's 100 ms. */
const FINE_UP_TO = 20;

/**
 * @param {import("./model.mjs").Model} model
 * @returns {string} TOML
 */
export function textOf(model) {
  const { name, duration, rate, loss, queue, buffer } = model;
  return [
    `name = ${JSON.stringify(name)}`,
    `duration = "${duration} s"`,
    duration <= FINE_UP_TO && `sample_interval = "50 ms"`,
    ``,
    `[topology]`,
    `kind = "dumbbell"`,
    ``,
    `[topology.bottleneck]`,
    `rate = "${rate} Mbit/s"`,
    loss > 0 && `loss = "${loss} %"`,
    `queue = { kind = "${queue}", ${limitKey(queue)} = "${buffer} bdp" }`,
    ...model.flows.flatMap((flow) => flowLines(flow, model.ecn)),
    ``,
  ]
    .filter((line) => typeof line === "string")
    .join("\n");
}

/**
 * @param {import("./model.mjs").Flow} flow
 * @param {boolean} ecn
 */
function flowLines({ cca, rtt, start }, ecn) {
  return [
    ``,
    `[[flows]]`,
    `cca = "${cca}"`,
    `rtt = "${rtt} ms"`,
    start > 0 && `start = "${start} s"`,
    ecn && !OWN_FEEDBACK.has(cca) && `ecn = "classic"`,
  ];
}
