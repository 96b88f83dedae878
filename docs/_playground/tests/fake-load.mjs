/**
 * Stands in for `load.mjs` where no engine has been built: exports that answer as the core's do.
 *
 * It reads only what the sliders write, and what it simulates is a toy: windows that grow and are halved.
 */

const SAMPLES = 200;

export async function instances() {
  return fakeExports;
}

/** What a new instance exports. */
export function fakeExports() {
  const memory = { buffer: new ArrayBuffer(2 ** 22) };
  let reply = new Uint8Array();
  let run = null;
  const say = (value) => {
    reply = new TextEncoder().encode(JSON.stringify(value));
  };
  const put = (bytes) => {
    new Uint8Array(memory.buffer).set(bytes, 2 ** 21);
    return 2 ** 21;
  };
  return {
    memory,
    sojourn_init() {},
    sojourn_alloc: () => 8,
    sojourn_open(place, length) {
      const text = new TextDecoder().decode(new Uint8Array(memory.buffer, place, length));
      if (text.includes("panic")) trap();
      run = parsed(text);
      say(run.message ? run : opened(run));
      return run.message ? 0 : 1;
    },
    sojourn_advance: (until) => Math.min(until, run.end),
    sojourn_finish() {
      reply = block(run);
      return 1;
    },
    sojourn_reply: () => put(reply),
    sojourn_reply_len: () => reply.length,
    sojourn_panic: () => put(new TextEncoder().encode("a made panic")),
    sojourn_panic_len: () => "a made panic".length,
  };
}

function trap() {
  throw new WebAssembly.RuntimeError("unreachable");
}

/** @param {string} text */
function parsed(text) {
  const lines = text.split("\n");
  const bad = lines.findIndex((line) => line && !/^(\[|[a-z_]+ = )/.test(line));
  if (bad >= 0) return { message: "expected a key", field: "flows.0", line: bad + 1, column: 1, local: null };
  const value = (key, from = text, otherwise = "") =>
    new RegExp(`^${key} = "?([^"\n]+)`, "m").exec(from)?.[1] ?? otherwise;
  const [head, ...parts] = text.split("[[flows]]");
  const [, kind, limitKey, limit] = /queue = \{ kind = "(\w+)", (\w+) = "([^"]+)"/.exec(head) ?? [];
  const flows = parts.map((part) => ({
    cca: { kind: value("cca", part) },
    rtt: value("rtt", part),
    start: value("start", part, "0 s"),
    ecn: value("ecn", part, "off"),
  }));
  const bottleneck = {
    rate: value("rate", head),
    loss: value("loss", head, "0 %"),
    queue: { kind, [limitKey]: limit },
  };
  const scenario = {
    name: value("name", head),
    duration: value("duration", head),
    topology: { kind: "dumbbell", bottleneck },
    flows,
  };
  return { scenario, end: Number.parseFloat(scenario.duration), more: text.includes("count") };
}

function opened({ scenario, end, more }) {
  const flows = scenario.flows.map(({ cca, start }, entry) => ({
    name: cca.kind,
    cca: cca.kind,
    transport: "tcp",
    entry,
    base_rtt: 0.04,
    start: Number.parseFloat(start),
    stop: end,
    path: [0],
  }));
  const links = [
    {
      id: "bottleneck",
      rate: Number.parseFloat(scenario.topology.bottleneck.rate) * 1e6,
      overhead: 14,
      ends: [null, null],
    },
  ];
  return {
    scenario: { ...scenario, more },
    warnings: [],
    flows,
    links,
    end,
    warmup: 0,
    sample_interval: end / SAMPLES,
    modes_every: 0.01,
    limits: { seconds: 120, flows: 16, links: 64, rows: 200_000, packets: 6e6, events: 4e7 },
    build: "fake",
  };
}

/** Sends windows round after round; who comes when the queue is full is halved. */
function simulated({ scenario, end }) {
  const rate = (Number.parseFloat(scenario.topology.bottleneck.rate) * 1e6) / 12000;
  const flows = scenario.flows.map(({ rtt, start }, k) => ({
    base: Number.parseFloat(rtt) / 1e3,
    start: Number.parseFloat(start),
    window: 10,
    k,
  }));
  const room = rate * flows[0].base * Number.parseFloat(Object.values(scenario.topology.bottleneck.queue)[1]);
  const step = end / SAMPLES;
  const [samples, links] = [[], []];
  for (let n = 1; n <= SAMPLES; n++) {
    const now = n * step;
    const on = flows.filter(({ start }) => start < now);
    const waiting = Math.max(0, on.reduce((sum, f) => sum + f.window, 0) - rate * flows[0].base);
    const full = waiting > room;
    if (full) on[n % on.length].window *= 0.6;
    const all = on.reduce((sum, f) => sum + f.window, 0);
    for (const f of flows) {
      const active = on.includes(f);
      const rtt = f.base + Math.min(waiting, room) / rate;
      if (active) f.window += (step / rtt) * (f.window < rate * f.base * 0.5 ? f.window * 0.6 : 1 + f.k);
      samples.push([
        now,
        f.k,
        active ? Math.min(all / rtt, rate) * (f.window / all) * step * 1448 : 0,
        active ? f.window : NaN,
        active ? rtt : NaN,
      ]);
    }
    links.push([now, 0, Math.min(waiting, room) * step, full ? 3 : 0, 0, 0, 0, n % 50 ? 0 : 2, 0, 1, 1]);
  }
  return { samples, links };
}

/** The block of a run, as the core lays it out. */
function block(run) {
  const { samples, links } = simulated(run);
  const values = [];
  const table = (names, rows) => ({
    rows: rows.length,
    columns: Object.fromEntries(
      names.map((name, k) => {
        const at = values.length;
        values.push(...rows.map((row) => row[k]));
        return [name, at];
      }),
    ),
  });
  const flows = run.scenario.flows.length;
  const each = (value) => Array.from({ length: flows }, (_, k) => value(k));
  const mean = (k) => (samples.filter(([, flow]) => flow === k).reduce((sum, row) => sum + row[2], 0) * 8e-6) / run.end;
  const all = each(mean).reduce((sum, value) => sum + value, 0);
  const index = {
    tables: {
      flow_samples: table(["time", "flow", "delivered_bytes", "cwnd", "srtt"], samples),
      link_samples: table(
        [
          "time",
          "link",
          "queue_time",
          "drops_overflow",
          "drops_aqm",
          "drops_policed",
          "drops_loss",
          "ce_marks",
          "sce_marks",
          "sojourn_sum",
          "sojourn_count",
        ],
        links,
      ),
    },
    modes: run.scenario.flows.flatMap(({ cca, start }, flow) =>
      cca.kind !== "bbr"
        ? []
        : [
            ["startup", 0],
            ["drain", 0.5],
            ["probe_bw", 0.7],
            ["probe_rtt", 5],
            ["probe_bw", 5.2],
          ].map(([mode, after]) => ({ flow, time: Number.parseFloat(start) + after, mode, phase: null })),
    ),
    summary: {
      flow: {
        mean_throughput_l4: each(mean),
        bottleneck_share_l4: each((k) => mean(k) / all),
        mean_srtt_l4: each(() => 52.1),
        p95_rtt_l4: each(() => 61),
        mean_cwnd_l4: each(() => 80),
        total_retransmissions_l4: each(() => 12),
        total_rtos_l4: each(() => 0),
        flow_completion_time_l4: each(() => null),
      },
      link: {
        utilization_l1: [0.97],
        mean_qdisc_delay_l2: [8.1],
        p95_qdisc_delay_l2: [19.5],
        total_qdisc_drops_l2: [33],
        total_qdisc_marks_l2: [8],
      },
      net: { mean_agg_throughput_l4: all, jains_fairness_of_means_throughput_l4: 0.8 },
    },
  };
  const text = JSON.stringify(index);
  const head = new TextEncoder().encode(text.padEnd(Math.ceil(new TextEncoder().encode(text).length / 8) * 8));
  const bytes = new Uint8Array(8 + head.length + 8 * values.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(head.length), true);
  bytes.set(head, 8);
  bytes.set(new Uint8Array(Float64Array.from(values).buffer), 8 + head.length);
  return bytes;
}
