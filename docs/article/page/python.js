// The page's side of worker.js: one Python, started once, called by name.

import { payload } from "./payload.js";
import facts from "facts";

const FILES = ["pyodide.asm.wasm", "python_stdlib.zip", "python.zip"];

export const ENV = `/app/envs/${facts.env}`;

export class Python {
  #worker; #waiting = new Map(); #count = 0;

  /** Starts at the first call. `ready` is the version, once it runs. `progress(text)` is told what is being done. */
  constructor(progress) {
    this.ready = this.#start(progress);
    this.ready.catch(() => {}); // whoever waits for it is told
  }

  async #start(progress) {
    progress("unpacking CPython");
    const [source, ...contents] = await Promise.all(["worker.js", ...FILES].map(payload));
    progress("starting CPython");
    const script = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    this.#worker = new Worker(script, { name: "python" });
    this.#worker.onmessage = ({ data: { id, value, error } }) => {
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) resolve(value);
      else reject(new Error(error));
    };
    const failed = new Promise((_, reject) => {
      this.#worker.onerror = (event) => reject(new Error(event.message || "the worker could not be started"));
    });
    const files = Object.fromEntries(FILES.map((name, k) => [name, contents[k]]));
    const version = await Promise.race([failed, this.#send("start", [files, facts.lock])]);
    progress("reading the environment");
    await this.#send("load", ["true", ENV, null]);
    await this.#send("load", ["edited", ENV, null]);
    return version;
  }

  /** Call one of the functions of worker.js. Waits until Python runs. */
  async call(name, ...args) {
    await this.ready;
    return this.#send(name, args);
  }

  #send(name, args) {
    return new Promise((resolve, reject) => {
      const id = this.#count++;
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, name, args });
    });
  }
}
