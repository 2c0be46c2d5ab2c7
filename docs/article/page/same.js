// Section 3: the reference beside the batched form, bit by bit.

import { batch, differences, digest, played, randomActions, seedsFrom, typed } from "./batch.js";
import { byId, colour, count, during, element, onTheme, pause, row, seconds } from "./dom.js";
import { edited } from "./readable.js";

const ROWS = 4096;

export function same(python) {
  const form = byId("compare"), place = byId("compare-result"), button = form.querySelector("button");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const number = (id) => Math.max(0, Math.floor(Number(byId(id).value) || 0));
    during(button, place, () => compare(python, place, number("compare-rows"), number("compare-steps"), number("compare-seed")));
  });
  edited.changed.add(() => {
    place.replaceChildren(element("p", { class: "note" }, "The reference has changed since: play both again."));
  });
}

async function compare(python, place, kept, steps, seed) {
  place.replaceChildren(element("p", { class: "note" }, `Python plays ${kept} rows, ${steps} steps each …`));
  await pause();
  const seeds = seedsFrom(seed, ROWS), actions = randomActions(seed, ROWS * steps);
  const of = new BigInt64Array(kept * steps);
  for (let step = 0; step < steps; step++) of.set(actions.subarray(step * ROWS, step * ROWS + kept), step * kept);
  let began = performance.now();
  const reference = typed(await python.call("rows", "edited", seeds.slice(0, kept), of, steps, false));
  const slow = (performance.now() - began) / 1000;
  const env = await batch(seeds);
  began = performance.now();
  const batched = played(env, actions, steps, ROWS, kept);
  const quick = (performance.now() - began) / 1000;
  const found = differences(reference, batched, kept);
  const hashes = await Promise.all([digest(reference), digest(batched)]);
  globalThis.article.compared = { actions: of, seeds: seeds.slice(0, kept), steps, kept, hashes, count: found.count };
  place.replaceChildren(
    verdict(found, kept, steps),
    ...grid(found),
    ...(found.first ? [firstWrong(found.first)] : []),
    element("table", { class: "facts" }, element("caption", {}, "The same hash means the same bytes."), element("tbody", {},
      row("SHA-256, Python", element("span", { class: "hash", id: "hash-reference" }, hashes[0] ?? "not allowed on this address")),
      row("SHA-256, batched", element("span", { class: "hash", id: "hash-batched" }, hashes[1] ?? "not allowed on this address")),
      row("Python played", `${count(kept * steps)} steps in ${seconds(slow)}`),
      row("The batch played", `${count(ROWS * steps)} steps in ${seconds(quick)}`),
    )),
  );
}

function verdict(found, rows, steps) {
  const text = `${rows} rows × ${steps} steps: ${count(found.compared)} numbers compared, `;
  const result = found.count === 0
    ? element("strong", { class: "good" }, "not one bit differs.")
    : element("strong", { class: "caught" }, `${count(found.count)} differ.`);
  return element("p", { class: "verdict", id: "verdict" }, text, result);
}

/** A picture of all rows (down) and steps (to the right): a cell is filled where something differs. */
export function grid(found) {
  const canvas = element("canvas", { class: "grid", width: found.steps, height: found.rows, role: "img",
    "aria-label": `${found.rows} rows down, ${found.steps} steps to the right; ${found.grid.reduce((a, b) => a + b, 0)} cells differ` });
  const draw = () => {
    const context = canvas.getContext("2d"), image = context.createImageData(found.steps, found.rows);
    const [calm, loud] = ["wash", "bad"].map((name) => numbers(colour(name)));
    found.grid.forEach((wrong, cell) => {
      const row = cell % found.rows, step = Math.floor(cell / found.rows);
      image.data.set([...(wrong ? loud : calm), 255], 4 * (row * found.steps + step));
    });
    context.putImageData(image, 0, 0);
  };
  draw();
  onTheme(() => canvas.isConnected && draw());
  const key = (name, text) => element("span", {}, element("span", { class: "key", style: `background: var(--${name})` }), text);
  return [canvas, element("p", { class: "note" }, "Rows down, steps to the right. ", key("wash", "equal "), " ", key("bad", "different"))];
}

function numbers(text) {
  const parts = text.match(/[\d.]+/g).map(Number);
  return text.startsWith("color(") ? parts.slice(0, 3).map((part) => part * 255) : parts.slice(0, 3);
}

export function firstWrong(first) {
  const name = first.field === "observation" || first.field === "final" ? `${first.field}[${first.element}]` : first.field;
  return element("table", { class: "facts", id: "first-wrong" },
    element("caption", {}, "The first difference"),
    element("tbody", {},
      row("where", `step ${first.step}, row ${first.row}, ${name}`),
      row("reference", `${first.reference[0]}  ${first.reference[1]}`),
      row("batched", `${first.batched[0]}  ${first.batched[1]}`),
    ));
}
