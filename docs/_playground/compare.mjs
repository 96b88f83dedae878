/** How two scenario files differ. */

import { find, make } from "./dom.mjs";

/**
 * Lists the lines that differ.
 * @param {string} a
 * @param {string} b
 */
export function tell(a, b) {
  const lines = differing(a, b).map(({ only, line }) =>
    make("li", {}, make("b", {}, `${only} `), make("code", {}, line)),
  );
  find("differences").replaceChildren(...(lines.length > 0 ? lines : [make("li", {}, "Both settings are the same.")]));
}

/**
 * @param {string} a
 * @param {string} b
 * @returns {{ only: "A" | "B", line: string }[]} lines that one has and the other has not, in their order
 */
export function differing(a, b) {
  const [left, right] = [a.split("\n"), b.split("\n")];
  const common = longest(left, right);
  const found = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      i++;
      j++;
    } else if (j >= right.length || (i < left.length && common[i + 1][j] >= common[i][j + 1]))
      found.push({ only: "A", line: left[i++] });
    else found.push({ only: "B", line: right[j++] });
  }
  return /** @type {any} */ (found.filter(({ line }) => line.trim() !== ""));
}

/**
 * Lengths of the longest common subsequences of the rests of two lists.
 * @param {string[]} left
 * @param {string[]} right
 */
function longest(left, right) {
  const table = Array.from({ length: left.length + 1 }, () => new Uint32Array(right.length + 1));
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      table[i][j] = left[i] === right[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  return table;
}
