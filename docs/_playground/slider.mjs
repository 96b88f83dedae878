/** A slider whose stops are given numbers, so that arrow keys go through values that people would choose. */

import { make } from "./dom.mjs";
import { shown } from "./quantity.mjs";

/**
 * @param {{ label: string, unit: string, stops: number[], name: string, change(value: number): void }} options
 *   `name` is what its output is called in tests and styles
 * @returns {{ element: HTMLElement, show(value: number): void }}
 */
export function slider({ label, unit, stops, name, change }) {
  const output = make("output", {});
  const input = make("input", { type: "range", min: "0", max: String(stops.length - 1), step: "1", name });
  const tell = (/** @type {number} */ value) => {
    output.textContent = `${shown(value)} ${unit}`;
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.oninput = () => {
    const value = stops[Number(input.value)];
    tell(value);
    change(value);
  };
  return {
    element: make("label", { className: "slider" }, make("span", {}, label), input, output),
    show(value) {
      input.value = String(nearest(stops, value));
      tell(value);
    },
  };
}

/**
 * @param {number[]} stops
 * @param {number} value
 * @returns {number} the index of the stop next to a value
 */
export function nearest(stops, value) {
  let best = 0;
  stops.forEach((stop, index) => {
    if (Math.abs(stop - value) < Math.abs(stops[best] - value)) best = index;
  });
  return best;
}
