// One row a field: its name, a chart over all moments, its values now. All charts share one axis of time.
const SVG = "http://www.w3.org/2000/svg";
// Cividis (Nunez, Anderton, Renslow 2018), which reads the same with and without red and green; nine of its colours.
const CIVIDIS = [[0, 34, 78], [26, 56, 111], [67, 78, 108], [97, 101, 111], [125, 124, 120], [155, 149, 119],
  [188, 175, 111], [222, 203, 91], [254, 232, 56]];
const INK = getComputedStyle(document.body).color.match(/\d+/g).slice(0, 3).map(Number);
const rows = [];

function shade(share) {
  const place = Math.max(0, Math.min(1, share)) * (CIVIDIS.length - 1), low = Math.floor(place);
  const high = Math.min(low + 1, CIVIDIS.length - 1);
  return CIVIDIS[low].map(function (one, i) { return Math.round(one + (CIVIDIS[high][i] - one) * (place - low)); });
}

// The path of a scalar over time: steps for whole numbers, a line for the others. Height 100, width one a moment.
function pathOf(series, side, low, high) {
  const parts = [];
  let open = false;
  for (let moment = 0; moment < count; moment += 1) {
    const texts = textsAt(series, moment, side), value = texts === null ? NaN : number(texts[0]);
    if (!Number.isFinite(value)) { open = false; continue; }
    const y = high > low ? 92 - 84 * (value - low) / (high - low) : 50;
    const fresh = film.moments[moment].t === null || !open;
    if (series.kind === "line") parts.push((fresh ? "M" : "L") + (moment + 0.5) + " " + y.toFixed(2));
    else parts.push(fresh ? "M" + moment + " " + y.toFixed(2) : "V" + y.toFixed(2), "H" + (moment + 1));
    if (fresh && series.kind === "line") parts.push("h.01"); // a moment that stands alone is a dot
    open = true;
  }
  return parts.join("");
}

function lineChart(series) {
  const [low, high] = range(series), svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 " + count + " 100");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const sides = everApart(series) ? [[0, "left"], [1, "right"]] : [[0, "both"]];
  for (const [side, name] of sides) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", pathOf(series, side, low, high));
    path.setAttribute("class", name);
    svg.append(path);
  }
  const scale = make("div", "scale", make("span", "", short(String(high), 3)), make("span", "", short(String(low), 3)));
  return low === high ? [svg] : [svg, scale];
}

// Red, green, blue, opacity: truths in the colour of the text, numbers in that of the scale, NaN in none of them.
function colourOf(series, value, low, high) {
  if (series.dtype === "bool") return [...INK, value ? 200 : 24];
  if (Number.isNaN(value)) return [200, 0, 160, 255];
  return [...shade(high > low ? (value - low) / (high - low) : 0.5), 255];
}

// Items downwards, moments to the right, a pixel each, drawn large without smoothing.
function strip(series, side, low, high) {
  const items = series.known[0].length, canvas = make("canvas", "");
  canvas.width = count;
  canvas.height = items;
  const context = canvas.getContext("2d"), image = context.createImageData(count, items);
  for (let moment = 0; moment < count; moment += 1) {
    const texts = textsAt(series, moment, side) || textsAt(series, moment, 1 - side);
    if (texts === null || textsAt(series, moment, side) === null) continue;
    for (let item = 0; item < items; item += 1) {
      image.data.set(colourOf(series, number(texts[item]), low, high), 4 * (item * count + moment));
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

function gridChart(series) {
  const [low, high] = range(series), items = series.known[0].length;
  const tall = Math.max(18, Math.min(items * (series.kind === "flag" ? 14 : 9), 150));
  return (everApart(series) ? [0, 1] : [0]).map(function (side) {
    const canvas = strip(series, side, low, high);
    canvas.style.height = tall + "px";
    canvas.className = everApart(series) ? ["left", "right"][side] : "both";
    return canvas;
  });
}

// Which rules ran in which moment: a row a rule.
function ruleChart() {
  const names = Object.keys(film.rules).filter(function (name) {
    return film.moments.some(function (one) { return one.rules.includes(name); });
  });
  if (!names.length) return;
  const canvas = make("canvas", "ran");
  canvas.width = count;
  canvas.height = names.length * 2;
  const image = canvas.getContext("2d").createImageData(count, names.length * 2);
  for (let moment = 0; moment < count; moment += 1) {
    names.forEach(function (name, place) {
      const ran = film.moments[moment].rules.includes(name);
      image.data.set([...INK, ran ? 190 : 18], 8 * place * count + 4 * moment);
    });
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  canvas.style.height = names.length * 14 + "px";
  const labels = make("div", "rule-names", ...names.map(function (name) { return make("span", "", name); }));
  addRow("rules", [canvas, labels], make("div", "label", make("span", "name", "rules that ran")), null);
}

function addRow(title, charts, label, series) {
  const plot = make("div", "plot", ...charts, make("div", "here-line"), make("div", "cursor"));
  if (series && everApart(series)) plot.append(ticksOf(series));
  for (let moment = 1; moment < count; moment += 1) {
    if (film.moments[moment].t === null) {
      const line = make("div", "begins");
      line.style.left = 100 * moment / count + "%";
      plot.append(line);
    }
  }
  const value = make("div", "value"), row = make("div", "row", label, plot, value);
  row.dataset.field = title;
  if (series) {
    row.classList.toggle("differs", everUnlike(series));
    row.classList.toggle("near", everApart(series) && !everUnlike(series));
  }
  id("charts").append(row);
  rows.push({ row: row, value: value, series: series });
}

// Below a chart, where the field differs.
function ticksOf(series) {
  const canvas = make("canvas", "ticks"), context = canvas.getContext("2d");
  canvas.width = count;
  canvas.height = 1;
  const style = getComputedStyle(document.documentElement);
  for (const moment in series.apart) {
    context.fillStyle = style.getPropertyValue(isUnlike(series, moment) ? "--apart" : "--near");
    context.fillRect(Number(moment), 0, 1, 1);
  }
  return canvas;
}

function addSeries(series) {
  const kind = series.dtype + (series.shape.length ? "[" + series.shape.join(", ") + "]" : "");
  const allowed = series.tolerance ? make("small", "allowed", "≈ " + series.tolerance) : "";
  if (allowed) allowed.title = series.reason;
  const label = make("div", "label", make("span", "name", titleOf(series)), make("small", "", kind), allowed);
  const charts = series.kind === "grid" || series.kind === "flag" ? gridChart(series) : lineChart(series);
  addRow(titleOf(series), charts, label, series);
}

function addStill(still) {
  if (!still.length) return;
  const list = make("dl", "");
  for (const series of still) {
    const texts = series.known[0];
    list.append(make("dt", "", titleOf(series)));
    list.append(make("dd", "", texts.length > 8 ? texts.slice(0, 8).join(", ") + ", …" : texts.join(", ")));
  }
  const summary = make("summary", "", still.length + (still.length === 1 ? " field" : " fields") + " that never change");
  id("charts").append(make("details", "still", summary, list));
}

function addAxis() {
  const axis = make("div", "plot axis"), step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find(function (one) {
    return count / one <= 12;
  }) || 2000;
  const starts = film.moments.map(function (one) { return one.t === null; });
  for (let moment = 0; moment < count; moment += 1) {
    const one = film.moments[moment];
    const room = Math.ceil(count * 0.08);
    const near = starts.slice(Math.max(moment - room, 0), moment + Math.ceil(room / 2)).includes(true);
    if (!starts[moment] && ((one.t + 1) % step !== 0 || near)) continue;
    const tick = make("span", starts[moment] ? "begin" : "", starts[moment] ? "ep " + one.episode : String(one.t + 1));
    tick.style.left = 100 * (moment + 0.5) / count + "%";
    axis.append(tick);
  }
  axis.append(make("div", "here-line"), make("div", "cursor"));
  const named = make("div", "label", make("small", "", "steps taken"));
  id("charts").append(make("div", "row head", named, axis, make("div", "value", make("small", "", "now"))));
}

// The values now; where they differ, both.
function showValue(entry, moment) {
  const series = entry.series;
  if (!series) return;
  const apart = series.apart[moment];
  entry.row.classList.toggle("apart-now", isUnlike(series, moment));
  if (apart) {
    const first = apart.slice().sort(function (one, two) { return one.tolerated - two.tolerated; });
    const told = first.slice(0, 3).map(function (one) {
      const place = series.shape.length ? make("small", "", "[" + one.item + "] ") : "";
      const left = make("span", "left", one.reference), right = make("span", "right", one.batched);
      left.title = one.bits[0];
      right.title = one.bits[1];
      const far = one.ulp === null || one.ulp > 99999 ? "" : make("small", "ulp", one.ulp.toLocaleString("en") + " ulp");
      const sign = one.tolerated ? make("span", "almost", "≈") : make("span", "unequal", "≠");
      return make("span", "unlike", place, left, sign, right, far, one.tolerated ? make("small", "", "tolerated") : "");
    });
    const more = apart.length > 3 ? make("small", "", apart.length - 3 + " more differ") : "";
    entry.value.replaceChildren(...told, more);
    return;
  }
  const texts = textsAt(series, moment, 0) || textsAt(series, moment, 1);
  if (texts === null) { entry.value.replaceChildren(make("span", "none", "–")); return; }
  const told = texts.length === 1 ? texts[0] : texts.slice(0, 6).map(short).join(", ") + (texts.length > 6 ? ", …" : "");
  const value = make("span", "same", told);
  if (texts.length > 1) value.title = texts.slice(0, 64).join(", ");
  entry.value.replaceChildren(value);
}

function buildCharts() {
  addAxis();
  const still = [];
  for (const series of film.series) {
    if (everChanges(series) && series.known.length) addSeries(series);
    else if (series.known.length) still.push(series);
  }
  ruleChart();
  addStill(still);
}
