// Python beside the page: CPython as WebAssembly, the repository's reference twin in it, and calls from the page.
// Nothing is fetched: every file comes in the first message, and `fetch` knows no other.

import "./classic.js"; // before pyodide looks where it is
import { loadPyodide } from "pyodide";
import createPyodideModule from "pyodide/pyodide.asm.mjs";

let python, rows, files;
const plays = new Map();

globalThis.fetch = async (address) => {
  const name = String(address).split("/").pop();
  if (!(name in files)) throw new Error(`${address} is not part of the page`);
  return new Response(files[name], { headers: { "Content-Type": name.endsWith(".wasm") ? "application/wasm" : "" } });
};

async function start(given, lock) {
  files = given;
  const options = { indexURL: "https://nowhere.invalid/", lockFileContents: lock, createPyodideModule };
  python = await loadPyodide(options);
  python.FS.mkdirTree("/app");
  python.unpackArchive(files["python.zip"], "zip", { extractDir: "/app" });
  rows = python.runPython(`
import sys, time
sys.path[:0] = ["/app", "/app/site"]
import rows
rows`);
  files = {};
  return python.runPython("sys.version.split()[0]");
}

/** Read the package, with `source` as its reference.py where it is given; `name` stands for it from now on. */
function load(name, folder, source) {
  plays.get(name)?.destroy();
  rows.forget();
  plays.set(name, rows.Play(folder, source ?? undefined));
}

const called = {
  start,
  load,
  reset: (name, seed) => plain(plays.get(name).reset(seed ?? undefined)),
  step: (name, action) => plain(plays.get(name).step(action)),
  rows: (name, seeds, actions, steps, sameStep) => bytes(plays.get(name).rows(seeds, actions, steps, sameStep)),
  single: (name, positions, times, seeds, actions) => bytes(plays.get(name).single(positions, times, seeds, actions)),
  loop: (name, seconds) => plays.get(name).loop(seconds, () => performance.now() / 1000),
};

const plain = (proxy) => taken(proxy, (one) => one.toJs({ dict_converter: Object.fromEntries }));
const bytes = (proxy) =>
  taken(proxy, (one) => one.toJs({ dict_converter: (items) => Object.fromEntries([...items].map(([k, v]) => [k, v.slice()])) }));

function taken(proxy, use) {
  try {
    return use(proxy);
  } finally {
    proxy.destroy();
  }
}

globalThis.onmessage = async ({ data: { id, name, args } }) => {
  try {
    globalThis.postMessage({ id, value: await called[name](...args) });
  } catch (error) {
    globalThis.postMessage({ id, error: told(error) });
  }
};

/** What a Python error says: simulacrum's own in its words, others from the line of the reference on. */
function told(error) {
  const lines = String(error.message ?? error).trim().split("\n");
  const own = lines.findLastIndex((line) => line.startsWith("simulacrum.errors."));
  if (own >= 0) return lines.slice(own).join("\n").replace(/^simulacrum\.errors\.\w+: /, "");
  const frame = lines.findLastIndex((line) => line.includes("reference.py"));
  return (frame >= 0 ? lines.slice(frame) : lines.slice(-6)).join("\n");
}
