// The page: starts each section. Python is started when the first screen has been drawn.

import facts from "facts";
import { crowd } from "./crowd.js";
import { readable } from "./readable.js";
import { same } from "./same.js";
import { breaking } from "./breaking.js";
import { speed } from "./speed.js";
import { learning } from "./learning.js";
import { byId, element, theme } from "./dom.js";
import { Python } from "./python.js";

theme(byId("theme"));
globalThis.article = {}; // results, for whoever checks the page
byId("fast-source").textContent = facts.fast;
byId("c-source").textContent = facts.c;
byId("module-size").textContent = `${(facts.size / 1000).toFixed(0)} kB, ${(facts.packed / 1000).toFixed(0)} kB packed`;
byId("versions").textContent = facts.made;
for (const { name, text } of facts.rules) byId("rules").append(element("dt", {}, name), element("dd", {}, text));

const status = byId("status");
const said = (text, kind = "") => Object.assign(status, { textContent: text, className: `status ${kind}` });

async function begin() {
  await crowd();
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const python = new Python((text) => said(`Python: ${text} …`));
  readable(python);
  same(python);
  breaking(python);
  speed(python);
  learning();
  const version = await python.ready;
  for (const button of document.querySelectorAll("button.main, #check-all")) button.disabled = false;
  said(`CPython ${version} runs in this page`, "ready");
}

begin().catch((error) => {
  console.error(error);
  said(`stopped: ${error.message}`, "failed");
});
