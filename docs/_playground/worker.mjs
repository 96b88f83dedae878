/**
 * Runs scenarios, the newest first, beside the page.
 *
 * @typedef {{ id: number, text: string, read: boolean }} Request `read`: whether its model is wanted
 * @typedef {{ id: number, kind: "progress", share: number }
 *   | { id: number, kind: "refused", refusal: import("./engine.mjs").Refusal }
 *   | { id: number, kind: "done", opened: any, read: { model: import("./model.mjs").Model | null } | null,
 *       block: ArrayBuffer, milliseconds: number }
 *   | { kind: "failed", message: string }} Answer the model is null where sliders do not show all of a text
 */

import { Engine, Refused } from "./engine.mjs";
import { instances } from "./load.mjs";
import { modelOf } from "./model.mjs";
import { textOf } from "./text.mjs";

/** Milliseconds between looks at what has come in. */
const SLICE = 12;
/** A run as young as this may finish although another is wanted; else dragging would starve the plots. */
const PATIENCE = 150;
/** Runs that take longer tell how far they are. */
const LONG = 300;
/** Parts of a run between looks at the clock. */
const STEPS = 200;

/** @type {Request | null} */
let wanted = null;
let busy = false;

const engine = instances()
  .then((instance) => new Engine(instance))
  .catch((error) => {
    tell({ kind: "failed", message: error.message });
    return null;
  });

/** @param {Answer} answer @param {Transferable[]} [moved] */
const tell = (answer, moved = []) => self.postMessage(answer, { transfer: moved });

self.onmessage = ({ data }) => {
  wanted = data;
  if (!busy) work();
};

async function work() {
  busy = true;
  const core = await engine;
  while (core && wanted) {
    const request = wanted;
    wanted = null;
    try {
      await run(core, request);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tell({ id: request.id, kind: "refused", refusal: error.refusal });
    }
  }
  busy = false;
}

/** @param {Engine} core @param {Request} request */
async function run(core, { id, text, read }) {
  const began = performance.now();
  const model = read ? { model: modelFor(core, text) } : null;
  const opened = core.open(text);
  let reached = 0;
  for (let slice = performance.now(); reached < opened.end;) {
    reached = core.advance(Math.min(reached + opened.end / STEPS, opened.end));
    if (performance.now() - slice < SLICE) continue;
    await breath();
    slice = performance.now();
    if (wanted && slice - began > PATIENCE) return;
    if (slice - began > LONG) tell({ id, kind: "progress", share: reached / opened.end });
  }
  const block = core.finish();
  tell({ id, kind: "done", opened, read: model, block, milliseconds: performance.now() - began }, [block]);
}

/**
 * The model of a text, if what the form would write comes to the very same scenario.
 * @param {Engine} core
 * @param {string} text
 */
function modelFor(core, text) {
  const { scenario } = core.open(text);
  const model = modelOf(scenario);
  if (!model) return null;
  try {
    const { scenario: again } = core.open(textOf(model));
    return JSON.stringify(again) === JSON.stringify(scenario) ? model : null;
  } catch (error) {
    if (error instanceof Refused) return null;
    throw error;
  }
}

/** Lets messages in; a timer would wait for 4 ms. */
function breath() {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve(undefined);
    };
    port2.postMessage(0);
  });
}
