/**
 * A run's block as views of its columns.
 *
 * @typedef {Record<string, Float64Array>} Table
 * @typedef {{ flow: number, time: number, mode: string | null, phase: string | null }} Mode
 * @typedef {Record<string, (number | null)[]>} Metrics
 * @typedef {{ tables: Record<string, Table>, modes: Mode[], summary: { flow: Metrics, link: Metrics,
 *   net: Record<string, number | null> } }} Columns
 */

/**
 * @param {ArrayBuffer} block
 * @returns {Columns}
 */
export function columnsOf(block) {
  const length = Number(new DataView(block).getBigUint64(0, true));
  const { tables, modes, summary } = JSON.parse(new TextDecoder().decode(new Uint8Array(block, 8, length)));
  const viewed = mapped(tables, ({ rows, columns }) =>
    mapped(columns, (first) => new Float64Array(block, 8 + length + 8 * first, rows)),
  );
  return { tables: viewed, modes, summary };
}

/**
 * @template V, W
 * @param {Record<string, V>} record
 * @param {(value: V) => W} change
 * @returns {Record<string, W>}
 */
function mapped(record, change) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
