// The film, and questions to it.
const film = window.film || JSON.parse(document.getElementById("data").textContent);
const count = film.moments.length;

function id(name) { return document.getElementById(name); }

// An element with a class and children; a string child is text, never HTML.
function make(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children.filter(function (one) { return one !== null && one !== undefined && one !== ""; }));
  return made;
}

function titleOf(series) { return series.group ? series.group + "." + series.name : series.name; }

// The items of a field at a moment as texts: of the reference (side 0) or of the batched twin (side 1).
function textsAt(series, moment, side) {
  const place = series.at[moment], only = film.moments[moment].sides;
  if (place === null || (only === "reference" && side === 1) || (only === "batched" && side === 0)) return null;
  const apart = side === 1 && series.apart[moment];
  if (!apart) return series.known[place];
  const texts = series.known[place].slice();
  for (const one of apart) texts[one.item] = one.batched;
  return texts;
}

function number(text) {
  if (text === "true" || text === "True") return 1;
  if (text === "false" || text === "False") return 0;
  return /^[-+]?inf/.test(text) ? (text[0] === "-" ? -Infinity : Infinity) : Number(text);
}

// Apart: other bits. Unlike: apart by more than the field's declared tolerance.
function isApart(series, moment) { return moment in series.apart; }
function everApart(series) { return Object.keys(series.apart).length > 0; }
function isUnlike(series, moment) {
  return isApart(series, moment) && series.apart[moment].some(function (one) { return !one.tolerated; });
}
function everUnlike(series) {
  return Object.keys(series.apart).some(function (moment) { return isUnlike(series, moment); });
}
function everChanges(series) { return series.known.length > 1 || everApart(series) || series.at.includes(null); }

// The least and the greatest finite value over time, of both sides.
function range(series) {
  if (series.dtype === "bool") return [0, 1];
  let low = Infinity, high = -Infinity;
  function take(text) {
    const value = number(text);
    if (Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
  }
  for (const texts of series.known) texts.forEach(take);
  for (const moment in series.apart) for (const one of series.apart[moment]) take(one.batched);
  return low <= high ? [low, high] : [0, 1];
}

function nameOf(moment) {
  const one = film.moments[moment];
  return "episode " + one.episode + (one.t === null ? ", start" : ", step t=" + one.t);
}

function short(text, digits) {
  const value = Number(text);
  if (text.length <= (digits || 5) + 2 || !Number.isFinite(value)) return text;
  return String(Number(value.toPrecision(digits || 5)));
}
