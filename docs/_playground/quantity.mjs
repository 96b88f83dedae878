/** Quantities as the core writes them: `"20500 kbit/s"`, `"0.5 bdp"`. */

/** How much of the first unit of its row each unit is. */
const UNITS = {
  s: { s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9, min: 60 },
  ms: { ms: 1, s: 1e3, us: 1e-3, ns: 1e-6, min: 6e4 },
  "Mbit/s": { "Mbit/s": 1, "Gbit/s": 1e3, "kbit/s": 1e-3, "bit/s": 1e-6 },
  bdp: { bdp: 1 },
  "%": { "%": 1 },
};

/**
 * The number of a quantity in a unit; NaN of what is none, or has another dimension.
 * @param {unknown} text such as `"40500 us"`
 * @param {keyof typeof UNITS} unit such as `"ms"`
 * @returns {number}
 */
export function numberIn(text, unit) {
  const [, number, given] = /^(\S+) (\S+)$/.exec(String(text)) ?? [];
  const factor = UNITS[unit][given];
  // Rounded, so that 0.1 % of a thousandth does not become 0.1 and a rest.
  return factor === undefined ? NaN : Number((Number(number) * factor).toPrecision(12));
}

/**
 * A number as people read it, without an exponent.
 * @param {number | null} value
 * @param {number} [digits] that count, at most, after the point
 * @returns {string} "–" of what is undefined
 */
export function shown(value, digits = 4) {
  if (value === null || Number.isNaN(value)) return "–";
  if (Math.abs(value) >= 10 ** digits) return String(Math.round(value));
  return String(Number(value.toPrecision(digits)));
}
