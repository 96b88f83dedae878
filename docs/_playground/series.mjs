/**
 * What the plots show of a run.
 *
 * @typedef {{ from: number, to: number, word: string }} Span
 * @typedef {{ name: string, modes: Span[] }} Flow
 * @typedef {{ time: Float64Array, end: number, flows: Flow[], links: string[],
 *   throughput: Float64Array[], window: Float64Array[], rtt: Float64Array[], queue: Float64Array[],
 *   events: Record<Event, Float64Array> }} Series Mbit/s, segments, ms, packets; counts in each sample
 * @typedef {"full" | "law" | "lost" | "mark"} Event
 */

import { CONTROLS } from "./model.mjs";

/** More lines could not be told apart. */
export const MOST_LINES = 8;

/** What happens to packets at links, and the columns that count it. */
const EVENTS = {
  full: ["drops_overflow"],
  law: ["drops_aqm", "drops_policed"],
  lost: ["drops_loss"],
  mark: ["ce_marks", "sce_marks"],
};

/**
 * @param {any} opened what the core said of the scenario
 * @param {import("./columns.mjs").Columns} columns
 * @returns {Series}
 */
export function seriesOf(opened, { tables: { flow_samples: flows, link_samples: links }, modes }) {
  const time = strided(links.time, opened.links.length, 0);
  const lengths = time.map((now, sample) => now - (sample ? time[sample - 1] : 0));
  const ofFlows = (column) => shownOf(opened.flows).map((flow) => strided(column, opened.flows.length, flow));
  const ofLinks = (column) => shownOf(opened.links).map((link) => strided(column, opened.links.length, link));
  return {
    time,
    end: opened.end,
    flows: shownOf(opened.flows).map((flow) => ({
      name: nameOf(opened.flows[flow]),
      modes: spans(
        modes.filter((row) => row.flow === flow),
        opened.flows[flow].stop,
      ),
    })),
    links: shownOf(opened.links).map((link) => opened.links[link].id),
    throughput: ofFlows(flows.delivered_bytes).map((one) => one.map((bytes, k) => (bytes * 8e-6) / lengths[k])),
    window: ofFlows(flows.cwnd),
    rtt: ofFlows(flows.srtt).map((one) => one.map((seconds) => seconds * 1e3)),
    queue: ofLinks(links.queue_time).map((one) => one.map((integral, k) => integral / lengths[k])),
    events: counted(links, opened.links.length),
  };
}

/**
 * Flows by the name that people know: its label, or its control as it is spelled.
 * @param {{ name: string }} flow
 */
export const nameOf = ({ name }) => ({ ...CONTROLS, udp: "UDP" })[name] ?? name;

/** @param {unknown[]} owners */
const shownOf = (owners) => [...owners.keys()].slice(0, MOST_LINES);

/**
 * One owner's values of a column, whose rows are those of all owners, sample after sample.
 * @param {Float64Array} column
 * @param {number} owners
 * @param {number} owner
 */
function strided(column, owners, owner) {
  return Float64Array.from({ length: column.length / owners }, (_, sample) => column[sample * owners + owner]);
}

/**
 * @param {import("./columns.mjs").Table} links
 * @param {number} owners
 * @returns {Record<Event, Float64Array>}
 */
function counted(links, owners) {
  const sum = (names) =>
    Float64Array.from({ length: links.time.length / owners }, (_, sample) => {
      let count = 0;
      for (const name of names) for (let link = 0; link < owners; link++) count += links[name][sample * owners + link];
      return count;
    });
  return /** @type {any} */ (Object.fromEntries(Object.entries(EVENTS).map(([event, names]) => [event, sum(names)])));
}

/**
 * @param {import("./columns.mjs").Mode[]} modes of a flow
 * @param {number} stop when its last one ends
 * @returns {Span[]}
 */
function spans(modes, stop) {
  const until = (number) => modes[number + 1]?.time ?? stop;
  return modes
    .map(({ time, mode, phase }, number) => ({
      from: time,
      to: until(number),
      word: [mode, phase].filter(Boolean).join(" "),
    }))
    .filter(({ word }) => word);
}
