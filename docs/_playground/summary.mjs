/** What a run came to: in a sentence and in a table. */

import { make } from "./dom.mjs";
import { shown } from "./quantity.mjs";
import { nameOf } from "./series.mjs";

/** Metrics by scope: their names in results, what people call them, and their units. */
const METRICS = {
  flow: [
    ["mean_throughput_l4", "Throughput", "Mbit/s"],
    ["bottleneck_share_l4", "Share of the bottleneck", ""],
    ["mean_srtt_l4", "Smoothed RTT, mean", "ms"],
    ["p95_rtt_l4", "RTT, 95th percentile", "ms"],
    ["mean_cwnd_l4", "Window, mean", "segments"],
    ["total_retransmissions_l4", "Retransmissions", ""],
    ["total_rtos_l4", "Timeouts", ""],
    ["flow_completion_time_l4", "Completion time", "s"],
  ],
  link: [
    ["utilization_l1", "Utilisation", ""],
    ["mean_qdisc_delay_l2", "Time in the queue, mean", "ms"],
    ["p95_qdisc_delay_l2", "Time in the queue, 95th percentile", "ms"],
    ["total_qdisc_drops_l2", "Drops", ""],
    ["total_qdisc_marks_l2", "Marks", ""],
  ],
  net: [
    ["mean_agg_throughput_l4", "Throughput of all", "Mbit/s"],
    ["jains_fairness_of_means_throughput_l4", "Fairness (Jain's index)", ""],
  ],
};
/** More would be no sentence. */
const MOST_NAMED = 4;

/**
 * @param {any} opened
 * @param {import("./columns.mjs").Columns["summary"]} summary
 * @returns {string} who has what, and what waits
 */
export function sentence(opened, { flow, link }) {
  const rates = flow.mean_throughput_l4;
  const names = opened.flows.map(nameOf);
  const alone = (name) => names.indexOf(name) === names.lastIndexOf(name);
  const order = [...names.keys()].sort((a, b) => (rates[b] ?? 0) - (rates[a] ?? 0));
  const clauses = order.slice(0, MOST_NAMED).map((k, place) => {
    const name = alone(names[k]) ? names[k] : `${names[k]} ${k + 1}`;
    const share = flow.bottleneck_share_l4[k];
    const of = share === null ? "" : ` (${shown(Math.round(share * 100))} %)`;
    return `${name} has ${shown(rates[k], 3)}${place ? "" : " Mbit/s"}${of}`;
  });
  const others = order.length > MOST_NAMED ? `, and ${order.length - MOST_NAMED} more have less` : "";
  return (clauses.length > 0 ? `${clauses.join(", ")}${others}. ` : "") + waits(link);
}

/** @param {import("./columns.mjs").Metrics} link */
function waits({ mean_qdisc_delay_l2: [delay = null], total_qdisc_drops_l2: [drops = null] }) {
  const lost = drops ? `${shown(drops)} ${drops === 1 ? "was" : "were"} dropped` : "none was dropped";
  return `A packet waits ${shown(delay, 2)} ms in the queue on average; ${lost}.`;
}

/**
 * @param {any} opened
 * @param {import("./columns.mjs").Columns["summary"]} summary
 * @returns {HTMLElement}
 */
export function tablesOf(opened, summary) {
  const flows = opened.flows.map((flow, number) => `${number + 1} ${nameOf(flow)}`);
  const links = opened.links.map(({ id }) => id);
  const net = Object.fromEntries(Object.entries(summary.net).map(([name, value]) => [name, [value]]));
  return make(
    "div",
    { className: "tables" },
    flows.length === 0 ? null : table("Flows", flows, METRICS.flow, summary.flow),
    table("Links", links, METRICS.link, summary.link),
    table("Network", ["all"], METRICS.net, net),
  );
}

/**
 * @param {string} title
 * @param {string[]} owners a column each
 * @param {string[][]} metrics a row each
 * @param {import("./columns.mjs").Metrics} values
 */
function table(title, owners, metrics, values) {
  const head = make(
    "tr",
    {},
    make("th", { scope: "col" }, title),
    ...owners.map((owner) => make("th", { scope: "col" }, owner)),
  );
  const rows = metrics.map(([name, words, unit]) =>
    make(
      "tr",
      { "data-metric": name },
      make("th", { scope: "row", title: name }, words, unit && make("small", {}, ` ${unit}`)),
      ...owners.map((_, k) => make("td", { "data-value": String(values[name][k]) }, shown(values[name][k]))),
    ),
  );
  return make(
    "div",
    { className: "scroll", tabIndex: 0, role: "region", "aria-label": `Metrics: ${title}` },
    make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)),
  );
}
