/**
 * Runs scenario files by the page's engine: node blocks.mjs MODULE FILE...
 *
 * Beside each file it writes what is opened and the block, or the refusal.
 */

import { readFileSync, writeFileSync } from "node:fs";

import { Engine, Refused } from "../../docs/_playground/engine.mjs";

/** Parts of a run, as the page's worker advances it. */
const STEPS = 200;

const [compiled, ...files] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(compiled));
const engine = new Engine(() => new WebAssembly.Instance(module, {}).exports);

for (const file of files) {
  try {
    const opened = engine.open(readFileSync(file, "utf8"));
    for (let now = 0; now < opened.end;) now = engine.advance(now + opened.end / STEPS);
    writeFileSync(`${file}.block`, new Uint8Array(engine.finish()));
    writeFileSync(`${file}.opened`, JSON.stringify(opened));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    writeFileSync(`${file}.refused`, JSON.stringify(error.refusal));
  }
}

// What a page would show of a fault of the engine: the message, and a fresh instance.
let message = "";
try {
  engine.core.sojourn_init();
} catch (error) {
  if (!(error instanceof WebAssembly.RuntimeError)) throw error;
  const { memory, sojourn_panic: place, sojourn_panic_len: length } = engine.core;
  message = new TextDecoder().decode(new Uint8Array(memory.buffer, place() >>> 0, length()));
}
engine.renew();
console.log(JSON.stringify({ message, end: engine.open(readFileSync(files[0], "utf8")).end }));
