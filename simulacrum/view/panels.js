// What belongs to one moment: both drawings, the event, rules, draws, lines.
const pictures = film.drawings.map(function (drawing) {
  if (!drawing.src) return null;
  const image = new Image();
  image.src = drawing.src;
  return image;
});

function draw(frame, place, alt) {
  const drawing = place === null ? null : film.drawings[place];
  if (drawing && drawing.src) {
    let image = frame.querySelector("img");
    if (!image) { image = make("img", ""); frame.replaceChildren(image); }
    image.src = pictures[place].src;
    image.alt = alt;
  } else if (drawing && drawing.text) {
    frame.replaceChildren(make("pre", "", drawing.text));
  } else {
    frame.replaceChildren(make("p", "none", drawing ? drawing.note : "nothing to draw"));
  }
}

function showStage(moment) {
  const one = film.moments[moment], frames = document.querySelectorAll(".twins .drawing");
  frames.forEach(function (frame, side) {
    draw(frame, one.drawings[side], "the state of " + film.sides[side] + ", " + nameOf(moment));
  });
  const drawn = one.sides === "both" && one.drawings[0] !== one.drawings[1];
  const fields = film.series.filter(function (series) { return isUnlike(series, moment); }).map(titleOf);
  const near = film.series.filter(function (series) { return isApart(series, moment); }).map(titleOf);
  id("stage").classList.toggle("apart", fields.length > 0 || (drawn && !near.length));
  id("stage").classList.toggle("first", moment === film.here);
  id("alike").textContent = one.sides !== "both" ? "only " + film.sides[one.sides === "reference" ? 0 : 1] + " has this moment"
    : fields.length ? "≠ " + (moment === film.here ? "first difference: " : "differs: ") + fields.join(", ")
    : near.length ? "≈ within the declared tolerance: " + near.join(", ")
    : "✓ all values equal";
  id("now").replaceChildren(...eventOf(moment));
}

// Episode and step, and what happened in it.
function eventOf(moment) {
  const one = film.moments[moment], chips = [make("span", "moment", nameOf(moment))];
  if (one.t === null) return chips;
  for (const name of ["action", "reward", "return"]) {
    const found = film.series.filter(function (series) { return series.name === name || series.group === name; });
    for (const series of found) {
      const texts = textsAt(series, moment, 0) || textsAt(series, moment, 1);
      if (texts) chips.push(make("span", "chip", make("small", "", titleOf(series)), " ", texts.slice(0, 4).map(short).join(", ")));
    }
  }
  for (const name of ["terminated", "truncated"]) {
    const series = film.series.find(function (found) { return found.name === name && !found.group; });
    const sides = [0, 1].filter(function (side) {
      const texts = textsAt(series, moment, side);
      return texts !== null && number(texts[0]) === 1;
    });
    if (sides.length === 2 || (sides.length && one.sides !== "both")) chips.push(make("span", "chip end", name));
    else if (sides.length) chips.push(make("span", "chip end", name + " in " + film.sides[sides[0]] + " alone"));
  }
  return chips;
}

// Text of a rule with its code in backticks.
function spoken(text) {
  return text.split("`").map(function (part, place) { return place % 2 ? make("code", "", part) : part; });
}

function showRules(moment) {
  const list = make("ol", "rules");
  for (const name of film.moments[moment].rules) {
    const rule = film.rules[name];
    list.append(make("li", "", make("b", "", name), " ", ...(rule ? spoken(rule[1]) : [])));
  }
  id("rules").replaceChildren(list.children.length ? list : make("p", "quiet", "None: the state was put in."));
}

const VERDICTS = { equal: "equal", differ: "differ", "only batched": "drawn and not used", "only reference": "by the reference",
  unused: "not drawn" };

function showDraws(moment) {
  const draws = film.moments[moment].draws.filter(function (one) { return one[1] !== "unused"; });
  if (!draws.length) { id("draws").replaceChildren(make("p", "quiet", "Nothing was drawn.")); return; }
  const body = make("tbody", "");
  for (const [slot, verdict, left, right] of draws) {
    const name = make("th", "", slot), words = make("td", "words");
    name.scope = "row";
    name.append(make("small", "", film.slots[slot] || ""));
    if (verdict === "differ") words.append(make("span", "left", left.join(" ")), " ", make("span", "right", right.join(" ")));
    else words.append((verdict === "only batched" ? right : left).join(" "));
    body.append(make("tr", verdict === "differ" ? "differs" : "", name, words, make("td", "", VERDICTS[verdict])));
  }
  id("draws").replaceChildren(make("table", "", body));
}

function showLines(moment) {
  const one = film.moments[moment], list = make("ol", "code");
  for (const [line, values] of one.ran) {
    const gave = make("div", "gave");
    for (const [name, value] of values) gave.append(make("span", "", name + " = ", make("b", "", value)), " ");
    list.append(make("li", "", make("span", "line", String(line)), make("code", "", film.lines[line]), values.length ? gave : ""));
  }
  const notes = [];
  if (one.left_out) notes.push(make("p", "quiet", one.left_out + " more lines ran"));
  if (one.raised) notes.push(make("p", "raised", "raised " + one.raised));
  id("ran").textContent = one.ran.length + one.left_out + " lines of reference.py ran";
  id("lines").replaceChildren(list, ...notes);
}
