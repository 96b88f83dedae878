/**
 * What part of a run is shown: all of it, or up to a time that plays.
 *
 * Runs are computed at once; playing reveals them.
 */

import { find, make } from "./dom.mjs";

/** Seconds of the run for each second that passes. */
const SPEEDS = [1, 2, 5];

/** The clock alone, without a page. */
export class Clock {
  constructor() {
    this.end = 0;
    this.time = 0;
    this.speed = 1;
    this.playing = false;
  }

  /** A run of another length shows whole, unless it plays or had been stopped on the way. @param {number} end s */
  measure(end) {
    const whole = this.time >= this.end;
    this.end = end;
    this.time = whole && !this.playing ? end : Math.min(this.time, end);
  }

  /** Starts, from the beginning where all has been shown; or stops. */
  toggle() {
    this.playing = !this.playing;
    if (this.playing && this.time >= this.end) this.time = 0;
  }

  /** @param {number} time s */
  seek(time) {
    this.time = Math.max(0, Math.min(time, this.end));
  }

  /** @param {number} seconds that have passed */
  pass(seconds) {
    if (!this.playing) return;
    this.seek(this.time + seconds * this.speed);
    this.playing = this.time < this.end;
  }
}

export class Player {
  /** @param {(time: number) => void} reveal */
  constructor(reveal) {
    this.clock = new Clock();
    this.reveal = reveal;
    this.button = find("play");
    this.scrub = find("scrub");
    this.output = find("time");
    this.button.onclick = () => {
      this.clock.toggle();
      this.last = null;
      this.#frame(performance.now());
    };
    this.scrub.oninput = () => {
      this.clock.seek(Number(this.scrub.value));
      this.show();
    };
    find("speed").append(...SPEEDS.map((speed) => make("option", { value: String(speed) }, `${speed}×`)));
    find("speed").onchange = () => {
      this.clock.speed = Number(find("speed").value);
    };
    find("player").onkeydown = (event) => {
      if (event.key !== " " || event.target !== this.scrub) return;
      event.preventDefault();
      this.button.click();
    };
  }

  /** @param {number} end s */
  measure(end) {
    this.clock.measure(end);
    this.scrub.max = String(end);
    this.scrub.step = String(end / 200);
    this.show();
  }

  show() {
    const { time, playing } = this.clock;
    this.scrub.value = String(time);
    this.output.textContent = `${time.toFixed(1)} s`;
    this.scrub.setAttribute("aria-valuetext", this.output.textContent);
    this.button.textContent = playing ? "Pause" : "Play";
    this.reveal(time);
  }

  /** @param {number} now ms */
  #frame(now) {
    this.clock.pass(this.last === null ? 0 : (now - this.last) / 1000);
    this.last = now;
    this.show();
    if (this.clock.playing) requestAnimationFrame((next) => this.#frame(next));
  }
}
