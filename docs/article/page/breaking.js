// Section 4: faults, and which check sees which.

import facts from "facts";
import { CHECKS, Reference } from "./checks.js";
import { byId, during, element, pause } from "./dom.js";
import { firstWrong, grid } from "./same.js";

const NONE = { key: "none", title: "No fault", short: "none", story: "The module of the repository's files as they are: nothing must be caught.", edits: [], caught_by: [], modules: [] };
const COLUMNS = [NONE, ...facts.faults];

export function breaking(python) {
  const reference = new Reference(python), results = new Map();
  const chosen = () => COLUMNS.find(({ key }) => byId("faults").querySelector(":checked").value === key);
  for (const { key, title } of COLUMNS) {
    const radio = element("input", { type: "radio", name: "fault", value: key, checked: key === facts.faults[0].key, change: () => tell() });
    byId("faults").append(element("label", {}, radio, element("span", {}, title)));
  }

  function tell() {
    byId("fault-told").replaceChildren(...story(chosen()));
    table();
  }

  function table() {
    const picked = chosen();
    const head = element("tr", {}, element("th", { scope: "col" }, "Check"),
      ...COLUMNS.map((fault) => element("th", { scope: "col", class: fault === picked && "chosen" }, element("abbr", { title: fault.title, class: "plain" }, fault.short))));
    const body = CHECKS.map((check) => element("tr", {}, element("th", { scope: "row" }, check.title),
      ...COLUMNS.map((fault) => element("td", { class: fault === picked && "chosen" }, cell(check, fault)))));
    byId("matrix").replaceChildren(
      element("caption", {}, "Faults across, checks down; – is not caught. Each result is a button that tells what was found."),
      element("thead", {}, head), element("tbody", {}, ...body));
  }

  function cell(check, fault) {
    const result = results.get(`${check.key} ${fault.key}`);
    if (!result) return "·";
    const label = `${result.caught ? "caught" : "– not caught"}: ${check.title}, ${fault.title}`;
    const look = { type: "button", class: result.caught && "caught", "aria-label": label };
    return element("button", { ...look, click: () => explain(check, fault, result) }, result.caught ? "caught" : "–");
  }

  function explain(check, fault, { caught, text, found }) {
    const parts = [element("h3", {}, fault.title), element("dl", { class: "found" }, ...line(check, { caught, text }))];
    if (found?.first) parts.push(...grid(found), firstWrong(found.first));
    byId("check-told").replaceChildren(...parts);
  }

  function explainAll(fault) {
    const lines = CHECKS.flatMap((check) => line(check, results.get(`${check.key} ${fault.key}`)));
    byId("check-told").replaceChildren(element("h3", {}, fault.title), element("dl", { class: "found" }, ...lines));
  }

  function line(check, { caught, text }) {
    const said = caught ? element("span", { class: "caught" }, "Caught.") : element("span", { class: "good" }, "Passes.");
    return [element("dt", {}, check.title), element("dd", { class: "note" }, check.about), element("dd", {}, said, text)];
  }

  async function run(faults) {
    const progress = byId("check-progress");
    for (const fault of faults) {
      for (const check of CHECKS) {
        progress.textContent = `${fault.title}: ${check.title.toLowerCase()} …`;
        await pause();
        results.set(`${check.key} ${fault.key}`, await check.run(fault === NONE ? null : fault, reference));
        table();
      }
    }
    const seen = faults.map((fault) => CHECKS.filter((check) => results.get(`${check.key} ${fault.key}`).caught).length);
    progress.textContent = faults.length === 1
      ? `${seen[0]} of the ${CHECKS.length} checks caught it.`
      : `Checks that caught it: ${faults.map((fault, k) => `${fault.short} ${seen[k]}`).join(", ")}.`;
    if (faults.length === 1) explainAll(faults[0]);
    globalThis.article.checked = Object.fromEntries([...results].map(([key, { caught }]) => [key, caught]));
  }

  byId("check-one").addEventListener("click", () => during(byId("check-one"), byId("check-told"), () => run([chosen()])));
  byId("check-all").addEventListener("click", () => during(byId("check-all"), byId("check-told"), () => run(COLUMNS)));
  tell();
}

function story(fault) {
  const parts = [element("p", {}, fault.story)];
  for (const { file, line, old, with: changed } of fault.edits) {
    parts.push(
      element("pre", { class: "diff", tabindex: "0", "aria-label": `The change in ${file}` },
        element("span", { class: "note" }, `${file}, line ${line}\n`),
        element("span", { class: "out" }, `- ${old}\n`), element("span", { class: "in" }, `+ ${changed}`)));
  }
  if (fault.caught_by.length) {
    parts.push(element("p", { class: "note" }, `In the repository's tests this very fault must fail these checks of the battery, and no others: ${fault.caught_by.join(", ")}.`));
  }
  return parts;
}
