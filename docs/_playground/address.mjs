/**
 * What the address of the page says: `#lesson=NAME&buffer=8`, or `#v1&a=TEXT&b=TEXT`, where a text is
 * deflated and in base64 for addresses.
 *
 * @typedef {{ a: string, b?: string }} Texts
 * @typedef {{ lesson?: string, changes?: Record<string, string> } & Partial<Texts>} Said a lesson, or texts
 */

/** An address is a stranger's: a few bytes of it could otherwise fill the memory. */
const MOST_CHARACTERS = 200_000;

/**
 * @param {string} hash of the address
 * @returns {Promise<Said | null>} null where it says nothing
 * @throws {Error} in words, where it says what this page does not understand
 */
export async function read(hash) {
  const said = new URLSearchParams(hash.replace(/^#/, ""));
  const { lesson, a, b, ...changes } = Object.fromEntries(said);
  if (lesson !== undefined) return { lesson, changes };
  if (a !== undefined && said.has("v1")) return { a: await unpacked(a), ...(b && { b: await unpacked(b) }) };
  if (said.size > 0) throw new Error("the address is not one of this page, or of a later version of it");
  return null;
}

/**
 * @param {Texts} texts
 * @returns {Promise<string>} the hash that says them
 */
export async function written({ a, b }) {
  return `#v1&a=${await packed(a)}${b === undefined ? "" : `&b=${await packed(b)}`}`;
}

/** @param {string} text */
async function packed(text) {
  const bytes = await through(new Blob([text]), new CompressionStream("deflate-raw"), Infinity);
  const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return letters.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {string} word */
async function unpacked(word) {
  try {
    const letters = atob(word.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const text = await through(new Blob([bytes]), new DecompressionStream("deflate-raw"), MOST_CHARACTERS);
    return new TextDecoder("utf-8", { fatal: true }).decode(text);
  } catch {
    throw new Error("the scenario in the address is damaged: was all of it copied?");
  }
}

/**
 * @param {Blob} blob
 * @param {CompressionStream | DecompressionStream} way
 * @param {number} most bytes
 */
async function through(blob, way, most) {
  const reader = blob.stream().pipeThrough(way).getReader();
  const parts = [];
  let length = 0;
  // Not `for await`: not every browser goes through streams so.
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    parts.push(value);
    length += value.length;
    if (length > most) throw new RangeError("too long");
  }
}
