// Plays an environment through its JavaScript loader and writes down all that it shows: node play.mjs FOLDER
//
// FOLDER/task.json: {module, loader, options, seeds, steps, dtypes}, FOLDER/actions.NAME the actions of all steps as bytes.
// For each array that is shown FOLDER/PART.NAME gets its bytes, call after call: PART is "reset", "step" or "again" (what a
// reset of ended rows shows where autoreset is disabled). FOLDER/state.NAME gets the fields of the state at the end.

import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { strict as assert } from "node:assert";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const task = JSON.parse(readFileSync(`${folder}/task.json`));
const { Simulacrum, SimulacrumError } = await import(pathToFileURL(task.loader));
const module = await WebAssembly.compile(readFileSync(task.module));
const load = () => Simulacrum.load(module, task.options);
const env = await load();
const disabled = env.autoresetMode === "disabled";
const ports = Object.fromEntries(env.about.ports.map((port) => [port.name, port]));
const kinds = { int64: BigInt64Array, float32: Float32Array, uint8: Uint8Array };

const names = Object.keys(env.about.action);
const actions = Object.fromEntries(names.map((name) => {
  const bytes = new Uint8Array(readFileSync(`${folder}/actions.${name}`));
  return [name, new kinds[ports[name].dtype](bytes.buffer)];
}));

/** The actions of steps first..last-1, as step and rollout take them. */
function played(first, last) {
  const parts = names.map((name) => {
    const size = actions[name].length / task.steps;
    return [name.replace(/^action\.?/, ""), actions[name].slice(first * size, last * size)];
  });
  return names[0] === "action" ? parts[0][1] : Object.fromEntries(parts);
}

function leaves(tree, path = "") {
  if (ArrayBuffer.isView(tree)) return [[path.slice(1), tree]];
  return Object.entries(tree).flatMap(([key, value]) => leaves(value, `${path}.${key}`));
}

const bytesOf = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

function note(part, shown) {
  for (const [name, array] of leaves(shown)) appendFileSync(`${folder}/${part}.${name}`, bytesOf(array));
}

const copied = (shown) => leaves(shown).map(([name, array]) => [name, array.slice()]);

// --- the episodes that are compared with torch -----------------------------------------------------------------------

const seeds = task.seeds.map(BigInt);
note("reset", env.reset(seeds));
const start = env.save(), shown = [];
for (let step = 0; step < task.steps; step++) {
  if (disabled) {
    const ended = env.read("ended");
    if (ended.includes(1)) {
      assert.throws(() => env.step(), /has ended/);
      note("again", env.reset(undefined, { mask: ended }));
    }
  }
  const now = env.step(played(step, step + 1));
  note("step", now);
  shown.push(copied(now));
}
for (const name of env.fields) writeFileSync(`${folder}/state.${name}`, bytesOf(env.read(name)));

// --- what has no counterpart in torch: a rollout, another env with this one's state, plain numbers, refusals -----------

const end = env.save();
const other = await load();
for (const name of env.fields) other.write(name, env.read(name));
assert.deepEqual(copied(other.observe()), copied(env.observe()));

env.restore(start);
if (!disabled) {
  const rolled = leaves(env.rollout(played(0, task.steps), task.steps));
  for (const [name, array] of rolled.filter(([name]) => name !== "info.episode.t")) {
    const one = array.length / task.steps;
    for (let step = 0; step < task.steps; step++) {
      const expected = shown[step].find(([key]) => key === name)[1];
      assert.deepEqual(array.subarray(step * one, (step + 1) * one), expected, `${name} in step ${step}`);
    }
  }
  for (const name of env.fields.filter((name) => name !== "began")) {
    const after = await load();
    after.restore(end);
    assert.deepEqual(env.read(name), after.read(name), name);
  }
}

env.restore(start);
const plain = names[0] === "action" ? Array.from(played(0, 1), Number) : played(0, 1);
const first = copied(env.step(plain)).filter(([name]) => name !== "info.episode.t");
assert.deepEqual(first, shown[0].filter(([name]) => name !== "info.episode.t"));

env.restore(start);
const wrong = played(0, 1), array = names[0] === "action" ? wrong : Object.values(wrong)[0];
const row = env.numEnvs - 1, size = array.length / env.numEnvs;
array[row * size] = array instanceof BigInt64Array ? 10n ** 12n : array instanceof Float32Array ? NaN : 255;
if (!(array instanceof Uint8Array)) {
  assert.throws(() => env.step(wrong), { name: "SimulacrumError", message: new RegExp(`in row ${row} is outside`) });
  assert.throws(() => env.rollout(wrong, 1), SimulacrumError);
  assert.deepEqual(env.save(), start);
}
assert.throws(() => env.step([1]), /numbers, not 1|actions without/);
assert.throws(() => env.reset([1n]), /one a row|must be/);
assert.throws(() => env.reset(-1), /a seed is 0 to/);
console.log("played");
