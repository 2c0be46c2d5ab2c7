// Batches of the modules, and what they show while they are played, laid out as rows.py lays it out.

import { Simulacrum } from "simulacrum";
import trueModule from "toywalk.wasm";
import facts from "facts";
import { payload } from "./payload.js";

export const FIELDS = { observation: Float32Array, reward: Float32Array, terminated: Uint8Array, truncated: Uint8Array };
const KEPT = { ...FIELDS, position: Int32Array, final: Float32Array };
const TRUE = facts.env;
const compiled = new Map([[TRUE, WebAssembly.compile(trueModule)]]);

/** Row seeds s, s + 1, ... */
export const seedsFrom = (seed, count) => Array.from({ length: count }, (_, row) => seed + row);

/** 0 or 1 for each row of each step: mulberry32, the same for the same seed. */
export function randomActions(seed, count) {
  const actions = new BigInt64Array(count);
  let state = seed >>> 0;
  for (let place = 0; place < count; place++) {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    actions[place] = BigInt(((word ^ (word >>> 14)) >>> 31) & 1);
  }
  return actions;
}

/** The module of that name: the true one, or one with a fault. */
export function moduleOf(name) {
  if (!compiled.has(name)) compiled.set(name, payload(`${name}.wasm`).then((bytes) => WebAssembly.compile(bytes)));
  return compiled.get(name);
}

/** The fault's module for a batch of `rows`, and the rows of its groups (1 where rows stay alone). */
function chosen(fault, rows) {
  if (!fault) return { name: TRUE, group: 1 };
  const found = fault.modules.filter(({ group }) => rows % (group || 1) === 0).at(-1);
  if (!found) throw new Error(`${fault.key} cannot be played with ${rows} rows`);
  return { name: found.name, group: found.group || 1 };
}

/** Rows that begin with these seeds, in the environment as it is (`fault` null) or with a fault in it. */
export async function batch(seeds, { fault = null, mode = "next_step" } = {}) {
  const { name, group } = chosen(fault, seeds.length);
  const options = { autoresetMode: mode };
  const env = await Simulacrum.load(await moduleOf(name), { ...options, numEnvs: seeds.length / group });
  if (!fault || fault.modules.length === 1) {
    env.reset(seeds);
    return env;
  }
  // A module of groups is started from the rows of the true one: no fault of these is in a reset.
  const start = await Simulacrum.load(await moduleOf(TRUE), { ...options, numEnvs: seeds.length });
  start.reset(seeds);
  for (const field of start.fields) env.write(field, start.read(field));
  env.observe();
  return env;
}

/** Step the rows with these actions (steps times one a row); what the first `kept` rows show, step after step. */
export function played(env, actions, steps, rows, kept = rows) {
  const shown = Object.fromEntries(
    Object.entries(KEPT).map(([name, kind]) => [name, new kind(steps * kept * width(name))]),
  );
  for (let step = 0; step < steps; step++) {
    const out = env.step(actions.subarray(step * rows, (step + 1) * rows));
    const values = { ...out, position: env.read("state.position"), final: out.info.final_obs ?? out.observation };
    for (const name of Object.keys(KEPT)) {
      shown[name].set(values[name].subarray(0, kept * width(name)), step * kept * width(name));
    }
  }
  return shown;
}

export const width = (name) => (name === "observation" || name === "final" ? 2 : 1);

/** What rows.py gave, as the same arrays. */
export const typed = (bytes) =>
  Object.fromEntries(
    Object.entries(bytes).map(([name, one]) => [name, new KEPT[name](one.buffer, one.byteOffset, one.length / KEPT[name].BYTES_PER_ELEMENT)]),
  );

/** The bits of an array's elements. */
export const bits = (array) =>
  array instanceof Float32Array ? new Uint32Array(array.buffer, array.byteOffset, array.length) : array;

/** Where two plays of `rows` rows differ: a byte for each step and row, and the first place. Bits are compared. */
export function differences(reference, batched, rows, fields = Object.keys(FIELDS)) {
  const steps = reference.reward.length / rows;
  const grid = new Uint8Array(steps * rows);
  let first = null, count = 0, compared = 0;
  for (const field of fields) {
    const [a, b] = [bits(reference[field]), bits(batched[field])];
    compared += a.length;
    for (let place = 0; place < a.length; place++) {
      if (a[place] === b[place]) continue;
      count++;
      const cell = Math.floor(place / width(field));
      grid[cell] = 1;
      if (first === null || cell < first.cell) first = { cell, field, place };
    }
  }
  if (first !== null) {
    const { cell, field, place } = first;
    const hex = (array) => `0x${bits(array)[place].toString(16).padStart(field in { observation: 0, reward: 0, final: 0 } ? 8 : 2, "0")}`;
    Object.assign(first, {
      step: Math.floor(cell / rows), row: cell % rows, element: place % width(field),
      reference: [reference[field][place], hex(reference[field])], batched: [batched[field][place], hex(batched[field])],
    });
  }
  return { grid, steps, rows, count, compared, first };
}

/** SHA-256 over the fields, one array after the other; null where a browser keeps it from pages like this one. */
export async function digest(shown, fields = Object.keys(FIELDS)) {
  if (!globalThis.crypto?.subtle) return null;
  const parts = fields.map((name) => new Uint8Array(shown[name].buffer, shown[name].byteOffset, shown[name].byteLength));
  const whole = new Uint8Array(await new Blob(parts).arrayBuffer());
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", whole));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
