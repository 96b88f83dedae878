/** The engine's wrapper: refusals, panics, memory. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Engine, Refused } from "../engine.mjs";
import { FIRST } from "../model.mjs";
import { textOf } from "../text.mjs";
import { fakeExports } from "./fake-load.mjs";

test("a refusal has the core's words and the place", () => {
  const engine = new Engine(fakeExports);
  assert.throws(
    () => engine.open("duration = 1\n!"),
    (error) => {
      assert.ok(error instanceof Refused);
      assert.deepEqual([error.message, error.refusal.line], ["expected a key", 2]);
      return true;
    },
  );
});

test("a panic shows its message, and a fresh instance goes on", () => {
  let made = 0;
  const engine = new Engine(() => {
    made += 1;
    return fakeExports();
  });
  assert.throws(() => engine.open('name = "panic"'), /the engine ended: a made panic/);
  assert.equal(made, 2);
  assert.equal(engine.open(textOf(FIRST)).end, 10);
});

test("a failure of the page itself is not taken for the core's", () => {
  const engine = new Engine(() => ({
    ...fakeExports(),
    sojourn_open: () => {
      throw new TypeError("mine");
    },
  }));
  assert.throws(() => engine.open("x"), TypeError);
});

test("after a run that took much memory the next one has a new instance", () => {
  const sizes = [2 ** 29, 2 ** 22];
  let made = 0;
  const engine = new Engine(() => {
    const core = fakeExports();
    const buffer = core.memory.buffer;
    const size = sizes[made++];
    // Its length alone is of another size: half a gigabyte would be real.
    if (size > buffer.byteLength)
      core.memory = { buffer: Object.defineProperty(buffer, "byteLength", { value: size }) };
    return core;
  });
  engine.open(textOf(FIRST));
  assert.equal(made, 2);
});
