/**
 * Environments of simulacrum in WebAssembly: a batch of rows, stepped from JavaScript. Browsers and node, no more.
 *
 *     import { Simulacrum } from "./simulacrum.js";
 *     const env = await Simulacrum.load("./toywalk.wasm", { numEnvs: 64 });
 *     env.reset(7); // row i gets the seed 7 + i
 *     const { observation, reward, terminated, truncated, info } = env.step(actions);
 *
 * Every array that reset, step, rollout and observe give LOOKS INTO THE MODULE'S MEMORY, row after row: the elements of
 * row i of an observation of size k are at i * k. The next call writes over it. Keep a copy (`observation.slice()`) of
 * what you keep. int64 is a BigInt64Array, bool a Uint8Array of 0 and 1.
 */

const ARRAYS = {
  bool: Uint8Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
  float32: Float32Array, float64: Float64Array,
};
const FUNCTIONS = { next_step: "next_step", disabled: "next_step", same_step: "same_step" };
const FORMAT = 1;
const PAGE = 65536; // bytes by which a module's memory grows
const ALIGNMENT = 64;
const NO_LIMIT = 2 ** 31 - 1;

/** What the environment refuses: a wrong argument, an illegal action, a call at the wrong time. Nothing was changed. */
export class SimulacrumError extends Error {
  name = "SimulacrumError";
}

/** A batch of rows of one environment. Made by `Simulacrum.load`; each has a memory of its own. */
export class Simulacrum {
  #exports; #mode; #ports; #pointers; #top; #buffer; #views; #shown; #started = false; #seeds; #rolled = null;

  /**
   * @param {string|URL|ArrayBuffer|Uint8Array|WebAssembly.Module} source  the module; a string is an address that is
   *   relative to this file. Give a `WebAssembly.Module` to share one compilation between several envs.
   * @param {object} [options]
   * @param {number} [options.numEnvs]  rows N; 1 by default.
   * @param {"next_step"|"same_step"|"disabled"} [options.autoresetMode]  as in Gymnasium; "next_step" by default.
   * @param {number|null} [options.maxEpisodeSteps]  the time limit in steps, null for none; by default the schema's.
   * @param {Object<string, number|bigint|ArrayLike>} [options.params]  parameters: one value, or one a row.
   * @param {number|bigint|Array} [options.seed]  what the first `reset()` without a seed takes; by default chance.
   * @returns {Promise<Simulacrum>}
   */
  static async load(source, options = {}) {
    const module = await compiled(source);
    return new Simulacrum(await WebAssembly.instantiate(module, {}), options);
  }

  /** Use `load`. */
  constructor(instance, { numEnvs = 1, autoresetMode = "next_step", maxEpisodeSteps, params = {}, seed } = {}) {
    check(Number.isInteger(numEnvs) && numEnvs >= 1, `numEnvs must be an integer from 1, not ${numEnvs}`);
    check(autoresetMode in FUNCTIONS, `autoresetMode must be one of ${Object.keys(FUNCTIONS)}, not ${autoresetMode}`);
    this.#exports = instance.exports;
    this.#mode = FUNCTIONS[autoresetMode];
    /** What the module says of itself: env, ports, action, params, max_episode_steps, ... */
    this.about = JSON.parse(this.#text(this.#exports.simulacrum_about.value));
    check(this.about.format === FORMAT, `the module has format ${this.about.format}, and this loader reads ${FORMAT}`);
    this.numEnvs = numEnvs;
    this.autoresetMode = autoresetMode;
    this.#seeds = seed;
    this.#ports = new Map(this.about.ports.map((port) => [port.name, { ...port, size: product(port.shape) }]));
    this.#layOut();
    const limit = maxEpisodeSteps === undefined ? this.about.max_episode_steps : maxEpisodeSteps;
    const known = limit === null || (Number.isInteger(limit) && limit >= 1);
    check(known, `maxEpisodeSteps must be an integer from 1 or null, not ${limit}`);
    this.#view("limit")[0] = limit === null ? NO_LIMIT : Math.min(limit, NO_LIMIT);
    this.#view("autoreset")[0] = autoresetMode === "disabled" ? 0 : 1;
    this.#setParams(params);
  }

  /**
   * Start new episodes, in all rows or in those of `mask`.
   *
   * @param {number|bigint|Array<number|bigint|null>} [seeds]  s gives row i the seed s + i; an array gives each row its
   *   own (null: that row goes on with its next episode); without seeds all rows go on.
   * @param {{mask?: ArrayLike}} [options]  one value a row, true where a new episode starts.
   * @returns {{observation, info}}  of all rows.
   */
  reset(seeds, { mask } = {}) {
    check(mask === undefined || mask.length === this.numEnvs, `the mask must have ${this.numEnvs} values`);
    check(this.#started || mask === undefined, "the first reset is of all rows");
    if (!this.#started) seeds ??= this.#seeds ?? chance();
    const seed = this.read("seed"), episode = this.read("episode"), chosen = this.#view("reset_mask");
    for (let row = 0; row < this.numEnvs; row++) {
      chosen[row] = mask === undefined || mask[row] ? 1 : 0;
      if (!chosen[row]) continue;
      const given = Array.isArray(seeds) || ArrayBuffer.isView(seeds) ? seeds[row] : offset(seeds, row);
      check(given !== undefined || seeds === undefined, `the seeds must be ${this.numEnvs}, one a row`);
      if (given === undefined || given === null) episode[row] += this.#started ? 1 : 0;
      else [seed[2 * row], seed[2 * row + 1], episode[row]] = [...words(given), 0];
    }
    this.write("seed", seed);
    this.write("episode", episode);
    this.#started = true;
    return this.#reset();
  }

  /** {observation, info} of all rows as they stand: after `write` or `restore`. */
  observe() {
    this.#view("reset_mask").fill(0);
    return this.#reset();
  }

  /**
   * Step every row.
   *
   * @param {ArrayLike|Object<string, ArrayLike>} [actions]  N times the action's size numbers, row after row; an object
   *   of them for a Dict space. Without it: what was written to `actionMemory`.
   * @returns {{observation, reward, terminated, truncated, info}}
   */
  step(actions) {
    check(this.#started, "call reset() before step()");
    if (actions !== undefined) this.#putActions(actions);
    this.#advance();
    return this.#shown.step;
  }

  /**
   * Step every row through a sequence of actions, as so many `step` calls would. It is done as a whole or not at all.
   *
   * @param {ArrayLike|Object<string, ArrayLike>} actions  steps times what `step` takes, step after step.
   * @param {number} steps  how many.
   * @returns {{observation, reward, terminated, truncated, info}}  every array `steps` times as long. A rollout longer
   *   than those before it may grow the memory: arrays from earlier calls are then empty, and later calls give new ones.
   */
  rollout(actions, steps) {
    check(this.#started, "call reset() before rollout()");
    check(Number.isInteger(steps) && steps >= 1, `steps must be an integer from 1, not ${steps}`);
    const names = [...this.#actionNames(), ...this.about.shown[this.#mode]];
    const ports = names.map((name) => this.#ports.get(name));
    const addresses = this.#rolloutMemory(ports, steps);
    const count = (port) => steps * this.numEnvs * port.size;
    const arrays = ports.map((port, k) => new ARRAYS[port.dtype](this.#memory, addresses[k], count(port)));
    this.#eachAction(actions, (port, values) => put(arrays[names.indexOf(port.name)], port.dtype, values, port.name));
    const table = this.#table, kept = table.slice(), before = this.save();
    try {
      for (let step = 0; step < steps; step++) {
        ports.forEach((port, k) => {
          table[port.at] = addresses[k] + step * this.numEnvs * port.size * ARRAYS[port.dtype].BYTES_PER_ELEMENT;
        });
        this.#advance();
      }
    } catch (error) {
      this.restore(before);
      throw error;
    } finally {
      table.set(kept);
    }
    return arranged(this.#given(this.#mode), (name) => arrays[names.indexOf(name)]);
  }

  /** Where to write actions for a `step()` without an argument: a typed array; an object of them for a Dict space. */
  get actionMemory() {
    const names = this.#actionNames();
    if (names.length === 1 && names[0] === "action") return this.#view("action");
    return Object.fromEntries(names.map((name) => [name.slice("action.".length), this.#view(name)]));
  }

  /** Names for `read` and `write`: "state.*" of the environment, and seed, episode, key, t, returns, ended, began. */
  get fields() {
    return [...this.#ports.values()].filter((port) => port.layout === "blocks").map((port) => port.name);
  }

  /** A copy of a field of the state, row after row. */
  read(name) {
    const port = this.#field(name), values = new ARRAYS[port.dtype](this.numEnvs * port.size);
    this.#lanes(port, (block, row, element) => { values[row * port.size + element] = block; }, false);
    return values;
  }

  /** Write a field of the state from N times its size numbers. `observe()` shows the rows then. */
  write(name, values) {
    const port = this.#field(name), whole = new ARRAYS[port.dtype](this.numEnvs * port.size);
    put(whole, port.dtype, values, name);
    this.#lanes(port, (_, row, element) => whole[row * port.size + element], true);
    this.#started = true;
  }

  /** All that the rows are, as bytes of their own: what `restore` takes. Restoring restores every future bit. */
  save() {
    return this.#arena.slice();
  }

  /** Stand where `save` was called, on an env of the same module with as many rows. */
  restore(saved) {
    check(saved.length === this.#arena.length, `expected ${this.#arena.length} bytes of save(), found ${saved.length}`);
    this.#arena.set(saved);
    this.#started = true;
  }

  // --- memory --------------------------------------------------------------------------------------------------------

  get #memory() {
    return this.#exports.memory.buffer;
  }

  get #table() {
    return new Uint32Array(this.#memory, this.#pointers, this.#places);
  }

  get #places() {
    return 1 + Math.max(...this.about.ports.map((port) => (port.layout === "blocks" ? 0 : port.at)));
  }

  get #arena() {
    const blocks = Math.ceil(this.numEnvs / this.about.lanes);
    return new Uint8Array(this.#memory, this.#table[0], blocks * this.about.block_bytes);
  }

  /** Give the arena and every other port its place. */
  #layOut() {
    this.#top = this.#exports.__heap_base.value;
    this.#pointers = this.#allocate(4 * this.#places);
    const arena = this.#allocate(Math.ceil(this.numEnvs / this.about.lanes) * this.about.block_bytes);
    const outside = [...this.#ports.values()].filter((port) => port.layout !== "blocks");
    const addresses = outside.map((port) => this.#allocate(this.#count(port) * ARRAYS[port.dtype].BYTES_PER_ELEMENT));
    const table = this.#table; // after the last growth
    table[0] = arena;
    outside.forEach((port, number) => { table[port.at] = addresses[number]; });
    this.#look();
  }

  #allocate(bytes) {
    const address = Math.ceil(this.#top / ALIGNMENT) * ALIGNMENT;
    this.#top = address + bytes;
    const missing = this.#top - this.#memory.byteLength;
    if (missing > 0) this.#exports.memory.grow(Math.ceil(missing / PAGE));
    return address;
  }

  /** Make the typed arrays anew: a memory that grew has left the old ones without any. */
  #look() {
    this.#buffer = this.#memory;
    const table = this.#table;
    const outside = [...this.#ports.values()].filter((port) => port.layout !== "blocks");
    this.#views = new Map(
      outside.map((port) => [port.name, new ARRAYS[port.dtype](this.#memory, table[port.at], this.#count(port))]),
    );
    const shown = (name) => arranged(this.#given(name), (one) => this.#views.get(one));
    this.#shown = { reset: shown("reset"), step: shown(this.#mode) };
  }

  #view(name) {
    if (this.#buffer !== this.#memory) this.#look();
    return this.#views.get(name);
  }

  #count(port) {
    return (port.layout === "one" ? 1 : this.numEnvs) * port.size;
  }

  /** Memory for rollouts, kept for the next one: the address of `steps` rows-full of each port. */
  #rolloutMemory(ports, steps) {
    const places = [];
    let bytes = 0;
    for (const port of ports) {
      places.push(bytes);
      bytes += Math.ceil((steps * this.#count(port) * ARRAYS[port.dtype].BYTES_PER_ELEMENT) / ALIGNMENT) * ALIGNMENT;
    }
    if (this.#rolled === null || this.#rolled.bytes < bytes) {
      if (this.#rolled !== null) this.#top = this.#rolled.address; // it is the last piece, and is made longer
      this.#rolled = { bytes, address: this.#allocate(bytes) };
    }
    this.#view("now"); // looks again where the memory grew
    return places.map((place) => this.#rolled.address + place);
  }

  /** Visit each element of a kept port: `visit(value, row, element)`, and with `change` keep what it returns. */
  #lanes(port, visit, change) {
    const { lanes, block_bytes } = this.about, kind = ARRAYS[port.dtype], arena = this.#table[0];
    for (let first = 0; first < this.numEnvs; first += lanes) {
      const start = arena + (first / lanes) * block_bytes + port.at;
      const block = new kind(this.#memory, start, port.size * lanes), rows = Math.min(lanes, this.numEnvs - first);
      for (let element = 0; element < port.size; element++) {
        for (let lane = 0; lane < rows; lane++) {
          const made = visit(block[element * lanes + lane], first + lane, element);
          if (change) block[element * lanes + lane] = made;
        }
      }
    }
  }

  #field(name) {
    const port = this.#ports.get(name);
    check(port?.layout === "blocks", `no field ${name}; there are ${this.fields.join(", ")}`);
    return port;
  }

  #text(address) {
    const bytes = new Uint8Array(this.#memory);
    return new TextDecoder().decode(bytes.subarray(address, bytes.indexOf(0, address)));
  }

  // --- calls ---------------------------------------------------------------------------------------------------------

  #reset() {
    this.#view("now")[0] = performance.now() / 1000;
    this.#exports.reset(this.#pointers, 0n, BigInt(this.numEnvs));
    return this.#shown.reset;
  }

  #advance() {
    if (this.autoresetMode === "disabled") {
      const row = this.read("ended").indexOf(1);
      check(row < 0, `row ${row} has ended, and autoreset is disabled: reset(undefined, { mask }) it before the step`);
    }
    this.#view("now")[0] = performance.now() / 1000;
    const refused = this.#exports[`${this.#mode}_checked`](this.#pointers, 0n, BigInt(this.numEnvs));
    if (refused & 1n) throw new SimulacrumError(`${this.#illegal()}; no row was stepped`);
    if (refused) throw new SimulacrumError("a row divides by zero or reads beyond an array; no row was stepped");
  }

  /** Which action is outside its space. */
  #illegal() {
    const ended = this.read("ended"), table = this.#table;
    for (const name of this.#actionNames()) {
      const port = this.#ports.get(name), { low, high, space } = this.about.action[name];
      const values = new ARRAYS[port.dtype](this.#memory, table[port.at], this.#count(port));
      const [least, most] = [low, high].map((bound) => (Array.isArray(bound) ? bound.flat(Infinity) : bound));
      for (let place = 0; place < values.length; place++) {
        const row = Math.floor(place / port.size), value = Number(values[place]);
        const [a, b] = [least, most].map((bound) => (Array.isArray(bound) ? bound[place % port.size] : bound));
        const legal = Number.isFinite(value) && (a === null || value >= a) && (b === null || value <= b);
        if (!legal && !ended[row]) return `${name} ${value} in row ${row} is outside ${space} [${a}, ${b}]`;
      }
    }
    return "an action is outside the action space";
  }

  #actionNames() {
    return Object.keys(this.about.action);
  }

  #putActions(actions) {
    this.#eachAction(actions, (port, values) => put(this.#view(port.name), port.dtype, values, port.name));
  }

  #eachAction(actions, take) {
    for (const name of this.#actionNames()) {
      const values = name === "action" ? actions : actions[name.slice("action.".length)];
      check(values !== undefined, `actions without ${name.slice("action.".length)}`);
      take(this.#ports.get(name), values);
    }
  }

  #setParams(params) {
    const unknown = Object.keys(params).find((name) => !(name in this.about.params));
    check(unknown === undefined, `no parameter ${unknown}; there are ${Object.keys(this.about.params)}`);
    for (const [name, { default: standard, low, high }] of Object.entries(this.about.params)) {
      const port = this.#ports.get(`params.${name}`);
      if (port === undefined) continue; // no rule reads it
      const given = params[name] ?? standard;
      const values = typeof given === "object" ? given : new Array(this.numEnvs).fill(given);
      put(this.#view(port.name), port.dtype, values, port.name);
      for (const value of this.#view(port.name)) {
        const inside = (low === null || value >= low) && (high === null || value <= high);
        check(inside, `${name} ${value} is outside [${low}, ${high}]`);
      }
    }
  }

  /** The names of a function's outputs that this mode shows. */
  #given(name) {
    return this.about.shown[name].filter((one) => this.autoresetMode !== "disabled" || one !== "out.info.autoreset");
  }
}

async function compiled(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  const address = new URL(source, import.meta.url);
  if (address.protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    return WebAssembly.compile(await readFile(address));
  }
  const response = await fetch(address);
  check(response.ok, `${address} answered ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

/** {observation, info, ...} of "out.observation", "out.info.episode.r", ...: what lies below one name is one object. */
function arranged(names, find) {
  const all = { info: {} };
  for (const name of names) {
    const path = name.split(".").slice(1);
    let place = all;
    for (const key of path.slice(0, -1)) place = place[key] ??= {};
    place[path.at(-1)] = find(name);
  }
  if (names.includes("out.info._final_info")) all.info.final_info ??= {}; // an info without fields has no arrays
  return all;
}

/** Write numbers of any kind into a typed array; what it cannot hold is refused. */
function put(array, dtype, values, name) {
  check(values?.length === array.length, `${name} needs ${array.length} numbers, not ${values?.length}`);
  if (values.constructor === array.constructor && dtype !== "bool") {
    array.set(values);
    return;
  }
  for (let place = 0; place < array.length; place++) {
    const value = dtype === "bool" ? Number(Boolean(values[place])) : cast(values[place], dtype, name);
    array[place] = value;
    if (!dtype.startsWith("float")) check(array[place] === value, `${name}: ${values[place]} is no ${dtype}`);
  }
}

function cast(value, dtype, name) {
  if (dtype !== "int64") return Number(value);
  check(typeof value === "bigint" || Number.isInteger(value), `${name}: ${value} is no int64`);
  return BigInt(value);
}

/** The seed of a row, `seeds` being one for all of them, or undefined. */
function offset(seeds, row) {
  return seeds === undefined || seeds === null ? undefined : BigInt(seeds) + BigInt(row);
}

function chance() {
  return crypto.getRandomValues(new BigUint64Array(1))[0] >> 1n;
}

/** The low and the high word of a 64-bit seed. */
function words(seed) {
  const value = BigInt(seed);
  check(value >= 0n && value < 1n << 64n, `a seed is 0 to 2**64 - 1, not ${value}`);
  return [Number(BigInt.asIntN(32, value)), Number(BigInt.asIntN(32, value >> 32n))];
}

function product(shape) {
  return shape.reduce((size, length) => size * length, 1);
}

function check(holds, message) {
  if (!holds) throw new SimulacrumError(message);
}
