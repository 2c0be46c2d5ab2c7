// The opening picture: 4,096 walkers of the true module, as a histogram that moves.

import { batch, randomActions, seedsFrom } from "./batch.js";
import { byId, colour, count, onTheme, still, whenWidthChanges } from "./dom.js";

const ROWS = 4096, CELLS = 11, LEFT_END = -5;
const PERIOD = 160; // ms between two steps

export async function crowd() {
  const figure = byId("crowd"), canvas = figure.querySelector("canvas"), told = byId("crowd-told");
  const button = byId("crowd-run");
  const env = await batch(seedsFrom(1, ROWS));
  let steps = 0, finished = 0, timer = null, seen = false;
  const columns = new Float64Array(CELLS);

  function draw() {
    const positions = env.read("state.position"), counts = new Array(CELLS).fill(0);
    for (const position of positions) counts[position - LEFT_END]++;
    for (let cell = 0; cell < CELLS; cell++) columns[cell] = counts[cell];
    paint(canvas, columns);
    told.textContent = `step ${count(steps)} · ${count(steps * ROWS)} transitions · ${count(finished)} goals`;
  }

  function step() {
    const out = env.step(randomActions(1000 + steps, ROWS));
    for (const ended of out.terminated) finished += ended;
    steps++;
    if (seen) draw();
  }

  function run(going) {
    clearInterval(timer);
    timer = going ? setInterval(step, PERIOD) : null;
    button.textContent = going ? "Pause" : "Play";
  }

  for (let k = 0; k < 3; k++) step();
  draw();
  button.addEventListener("click", () => run(timer === null));
  onTheme(draw);
  whenWidthChanges(figure, draw);
  new IntersectionObserver(([entry]) => { seen = entry.isIntersecting; }).observe(canvas);
  run(!still());
}

function paint(canvas, columns) {
  const scale = devicePixelRatio || 1, width = canvas.clientWidth || 688, height = Math.round(Math.max(150, width * 0.28));
  [canvas.width, canvas.height] = [width * scale, height * scale];
  const context = canvas.getContext("2d"), cell = width / CELLS, ground = height - 26;
  context.scale(scale, scale);
  const most = ROWS / 5;
  context.textAlign = "center";
  const [batched, soft, rule, ink] = ["batch", "soft", "rule", "ink"].map(colour);
  for (let place = 0; place < CELLS; place++) {
    const high = Math.min(columns[place] / most, 1) * (ground - 8), x = place * cell;
    context.fillStyle = place === CELLS - 1 ? colour("good") : batched;
    context.fillRect(x + 2, ground - high, cell - 4, high);
    context.fillStyle = soft;
    context.font = "13px system-ui, sans-serif";
    context.fillText(String(place + LEFT_END).replace("-", "−"), x + cell / 2, height - 7);
  }
  context.fillStyle = rule;
  context.fillRect(0, ground, width, 1);
  flag(context, (CELLS - 0.5) * cell + 8, ink);
}

function flag(context, x, ink) {
  context.fillStyle = ink;
  context.fillRect(x, 8, 1.5, 34);
  context.beginPath();
  context.moveTo(x, 8);
  context.lineTo(x - 18, 15);
  context.lineTo(x, 22);
  context.fill();
}
