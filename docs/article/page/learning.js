// Section 6: a table of values learns in an environment, right or wrong, and is tried in both.

import facts from "facts";
import { batch, seedsFrom } from "./batch.js";
import { byId, during, element, fitted, pause, svg } from "./dom.js";

const ROWS = 128, ROUNDS = 60, STEPS = 4; // rows that learn at once; rounds of so many steps
const EXPLORE = 0.25, RATE = 0.05, DISCOUNT = 0.98;
const TRIED = 256; // episodes after each round, in each environment
const LIMIT = 60, CELLS = 11, LEFT_END = -5, GOAL = 5;
const TEACHING = ["wrap", "leak", "clamp", "late"]; // the faults that a learner can run into
const LESSONS = {
  wrap: "From the left half the way round is the shorter one, so the policy walks off the left end. In the right environment that is a wall, and it stands there until the clock ends the episode.",
  leak: "Every row is paid whenever one of its eight reaches the goal: to go on living pays, and to reach the goal ends it. The better a policy learns to stay away, the less there is to be paid for, so the curve never settles. Its peaks are returns that nobody can earn in the right environment.",
  clamp: "This fault teaches nothing wrong: who walks to the right never meets it. The policy is fine, and the environment still is another one than its spec says.",
  late: "Nor does this one: every distribution is as it should be. But no episode can be played again by the reference, and no recorded one is what the spec says it is.",
  none: "In the right environment both curves are one.",
};

/** Where an agent thinks it stands, from what it sees. */
const cellOf = (observation, row) => Math.min(Math.max(Math.round(observation[2 * row] * 5) - LEFT_END, 0), CELLS - 1);

class Learner {
  values = new Float64Array(2 * CELLS);
  #state = 0x1234567;

  chance() { // xorshift32: the same in every run
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) / 2 ** 32;
  }

  greedy(cell) {
    const [left, right] = this.values.subarray(2 * cell, 2 * cell + 2);
    return left === right ? Number(this.chance() < 0.5) : Number(right > left);
  }

  act(observation, rows, explore) {
    const actions = new BigInt64Array(rows);
    for (let row = 0; row < rows; row++) {
      const random = explore > 0 && this.chance() < explore;
      actions[row] = BigInt(random ? Number(this.chance() < 0.5) : this.greedy(cellOf(observation, row)));
    }
    return actions;
  }

  /** One step of Q-learning (Watkins 1989) for one row. */
  learn(cell, action, reward, next, terminated) {
    const place = 2 * cell + action;
    const future = terminated ? 0 : Math.max(this.values[2 * next], this.values[2 * next + 1]);
    this.values[place] += RATE * (reward + DISCOUNT * future - this.values[place]);
  }
}

/** Average return of the greedy policy over one episode of each row. */
async function tried(learner, fault) {
  const env = await batch(seedsFrom(50_000, TRIED), { fault }), sums = new Float64Array(TRIED), over = new Uint8Array(TRIED);
  let observation = env.observe().observation, goals = 0;
  for (let step = 0; step < LIMIT; step++) {
    const out = env.step(learner.act(observation, TRIED, 0));
    for (let row = 0; row < TRIED; row++) {
      if (over[row]) continue;
      sums[row] += out.reward[row];
      goals += out.terminated[row];
      over[row] = out.terminated[row] | out.truncated[row];
    }
    observation = out.observation;
  }
  return { average: sums.reduce((a, b) => a + b, 0) / TRIED, goals: goals / TRIED };
}

export async function learned(fault, told = () => {}) {
  const learner = new Learner(), env = await batch(seedsFrom(0, ROWS), { fault }), rounds = [];
  let before = env.observe().observation.slice();
  let began = new Uint8Array(ROWS); // rows that begin an episode in this step: their action means nothing
  for (let round = 0; round <= ROUNDS; round++) {
    for (let step = 0; step < (round ? STEPS : 0); step++) {
      const actions = learner.act(before, ROWS, EXPLORE), out = env.step(actions);
      for (let row = 0; row < ROWS; row++) {
        if (began[row]) continue;
        learner.learn(cellOf(before, row), Number(actions[row]), out.reward[row], cellOf(out.observation, row), out.terminated[row]);
      }
      began = Uint8Array.from(out.terminated, (one, row) => one | out.truncated[row]);
      before = out.observation.slice();
    }
    rounds.push({ there: await tried(learner, fault), here: await tried(learner, null) });
    told(rounds, learner);
    await pause();
  }
  return { learner, rounds };
}

export function learning() {
  const choice = byId("learn-in"), place = byId("learn-result"), progress = byId("learn-progress"), button = byId("learn-run");
  const faults = [...TEACHING.map((key) => facts.faults.find((fault) => fault.key === key)), null];
  for (const fault of faults) choice.append(element("option", { value: fault?.key ?? "none" }, fault?.title ?? "the right environment"));
  button.addEventListener("click", () => during(button, place, async () => {
    const fault = faults.find((one) => (one?.key ?? "none") === choice.value), title = fault?.title ?? "No fault";
    let shown = [];
    const chart = fitted((width) => curves(width, shown));
    place.replaceChildren(chart);
    const { learner, rounds } = await learned(fault, (soFar) => {
      shown = soFar;
      progress.textContent = `round ${soFar.length - 1} of ${ROUNDS}`;
      chart.redraw();
    });
    const right = fault ? (await learned(null)).learner : learner;
    const trace = { there: await walked(learner, fault), here: await walked(learner, null) };
    progress.textContent = "";
    const lesson = LESSONS[fault?.key ?? "none"];
    place.replaceChildren(chart, summary(rounds.at(-1), title), policies(learner, right),
      fitted((width) => traces(width, trace)), element("p", {}, lesson));
    globalThis.article.learned = { fault: fault?.key ?? "none", ...rounds.at(-1), policy: policyOf(learner) };
  }));
}

const policyOf = (learner) => Array.from({ length: CELLS - 1 }, (_, cell) => learner.greedy(cell));

/** Positions of a greedy walker that begins on START_LOW; the seed is the first that puts it there. */
async function walked(learner, fault) {
  const start = await batch(seedsFrom(0, 64)), seed = start.read("state.position").indexOf(-2);
  // Rows of a leaking batch step together: eight walkers begin, the first is drawn.
  const env = await batch(seedsFrom(seed, fault?.modules.length > 1 ? 8 : 1), { fault });
  const path = [env.read("state.position")[0]];
  let observation = env.observe().observation;
  while (path.length <= LIMIT) {
    const out = env.step(learner.act(observation, env.read("t").length, 0));
    path.push(env.read("state.position")[0]);
    observation = out.observation;
    if (out.terminated[0] || out.truncated[0]) break;
  }
  return path;
}

function curves(width, rounds) {
  if (rounds.length === 0) return svg("svg", { viewBox: `0 0 ${width} 260`, "aria-hidden": "true" });
  const height = 260, left = 34, right = 138, low = -62, high = Math.max(12, ...rounds.map(({ there }) => there.average + 4));
  const x = (round) => left + ((width - left - right) * round) / ROUNDS, y = (value) => 12 + ((height - 44) * (high - value)) / (high - low);
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Average return of the greedy policy after each round, in both environments" });
  for (const tick of [-60, -40, -20, 0, 20, 40, 60].filter((one) => one < high)) {
    drawing.append(svg("line", { x1: left, x2: width - right, y1: y(tick), y2: y(tick), style: `stroke: var(--rule)` }),
      svg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, String(tick).replace("-", "−")));
  }
  const [there, here] = ["there", "here"].map((name) => rounds.map((round) => round[name].average));
  const apart = Math.abs(y(there.at(-1)) - y(here.at(-1))) < 18 ? 9 : 0, end = x(rounds.length - 1) + 8;
  for (const [values, name, text, shift] of [[there, "batch", "where it learned", -apart], [here, "reference", "the right one", apart]]) {
    drawing.append(svg("polyline", { points: values.map((value, round) => `${x(round)},${y(value)}`).join(" "), style: `fill: none; stroke: var(--${name}); stroke-width: 2.5` }),
      svg("text", { x: end, y: y(values.at(-1)) + 4 + shift, style: `fill: var(--${name}); font-weight: 600` }, text));
  }
  drawing.append(svg("text", { x: left, y: height - 6 }, "Average return, after each round of learning"));
  return drawing;
}

function summary({ there, here }, title) {
  const share = (one) => `${Math.round(100 * one.goals)} %`;
  const line = (name, one) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, share(one)), element("td", {}, one.average.toFixed(1).replace("-", "−")));
  return element("table", { class: "facts", id: "learned" }, element("caption", {}, `The greedy policy at the end, ${TRIED} episodes in each environment`),
    element("thead", {}, element("tr", {}, ...["", "reach the goal", "average return"].map((text) => element("th", { scope: "col" }, text)))),
    element("tbody", {}, line(`where it learned: ${title.toLowerCase()}`, there), line("the right environment", here)));
}

function policies(wrong, right) {
  const cells = (learner, other) => Array.from({ length: CELLS }, (_, cell) => {
    const arrow = cell === CELLS - 1 ? "⚑" : learner.greedy(cell) ? "→" : "←";
    const off = cell < CELLS - 1 && learner.greedy(cell) !== other.greedy(cell);
    return element("span", { class: `to${off ? " off" : ""}` }, arrow);
  });
  const words = (learner) => policyOf(learner).map((right) => (right ? "right" : "left")).join(", ");
  return element("div", { class: "policy", role: "img", id: "policies",
    "aria-label": `What the policies do from −5 to 4. Learned here: ${words(wrong)}. Learned in the right environment: ${words(right)}.` },
    element("span", { class: "who" }, "Cell"), ...Array.from({ length: CELLS }, (_, cell) => element("span", {}, String(cell + LEFT_END).replace("-", "−"))),
    element("span", { class: "who" }, "Learned here"), ...cells(wrong, right),
    element("span", { class: "who" }, "Learned right"), ...cells(right, right));
}

function traces(width, { there, here }) {
  const height = 200, left = 34, right = 138;
  const x = (t) => left + ((width - left - right) * t) / LIMIT, y = (position) => 12 + ((height - 44) * (GOAL - position)) / (GOAL - LEFT_END + 1);
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `One episode from −2. Where it learned: ${there.length - 1} steps, ends on ${there.at(-1)}. In the right environment: ${here.length - 1} steps, ends on ${here.at(-1)}.` });
  for (const tick of [-5, 0, 5]) {
    drawing.append(svg("line", { x1: left, x2: width - right, y1: y(tick), y2: y(tick), style: "stroke: var(--rule)" }),
      svg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, tick === GOAL ? "⚑ 5" : String(tick).replace("-", "−")));
  }
  const near = Math.abs(here.length - there.length) < 12 && Math.abs(y(here.at(-1)) - y(there.at(-1))) < 18 ? 9 : 0;
  for (const [path, name, text, shift] of [[here, "reference", "the right one", near], [there, "batch", "where it learned", -near]]) {
    drawing.append(svg("polyline", { points: path.map((position, t) => `${x(t)},${y(position)}`).join(" "), style: `fill: none; stroke: var(--${name}); stroke-width: 2` }),
      svg("circle", { cx: x(path.length - 1), cy: y(path.at(-1)), r: 4, style: `fill: var(--${name})` }),
      svg("text", { x: x(path.length - 1) + 9, y: y(path.at(-1)) + 4 + shift, style: `fill: var(--${name}); font-weight: 600` }, text));
  }
  drawing.append(svg("text", { x: left, y: height - 6 }, "One greedy episode from −2, 60 steps"));
  return drawing;
}
