/** What part of the time all plots look at. */

import { find } from "./dom.mjs";

/** Closer than this share of a run there is nothing to see. */
const CLOSEST = 0.005;

export class Zoom {
  /** @param {(range: { from: number, to: number }) => void} look */
  constructor(look) {
    this.look = look;
    this.end = 0;
    this.range = { from: 0, to: 0 };
    find("nearer").onclick = () => this.by(0.5);
    find("farther").onclick = () => this.by(2);
    find("whole").onclick = () => this.all();
    const keys = { "+": () => this.by(0.5), "=": () => this.by(0.5), "-": () => this.by(2), 0: () => this.all() };
    find("player").addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || !(event.key in keys)) return;
      event.preventDefault();
      keys[event.key]();
    });
  }

  /** A run of another length is looked at as a whole. @param {number} end s */
  measure(end) {
    if (end === this.end) return;
    this.end = end;
    this.range = { from: 0, to: end };
  }

  /** @param {number} from s @param {number} to s */
  to(from, to) {
    const width = Math.min(Math.max(to - from, this.end * CLOSEST), this.end);
    const start = Math.max(0, Math.min(from, this.end - width));
    this.range = { from: start, to: start + width };
    this.look(this.range);
  }

  /** Around what is played, where that is in sight, else around the middle. @param {number} factor */
  by(factor) {
    const { from, to } = this.range;
    const time = Number(find("scrub").value);
    const middle = time > from && time < to ? time : (from + to) / 2;
    const half = ((to - from) * factor) / 2;
    this.to(middle - half, middle + half);
  }

  all() {
    this.to(0, this.end);
  }
}
