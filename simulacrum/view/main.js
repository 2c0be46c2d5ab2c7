// Going through time: buttons, keys, the pointer, playing.
let at = 0, timer = null, waiting = false;

function go(to) {
  at = Math.max(0, Math.min(count - 1, to));
  if (waiting) return;
  waiting = true; // however fast somebody drags, once a frame is enough
  requestAnimationFrame(function () { waiting = false; show(); });
}

function show() {
  const name = nameOf(at) + (at === film.here ? ", first difference" : "");
  document.documentElement.style.setProperty("--at", String((at + 0.5) / count));
  document.documentElement.dataset.moment = String(at);
  id("time").value = String(at);
  id("time").setAttribute("aria-valuetext", name);
  id("where").textContent = at + 1 + " / " + count;
  showStage(at);
  for (const entry of rows) showValue(entry, at);
  showRules(at);
  showDraws(at);
  showLines(at);
  if (timer === null) id("told").textContent = name + ", " + id("alike").textContent;
  try { history.replaceState(null, "", "#" + at); } catch { /* some viewers forbid it, and nothing hangs on it */ }
}

function play(wanted) {
  if (timer !== null) { clearInterval(timer); timer = null; }
  if (wanted) {
    if (at === count - 1) go(0);
    timer = setInterval(function () { if (at < count - 1) go(at + 1); else play(false); }, 1000 / Number(id("speed").value));
  }
  id("play").classList.toggle("playing", wanted);
  id("play").setAttribute("aria-label", wanted ? "pause" : "play");
}

function only(wanted) {
  id("only").checked = wanted;
  id("charts").classList.toggle("only", wanted);
}

function episode(direction) {
  let to = at + direction;
  while (to > 0 && to < count - 1 && film.moments[to].t !== null) to += direction;
  go(to);
}

function faster(direction) {
  const speed = id("speed");
  speed.selectedIndex = Math.max(0, Math.min(speed.options.length - 1, speed.selectedIndex + direction));
  if (timer !== null) play(true);
}

function jump() { if (film.here !== null) { play(false); go(film.here); } }

const keys = {
  " ": function () { play(timer === null); },
  ArrowLeft: function (event) { play(false); go(at - (event.shiftKey ? 10 : 1)); },
  ArrowRight: function (event) { play(false); go(at + (event.shiftKey ? 10 : 1)); },
  Home: function () { play(false); go(0); },
  End: function () { play(false); go(count - 1); },
  d: jump,
  n: function () { episode(1); },
  p: function () { episode(-1); },
  o: function () { if (!id("only-label").hidden) only(!id("only").checked); },
  "+": function () { faster(1); },
  "-": function () { faster(-1); },
  "?": function () { id("keys").showModal(); },
};

document.addEventListener("keydown", function (event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key] || id("keys").open) return;
  if (event.target.matches("select, summary") && event.key !== "?") return;
  if (event.key === " " && event.target.matches("button:not(#play), input[type=checkbox]")) return;
  if (event.key === " " && event.target === id("play")) event.target.blur(); // or its own click would undo it
  event.preventDefault();
  keys[event.key](event);
});

function pointer(event) {
  const plot = event.target.closest(".plot");
  if (!plot || (event.type === "pointermove" && !event.buttons)) return;
  const box = plot.getBoundingClientRect();
  play(false);
  go(Math.floor((event.clientX - box.left) / box.width * count));
}

function marks() {
  if (film.here === null) return;
  const mark = make("span", "diamond");
  mark.style.left = 100 * (count > 1 ? film.here / (count - 1) : 0) + "%";
  id("marks").append(mark);
}

function begin() {
  const clicks = { first: function () { go(0); }, back: function () { go(at - 1); }, on: function () { go(at + 1); },
    last: function () { go(count - 1); } };
  for (const name in clicks) id(name).addEventListener("click", function () { play(false); clicks[name](); });
  id("play").addEventListener("click", function () { play(timer === null); });
  id("help").addEventListener("click", keys["?"]);
  if (id("jump")) id("jump").addEventListener("click", jump);
  id("time").max = String(count - 1);
  id("time").addEventListener("input", function () { play(false); go(Number(id("time").value)); });
  id("speed").addEventListener("change", function () { if (timer !== null) play(true); });
  id("only").addEventListener("change", function () { only(id("only").checked); });
  id("only-label").hidden = !film.series.some(everApart);
  id("charts").addEventListener("pointerdown", pointer);
  id("charts").addEventListener("pointermove", pointer);
  if (film.here !== null) {
    document.documentElement.style.setProperty("--here", String((film.here + 0.5) / count));
    document.documentElement.classList.add("parts");
  }
  const widest = film.drawings.find(function (one) { return one.width; });
  id("stage").classList.toggle("wide", Boolean(widest) && widest.width > 1.5 * widest.height);
  buildCharts();
  marks();
  const wanted = Number(location.hash.slice(1) || NaN);
  at = Number.isInteger(wanted) ? Math.max(0, Math.min(count - 1, wanted)) : film.here || 0;
  addEventListener("hashchange", function () {
    const place = Number(location.hash.slice(1));
    if (Number.isInteger(place)) go(place);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () { location.reload(); });
  show();
}

begin();
