// Section 5: steps per second, measured here.

import { batch, randomActions, seedsFrom } from "./batch.js";
import { byId, during, element, fitted, pause, rounded, svg } from "./dom.js";

const BATCHES = [1, 16, 256, 4096, 65536];
const SECONDS = 0.5; // of each measurement, the best of REPEATS
const REPEATS = 3;

export function speed(python) {
  const button = byId("measure"), place = byId("speed-chart"), progress = byId("measure-progress");
  button.addEventListener("click", () => during(button, place, async () => {
    const found = [];
    progress.textContent = "the reference …";
    found.push({ name: "reference, Python", rows: 1, rate: await python.call("loop", "true", SECONDS * 2), reference: true });
    for (const rows of BATCHES) {
      progress.textContent = `${rounded(rows)} rows …`;
      await pause();
      found.push({ name: `batched, ${rows.toLocaleString("en")} ${rows === 1 ? "row" : "rows"}`, rows, rate: await rate(rows) });
      show(place, found);
    }
    progress.textContent = "";
    globalThis.article.measured = found;
  }));
}

async function rate(rows) {
  const env = await batch(seedsFrom(0, rows));
  env.actionMemory.set(randomActions(rows, rows));
  let best = 0;
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const began = performance.now();
    let steps = 0, now;
    do {
      for (let k = 0; k < 8; k++) env.step();
      steps += 8;
      now = performance.now();
    } while (now - began < (SECONDS * 1000) / REPEATS);
    best = Math.max(best, (steps * rows * 1000) / (now - began));
    await pause();
  }
  return best;
}

function show(place, found) {
  const [least, most] = [1e3, 10 ** Math.ceil(Math.log10(Math.max(...found.map(({ rate }) => rate), 1e6)))];
  const table = element("table", { class: "facts" }, element("caption", {}, "Steps per second"),
    element("thead", {}, element("tr", {}, ...["", "steps per second", "times the reference"].map((text) => element("th", { scope: "col" }, text)))),
    element("tbody", {}, ...found.map(({ name, rate }) => element("tr", {}, element("th", { scope: "row" }, name),
      element("td", {}, rounded(rate)), element("td", {}, factor(rate / found[0].rate))))));
  place.replaceChildren(fitted((width) => chart(width, found, least, most)), table);
}

const factor = (times) => (times >= 10 ? Math.round(times).toLocaleString("en") : times.toFixed(1));

/** Bars on a logarithmic axis. */
function chart(width, found, least, most) {
  const narrow = width < 560, line = narrow ? 48 : 34, left = narrow ? 4 : 170, right = 26, height = found.length * line + 40;
  const x = (value) => left + ((width - left - right) * Math.log(Math.max(value, least) / least)) / Math.log(most / least);
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Steps per second, on a logarithmic axis; the table below has the numbers" });
  for (let tick = least; tick <= most; tick *= 10) {
    const text = tick >= 1e6 ? `${tick / 1e6}M` : `${tick / 1e3}k`;
    drawing.append(svg("line", { x1: x(tick), x2: x(tick), y1: 0, y2: height - 28, style: "stroke: var(--rule)" }),
      svg("text", { x: x(tick), y: height - 8, "text-anchor": tick === least && narrow ? "start" : "middle" }, text));
  }
  found.forEach(({ name, rate, reference }, k) => {
    const y = k * line + 5, fill = reference ? "var(--reference)" : "var(--batch)";
    const label = narrow ? { x: left, y: y + 11 } : { x: left - 10, y: y + 17, "text-anchor": "end" };
    const bar = narrow ? { y: y + 17, height: 20 } : { y, height: line - 10 };
    drawing.append(svg("text", { ...label, class: "strong" }, name),
      svg("rect", { ...bar, x: left, width: Math.max(x(rate) - left, 2), rx: 2, style: `fill: ${fill}` }));
  });
  return drawing;
}
