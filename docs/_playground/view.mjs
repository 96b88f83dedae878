/** The plots of one setting. */

import { Chart, roomFor, token } from "./chart.mjs";
import { make } from "./dom.mjs";

/** @typedef {import("./series.mjs").Series} Series */

/** @type {[Exclude<keyof Series, "time" | "end" | "flows" | "links" | "events">, string, string][]} */
const CHARTS = [
  ["throughput", "Throughput", "Mbit/s"],
  ["window", "Congestion window", "segments"],
  ["rtt", "Smoothed RTT", "ms"],
  ["queue", "Queue", "packets"],
];
/** What happened to packets, and the colour of it. */
const EVENTS = {
  full: ["dropped, queue full", "--full"],
  law: ["dropped by the law", "--law"],
  lost: ["lost", "--lost"],
  mark: ["marked", "--mark"],
};
const MODES = 6;

export class View {
  /** @param {(from: number, to: number) => void} zoom */
  constructor(zoom) {
    this.charts = Object.fromEntries(
      CHARTS.map(([key, title, unit]) => [
        key,
        new Chart({
          title,
          unit,
          zoom,
          color: (line) => token(`--line-${line}`),
        }),
      ]),
    );
    this.element = make("div", { className: "plots" }, ...CHARTS.map(([key]) => this.charts[key].element));
  }

  /** @param {Series} series */
  static tops(series) {
    return Object.fromEntries(CHARTS.map(([key]) => [key, topOf(series[key])]));
  }

  /**
   * @param {Series} series
   * @param {{ from: number, to: number }} range s
   * @param {Record<string, number>} tops the highest value that each plot has room for
   */
  show(series, range, tops) {
    this.series = series;
    const names = series.flows.map(({ name }, number) => `${number + 1} ${name}`);
    for (const [key] of CHARTS) {
      const rows = key === "window" ? this.#modes(series) : key === "queue" ? this.#events(series) : [];
      this.charts[key].show(
        {
          time: series.time,
          lines: series[key],
          names: key === "queue" ? series.links : names,
          rows,
          top: tops[key] * (1 + roomFor(rows.length)),
        },
        range,
      );
    }
  }

  /** @param {{ from: number, to: number }} range */
  look(range) {
    if (this.series) for (const chart of Object.values(this.charts)) chart.look(range);
  }

  /** @param {number} time s */
  reveal(time) {
    if (this.series) for (const chart of Object.values(this.charts)) chart.reveal(time);
  }

  recolor() {
    for (const chart of Object.values(this.charts)) chart.recolor();
  }

  /** @param {Series} series */
  #modes({ flows }) {
    const words = [...new Set(flows.flatMap(({ modes }) => modes.map(({ word }) => word)))];
    const color = (word) => token(`--mode-${words.indexOf(word) % MODES}`);
    legend(
      this.charts.window,
      words.map((word, number) => [`mode-${number % MODES}`, word]),
    );
    return flows.flatMap(({ modes }, number) =>
      modes.length === 0
        ? []
        : [
            {
              mark: token(`--line-${number}`),
              blocks: modes.map(({ from, to, word }) => ({ from, to, color: color(word) })),
            },
          ],
    );
  }

  /** @param {Series} series */
  #events({ time, events }) {
    const seen = Object.entries(EVENTS).filter(([event]) => events[event].some((count) => count > 0));
    legend(
      this.charts.queue,
      seen.map(([event, [word]]) => [event, `${total(events[event])} ${word}`]),
    );
    return seen.map(([event, [, color]]) => ({ mark: null, blocks: blocks(time, events[event], token(color)) }));
  }
}

/** @param {Float64Array[]} lines */
function topOf(lines) {
  let top = 0;
  for (const line of lines) for (const value of line) if (value > top) top = value;
  return top * 1.05 || 1;
}

/** @param {Float64Array} counts */
const total = (counts) => counts.reduce((sum, count) => sum + count, 0);

/** @param {Float64Array} time @param {Float64Array} counts @param {string} color */
function blocks(time, counts, color) {
  const found = [];
  counts.forEach((count, k) => {
    if (count > 0) found.push({ from: k ? time[k - 1] : 0, to: time[k], color });
  });
  return found;
}

/** @param {Chart} chart @param {string[][]} entries a class and a word each */
function legend(chart, entries) {
  chart.key.replaceChildren(
    ...entries.map(([kind, word]) => make("li", {}, make("span", { className: `block ${kind}` }), word)),
  );
}
