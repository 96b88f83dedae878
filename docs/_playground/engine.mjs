/**
 * The core behind its C ABI; for workers, pages and node alike.
 *
 * A refusal is what the core says of a text that it cannot run, or of a run that failed.
 * @typedef {{ message: string, field: string | null, line: number | null, column: number | null,
 *   local: string | null }} Refusal
 */

/** Memory never shrinks: beyond this many bytes the next run has a new instance. */
const MOST_MEMORY = 256 * 2 ** 20;

/** What the core refuses, or how it ended. */
export class Refused extends Error {
  /** @param {Refusal} refusal */
  constructor(refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

export class Engine {
  /** @param {() => any} instance makes a new instance and answers its exports */
  constructor(instance) {
    this.instance = instance;
    this.renew();
  }

  renew() {
    this.core = this.instance();
    this.core.sojourn_init();
  }

  /**
   * Reads and checks a scenario, and builds its run.
   * @param {string} text TOML
   * @returns {any} what is opened
   * @throws {Refused}
   */
  open(text) {
    if (this.core.memory.buffer.byteLength > MOST_MEMORY) this.renew();
    return this.#guarded((core) => {
      const bytes = new TextEncoder().encode(text);
      const place = core.sojourn_alloc(bytes.length) >>> 0;
      new Uint8Array(core.memory.buffer, place, bytes.length).set(bytes);
      const opened = core.sojourn_open(place, bytes.length);
      return this.#told(opened);
    });
  }

  /**
   * Simulates up to a second.
   * @param {number} until
   * @returns {number} the second reached
   * @throws {Refused}
   */
  advance(until) {
    return this.#guarded((core) => {
      const reached = core.sojourn_advance(until);
      if (Number.isNaN(reached)) this.#told(0);
      return reached;
    });
  }

  /**
   * Ends the run.
   * @returns {ArrayBuffer} its block
   * @throws {Refused}
   */
  finish() {
    return this.#guarded((core) => {
      if (!core.sojourn_finish()) this.#told(0);
      return this.#reply().slice().buffer;
    });
  }

  /** The last reply's bytes; gone with the next call. */
  #reply() {
    const { memory, sojourn_reply: place, sojourn_reply_len: length } = this.core;
    return new Uint8Array(memory.buffer, place() >>> 0, length());
  }

  /** @param {number} good */
  #told(good) {
    const said = JSON.parse(new TextDecoder().decode(this.#reply()));
    if (!good) throw new Refused(said);
    return said;
  }

  /**
   * Does a call; a trap spoils the instance but for its message.
   * @template T
   * @param {(core: any) => T} call
   * @returns {T}
   */
  #guarded(call) {
    try {
      return call(this.core);
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      const message = this.#panic() || error.message;
      this.renew();
      throw new Refused({
        message: `the engine ended: ${message}`,
        field: null,
        line: null,
        column: null,
        local: "this is a fault of Sojourn's; a fresh engine is ready for the next run",
      });
    }
  }

  #panic() {
    const { memory, sojourn_panic: place, sojourn_panic_len: length } = this.core;
    return new TextDecoder().decode(new Uint8Array(memory.buffer, place() >>> 0, length()));
  }
}
