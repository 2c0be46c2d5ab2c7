// Plays a module and leaves the bytes of what it shows: node play.mjs FOLDER, with FOLDER/task.json.
// A module of groups begins from the rows of the true one, as the page does it.

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const task = JSON.parse(readFileSync(`${folder}/task.json`));
const { Simulacrum } = await import(pathToFileURL(task.loader));
const rows = task.seeds.length, options = { autoresetMode: task.mode };
const loaded = (path, numEnvs) => Simulacrum.load(readFileSync(path), { ...options, numEnvs });
const start = await loaded(task.true, rows);
start.reset(task.seeds.map(BigInt));
const env = await loaded(task.module, rows / task.group);
for (const field of start.fields) env.write(field, start.read(field));
env.observe();

const shown = {};
const note = (name, array) => (shown[name] ??= []).push(Buffer.from(array.slice().buffer));
for (const actions of task.actions) {
  const out = env.step(actions.map(BigInt));
  for (const name of ["observation", "reward", "terminated", "truncated"]) note(name, out[name]);
  if (task.mode === "same_step") note("final", out.info.final_obs);
  note("position", env.read("state.position"));
}
for (const [name, parts] of Object.entries(shown)) writeFileSync(`${folder}/${name}`, Buffer.concat(parts));
