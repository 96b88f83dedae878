/** One plot over time: lines, rows of coloured spans above them, and what is not yet revealed. */

import { make } from "./dom.mjs";
import { shown } from "./quantity.mjs";

/** Beside the colour, what tells lines apart. */
const DASHES = [[], [8, 4], [2, 3], [8, 3, 2, 3]];
const ROW = 7;

/**
 * @typedef {{ from: number, to: number, color: string }} Block
 * @typedef {{ mark: string | null, blocks: Block[] }} Row its colour at the left, spans in seconds
 * @typedef {{ time: Float64Array, lines: Float64Array[], names: string[], rows: Row[], top: number }} Picture
 */

/** The value of a custom property of the page's style. @param {string} name */
export const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export class Chart {
  /**
   * @param {{ title: string, unit: string, zoom(from: number, to: number): void, color(line: number): string }} options
   */
  constructor({ title, unit, zoom, color }) {
    this.zoom = zoom;
    this.color = color;
    this.place = make("div", {
      className: "canvas",
      role: "img",
      "aria-label": `${title} over time; the table has numbers`,
    });
    this.values = make("ul", { className: "values" });
    this.key = make("ul", { className: "key" });
    const caption = make("figcaption", {}, make("b", {}, title), ` ${unit}`, this.values, this.key);
    this.element = make("figure", {}, caption, this.place);
    this.veil = make("div", { className: "veil" });
    new ResizeObserver(() => this.#resize()).observe(this.place);
  }

  /**
   * @param {Picture} picture
   * @param {{ from: number, to: number }} range s
   */
  show(picture, range) {
    this.picture = picture;
    this.range = range;
    this.element.hidden = picture.lines.length === 0;
    const data = [picture.time, ...picture.lines.map((line) => Array.from(line, (v) => (Number.isNaN(v) ? null : v)))];
    if (this.plot?.series.length !== data.length) this.#make(data);
    else this.plot.setData(data, false);
    this.outputs = picture.names.map(() => make("output", {}));
    this.values.replaceChildren(
      ...picture.names.map((name, line) =>
        make("li", {}, make("span", { className: `swatch line-${line}` }), `${name} `, this.outputs[line]),
      ),
    );
    this.look(range);
  }

  /** Makes the plot anew, with the colours that the page has now. */
  recolor() {
    this.plot?.destroy();
    this.plot = null;
    if (this.picture) this.show(this.picture, this.range);
  }

  /** @param {{ from: number, to: number }} range s */
  look(range) {
    this.range = range;
    this.plot.setScale("x", { min: range.from, max: range.to });
    this.reveal(this.revealed ?? Infinity);
  }

  /** Veils what comes after a time. @param {number} time s */
  reveal(time) {
    this.revealed = time;
    if (!this.plot) return;
    const share = (time - this.range.from) / (this.range.to - this.range.from);
    this.veil.style.left = `${Math.max(0, Math.min(share, 1)) * 100}%`;
    this.veil.hidden = share >= 1;
    this.#read(this.plot.cursor.idx ?? null);
  }

  /** Tells the values under the cursor, else those at the time that is revealed. @param {number | null} index */
  #read(index) {
    const { time, lines } = this.picture;
    const after = time.findIndex((t) => t >= this.revealed);
    const at = index ?? (after < 0 ? time.length - 1 : after);
    this.outputs.forEach((output, line) => {
      output.textContent = shown(lines[line][at] ?? NaN);
    });
  }

  #resize() {
    if (this.plot && this.place.clientWidth) this.plot.setSize(this.#size());
  }

  #size() {
    return { width: this.place.clientWidth || 320, height: Number.parseFloat(token("--plot")) };
  }

  /** @param {any[]} data */
  #make(data) {
    this.plot?.destroy();
    const [ink, rule] = [token("--faint"), token("--rule")];
    const axis = {
      stroke: ink,
      font: "12px system-ui",
      grid: { stroke: rule, width: 1 },
      ticks: { stroke: rule, width: 1, size: 4 },
    };
    this.plot = new globalThis.uPlot(
      {
        ...this.#size(),
        legend: { show: false },
        padding: [6, 18, 0, 0],
        scales: {
          x: { time: false, range: () => [this.range.from, this.range.to] },
          y: { range: () => [0, this.picture.top] },
        },
        axes: [
          { ...axis, size: 24, gap: 2, values: (_, ticks) => ticks.map((t) => `${t} s`) },
          { ...axis, size: 44, gap: 4 },
        ],
        cursor: { sync: { key: "time" }, drag: { x: true, y: false, setScale: false }, points: { show: false } },
        series: [
          {},
          ...data.slice(1).map((_, line) => ({
            stroke: this.color(line),
            width: 1.6,
            dash: DASHES[line % DASHES.length],
            points: { show: false },
          })),
        ],
        hooks: {
          draw: [(plot) => drawRows(plot, this.picture.rows)],
          setCursor: [(plot) => this.#read(plot.cursor.idx ?? null)],
          setSelect: [(plot) => this.#select(plot)],
        },
      },
      data,
      this.place,
    );
    this.plot.over.append(this.veil);
  }

  /** What was dragged over is looked at. */
  #select(plot) {
    const { left, width } = plot.select;
    if (width < 6) return;
    const [from, to] = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.zoom(from, to);
  }
}

/** @param {any} plot @param {Row[]} rows */
function drawRows(plot, rows) {
  const { ctx, bbox } = plot;
  const scale = globalThis.devicePixelRatio;
  const x = (time) => Math.max(bbox.left, Math.min(plot.valToPos(time, "x", true), bbox.left + bbox.width));
  ctx.save();
  rows.forEach(({ mark, blocks }, number) => {
    const y = bbox.top + number * (ROW + 2) * scale;
    for (const { from, to, color } of blocks) {
      if (x(to) <= bbox.left || x(from) >= bbox.left + bbox.width) continue;
      ctx.fillStyle = color;
      // What lasts for a moment only is seen, too.
      ctx.fillRect(x(from), y, Math.max(x(to) - x(from), scale), ROW * scale);
    }
    if (mark === null) return;
    ctx.fillStyle = mark;
    ctx.fillRect(bbox.left - 6 * scale, y, 5 * scale, ROW * scale);
  });
  ctx.restore();
}

/** The height that rows need, as a share of a plot's. @param {number} rows */
export const roomFor = (rows) => (rows * (ROW + 2)) / (Number.parseFloat(token("--plot")) - 32);
