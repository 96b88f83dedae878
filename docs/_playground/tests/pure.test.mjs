/** What needs no page: texts, models, addresses, blocks, clocks, differences. */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as address from "../address.mjs";
import { columnsOf } from "../columns.mjs";
import { differing } from "../compare.mjs";
import { changed, CONTROLS, FIRST, modelOf, QUEUES } from "../model.mjs";
import { Clock } from "../player.mjs";
import { numberIn, shown } from "../quantity.mjs";
import { seriesOf } from "../series.mjs";
import { nearest } from "../slider.mjs";
import { textOf } from "../text.mjs";
import { Engine } from "../engine.mjs";
import { fakeExports } from "./fake-load.mjs";

test("quantities are numbers in the unit that is asked for, whatever unit they are written in", () => {
  assert.equal(numberIn("20500 kbit/s", "Mbit/s"), 20.5);
  assert.equal(numberIn("40500 us", "ms"), 40.5);
  assert.equal(numberIn("2 min", "s"), 120);
  assert.ok(Number.isNaN(numberIn("40 packets", "bdp")));
  assert.ok(Number.isNaN(numberIn(null, "ms")));
});

test("numbers are shown short, and what is undefined is not shown as zero", () => {
  assert.deepEqual(
    [17.23456, 0.1055, 123456.7, 0].map((value) => shown(value)),
    ["17.23", "0.1055", "123457", "0"],
  );
  assert.deepEqual(
    [null, NaN].map((value) => shown(value)),
    ["–", "–"],
  );
});

test("a slider stands at the stop next to a value", () => {
  assert.equal(nearest([1, 2, 5, 10], 4), 2);
  assert.equal(nearest([1, 2, 5, 10], 99), 3);
});

test("changes of an address apply to a model, and others are refused by name", () => {
  const model = changed(FIRST, { buffer: "8", flow2: "reno", rtt1: "100", queue: "codel", ecn: "on" });
  assert.deepEqual(
    [model.buffer, model.flows[1].cca, model.flows[0].rtt, model.queue, model.ecn],
    [8, "reno", 100, "codel", true],
  );
  assert.equal(FIRST.buffer, 0.5);
  for (const bad of [{ flow9: "reno" }, { flow1: "nothing" }, { buffer: "much" }, { queue: "" }, { __proto__x: "1" }]) {
    assert.throws(() => changed(FIRST, bad), new RegExp(Object.keys(bad)[0]));
  }
});

test("an address brings back the texts, and says what is wrong with a damaged one", async () => {
  const [a, b] = [textOf(FIRST), 'name = "µ, 漢"\n'];
  assert.deepEqual(await address.read(await address.written({ a, b })), { a, b });
  assert.deepEqual(await address.read(await address.written({ a })), { a });
  assert.deepEqual(await address.read("#lesson=codel&buffer=8"), { lesson: "codel", changes: { buffer: "8" } });
  assert.equal(await address.read(""), null);
  for (const bad of ["#v1&a=%%%", (await address.written({ a })).slice(0, -6), "#v1&a=AAAA"]) {
    await assert.rejects(address.read(bad), /damaged/);
  }
  await assert.rejects(address.read("#v9&z=1"), /not one of this page/);
});

test("an address cannot fill the memory", async () => {
  await assert.rejects(address.read(await address.written({ a: "x".repeat(3_000_000) })), /damaged/);
});

test("a clock starts anew at the end, keeps to the run, and leaves a whole one whole", () => {
  const clock = new Clock();
  clock.measure(10);
  assert.equal(clock.time, 10);
  clock.toggle();
  assert.equal(clock.time, 0);
  clock.speed = 5;
  clock.pass(1.5);
  assert.equal(clock.time, 7.5);
  clock.measure(5);
  clock.pass(1);
  assert.deepEqual([clock.time, clock.playing], [5, false]);
  clock.measure(20);
  assert.equal(clock.time, 20);
});

test("differences are the lines that one text has alone", () => {
  assert.deepEqual(differing("a\nb\nc", "a\nx\nc\nd"), [
    { only: "A", line: "b" },
    { only: "B", line: "x" },
    { only: "B", line: "d" },
  ]);
  assert.deepEqual(differing("a\n\nb", "a\nb"), []);
});

test("rows of a block go to their flows and links", () => {
  const engine = new Engine(fakeExports);
  const opened = engine.open(textOf({ ...FIRST, flows: [...FIRST.flows, { cca: "reno", rtt: 40, start: 5 }] }));
  assert.equal(engine.advance(opened.end), 10);
  const columns = columnsOf(engine.finish());
  const series = seriesOf(opened, columns);
  const { flow_samples: rows } = columns.tables;
  assert.deepEqual(
    series.flows.map(({ name }) => name),
    ["BBR", "Cubic", "Reno"],
  );
  assert.equal(series.time.length, 200);
  assert.equal(series.window[2][150], rows.cwnd[3 * 150 + 2]);
  assert.ok(Math.abs(series.throughput[1][100] - (rows.delivered_bytes[301] * 8e-6) / 0.05) < 1e-9);
  assert.equal(
    series.events.full.reduce((sum, n) => sum + n),
    columns.tables.link_samples.drops_overflow.reduce((sum, n) => sum + n),
  );
  assert.deepEqual(series.flows[0].modes.map(({ word, to }) => [word, to]).at(-1), ["probe_bw", 10]);
});

test("what the form writes comes back as its model", () => {
  const engine = new Engine(fakeExports);
  for (const queue of Object.keys(QUEUES)) {
    const model = {
      ...FIRST,
      queue,
      loss: 0.1,
      ecn: true,
      flows: Object.keys(CONTROLS)
        .slice(0, 8)
        .map((cca, k) => ({ cca, rtt: 10 + k, start: k })),
    };
    assert.deepEqual(modelOf(engine.open(textOf(model)).scenario), model);
  }
});

test("a model of something else is none", () => {
  const scenario = new Engine(fakeExports).open(textOf(FIRST)).scenario;
  const other = (change) => {
    const copy = structuredClone(scenario);
    change(copy);
    return modelOf(copy);
  };
  assert.equal(
    other((copy) => {
      copy.topology = { kind: "graph" };
    }),
    null,
  );
  assert.equal(
    other((copy) => {
      copy.topology.bottleneck.queue.limit = "40 packets";
    }),
    null,
  );
  assert.equal(
    other((copy) => {
      copy.flows[0].cca = null;
    }),
    null,
  );
  assert.equal(
    other((copy) => {
      copy.flows = Array(9).fill(copy.flows[0]);
    }),
    null,
  );
  assert.equal(
    other((copy) => {
      copy.topology.bottleneck.rate = undefined;
    }),
    null,
  );
});
