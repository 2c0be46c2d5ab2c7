// Nine checks of a batched form, from those that everybody has to those that demand the bits of the reference.
// Each gives {caught, text}. They judge any module in the same way, the true one too.

import { batch, differences, played, randomActions, seedsFrom, typed } from "./batch.js";

const ROWS = 32, STEPS = 150, SEED = 11; // what the reference plays beside the batch
const CROWD = 4096, MEAN_STEPS = 300, ALONE = 8, UNIT_STEPS = 8;
const LEFT_END = -5, GOAL = 5, START_HIGH = 2, START_LOW = -2;
const STRANGE = 4; // standard errors that two averages may be apart

export const CHECKS = [
  { key: "shapes", title: "Shapes, types, no NaN", about: "100 steps of 64 rows give arrays of the declared form.", run: shapes },
  { key: "again", title: "The same seed twice", about: "Two batches from equal seeds give equal numbers.", run: again },
  { key: "mean", title: "Average return", about: "4,096 rows and the reference's episodes earn the same on average, with random actions.", run: mean },
  { key: "unit", title: "A unit test of one row", about: "Seed 0, eight steps to the right, against the numbers of the reference.", run: unit },
  { key: "bounds", title: "Bounds and invariants", about: "Every observation in its space; R11 and R12 hold.", run: bounds },
  { key: "alone", title: "Alone and in company", about: "A row gives the same in a batch of eight and by itself.", run: alone },
  { key: "single", title: "Every state, one step", about: "Each position, each action, sixteen seeds: one step, bit by bit.", run: single },
  { key: "lockstep", title: "Beside the reference", about: `${ROWS} rows, ${STEPS} steps, every number, bit by bit.`, run: lockstep },
  { key: "ends", title: "Where episodes end", about: "The same with SAME_STEP, the last observations too.", run: ends },
];

const told = (caught, text) => ({ caught, text });

/** What the reference plays, once for all faults. */
export class Reference {
  #kept = new Map();

  constructor(python) {
    this.python = python;
  }

  /** One of the reference's answers, asked for once. */
  ask(name, ...args) {
    const key = JSON.stringify([name, ...args.map((one) => (ArrayBuffer.isView(one) ? one.length : one))]);
    if (!this.#kept.has(key)) this.#kept.set(key, this.python.call(name, "true", ...args).then(typed));
    return this.#kept.get(key);
  }

  lockstep = (sameStep) => this.ask("rows", seedsFrom(SEED, ROWS), randomActions(SEED, ROWS * STEPS), STEPS, sameStep);
}

async function shapes(fault) {
  const rows = 64, env = await batch(seedsFrom(0, rows), { fault });
  const shown = played(env, randomActions(1, rows * 100), 100, rows);
  const whole = shown.observation.length === 2 * rows * 100 && shown.reward.length === rows * 100;
  const finite = [...shown.observation, ...shown.reward].every(Number.isFinite);
  return told(!whole || !finite, "All arrays are as declared, and every number is finite.");
}

async function again(fault) {
  const rows = 64, actions = randomActions(2, rows * 100);
  const [one, two] = await Promise.all([0, 1].map(async () => played(await batch(seedsFrom(5, rows), { fault }), actions, 100, rows)));
  const { count } = differences(one, two, rows);
  return told(count > 0, count ? `${count} numbers differ.` : "Equal in every bit.");
}

/** Returns of the episodes that ended, of rows in NEXT_STEP. */
function returns({ reward, terminated, truncated }, rows) {
  const sums = new Float64Array(rows), found = [];
  for (let place = 0; place < reward.length; place++) {
    const row = place % rows;
    sums[row] += reward[place];
    if (terminated[place] || truncated[place]) {
      found.push(sums[row]);
      sums[row] = 0;
    }
  }
  return found;
}

function moments(values) {
  const average = values.reduce((a, b) => a + b, 0) / values.length;
  const variance = values.reduce((a, b) => a + (b - average) ** 2, 0) / (values.length - 1);
  return { average, variance, count: values.length };
}

async function mean(fault, reference) {
  const env = await batch(seedsFrom(100, CROWD), { fault });
  const batched = moments(returns(played(env, randomActions(3, CROWD * MEAN_STEPS), MEAN_STEPS, CROWD), CROWD));
  const readable = moments(returns(await reference.lockstep(false), ROWS));
  const error = Math.sqrt(batched.variance / batched.count + readable.variance / readable.count);
  const apart = Math.abs(batched.average - readable.average) / error;
  const text = `${batched.average.toFixed(1)} over ${batched.count} episodes, the reference ${readable.average.toFixed(1)} `
    + `over ${readable.count}: ${apart.toFixed(1)} standard errors apart, ${STRANGE} are allowed.`;
  return told(apart > STRANGE, text);
}

async function unit(fault, reference) {
  const right = new BigInt64Array(UNIT_STEPS).fill(1n);
  const expected = await reference.ask("rows", [0], right, UNIT_STEPS, false);
  const found = differences(expected, played(await batch([0], { fault }), right, UNIT_STEPS, 1), 1);
  return told(found.count > 0, where(found, "The eight steps are right."));
}

async function bounds(fault) {
  const rows = 512, steps = 200, env = await batch(seedsFrom(40, rows), { fault });
  const actions = randomActions(4, rows * steps);
  let broken = null;
  for (let step = 0; step < steps && broken === null; step++) {
    const { observation } = env.step(actions.subarray(step * rows, (step + 1) * rows));
    const positions = env.read("state.position"), t = env.read("t");
    for (let row = 0; row < rows && broken === null; row++) {
      const [place, elapsed, position] = [observation[2 * row], observation[2 * row + 1], positions[row]];
      const at = `step ${step}, row ${row}`;
      if (position < LEFT_END || position > GOAL) broken = `R11: position ${position}, in ${at}.`;
      else if (position < START_LOW - t[row] || position > START_HIGH + t[row]) broken = `R12: position ${position} at t = ${t[row]}, in ${at}.`;
      else if (place < -1 || place > 1 || elapsed < 0 || elapsed > 1) broken = `An observation beyond its space, in ${at}.`;
    }
  }
  return told(broken !== null, broken ?? "Every position and observation is within bounds.");
}

async function alone(fault) {
  const steps = 120, actions = randomActions(6, ALONE * steps), seeds = seedsFrom(60, ALONE);
  const company = played(await batch(seeds, { fault }), actions, steps, ALONE);
  for (let row = 0; row < ALONE; row++) {
    const own = BigInt64Array.from({ length: steps }, (_, step) => actions[step * ALONE + row]);
    const single = played(await batch([seeds[row]], { fault }), own, steps, 1);
    for (const field of ["observation", "reward", "terminated", "truncated"]) {
      const size = single[field].length / steps;
      for (let place = 0; place < single[field].length; place++) {
        const there = (Math.floor(place / size) * ALONE + row) * size + (place % size);
        if (single[field][place] !== company[field][there]) {
          const step = Math.floor(place / size);
          return told(true, `${field} of row ${row}, step ${step}: ${single[field][place]} alone, ${company[field][there]} among eight.`);
        }
      }
    }
  }
  return told(false, "Eight rows give what each gives alone.");
}

async function single(fault, reference) {
  const positions = [], times = [], seeds = [], actions = [];
  for (let seed = 0; seed < 16; seed++) {
    for (const action of [0, 1]) {
      for (let position = LEFT_END; position < GOAL; position++) {
        positions.push(position);
        actions.push(action);
        seeds.push(seed);
        times.push(10);
      }
    }
  }
  const rows = positions.length, given = BigInt64Array.from(actions, BigInt);
  const expected = await reference.ask("single", positions, times, seeds, given);
  const env = await batch(seeds, { fault });
  env.write("state.position", Int32Array.from(positions));
  env.write("t", Int32Array.from(times));
  const found = differences(expected, played(env, given, 1, rows), rows);
  const { first } = found;
  const from = first && ` First: position ${positions[first.row]}, action ${actions[first.row]}: ${first.field} ${first.reference[0]}, here ${first.batched[0]}.`;
  return told(found.count > 0, first ? `${found.grid.reduce((a, b) => a + b, 0)} of ${rows} steps are wrong.${from}` : `${rows} steps, all right.`);
}

async function lockstep(fault, reference) {
  const expected = await reference.lockstep(false);
  const shown = played(await batch(seedsFrom(SEED, ROWS), { fault }), randomActions(SEED, ROWS * STEPS), STEPS, ROWS);
  const found = differences(expected, shown, ROWS);
  return { ...told(found.count > 0, where(found, `${found.compared} numbers, all equal.`)), found };
}

async function ends(fault, reference) {
  const expected = await reference.lockstep(true);
  const env = await batch(seedsFrom(SEED, ROWS), { fault, mode: "same_step" });
  const shown = played(env, randomActions(SEED, ROWS * STEPS), STEPS, ROWS);
  const found = differences(expected, shown, ROWS, ["observation", "reward", "terminated", "truncated", "final"]);
  return { ...told(found.count > 0, where(found, `${found.compared} numbers, all equal.`)), found };
}

function where({ first, count }, fine) {
  if (first === null) return fine;
  const name = first.field === "final" ? "last observation" : first.field;
  return `${count} differ. First: step ${first.step}, row ${first.row}, ${name}: ${first.reference[0]}, here ${first.batched[0]}.`;
}
