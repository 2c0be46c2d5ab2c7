// Small helpers for elements, colours and drawings.

export const byId = (id) => document.getElementById(id);

/** An element with attributes (functions are listeners) and children. */
export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value !== false && value !== null) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** A colour of the style sheet, as the theme has it now. */
export function colour(name) {
  const probe = element("span", { style: `color: var(--${name})` });
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

const listeners = new Set();
/** Call when the colours change: canvases have to be drawn again. */
export const onTheme = (listener) => listeners.add(listener);

/** A button that goes from light to dark and back; without it the system decides. */
export function theme(button) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const show = () => {
    button.textContent = dark() ? "Light" : "Dark";
    for (const listener of listeners) listener();
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    show();
  });
  system.addEventListener("change", show);
  show();
}

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Let the browser draw before going on. */
export const pause = () => new Promise((done) => setTimeout(done));

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
export const count = (number) => whole.format(number);

/** 1.2 million, 340 thousand, 85. */
export function rounded(number) {
  if (number >= 1e6) return `${(number / 1e6).toFixed(number >= 1e7 ? 0 : 1)} million`;
  if (number >= 1e4) return `${(number / 1e3).toFixed(0)} thousand`;
  return count(number);
}

export const seconds = (one) => (one < 0.1 ? `${(one * 1000).toFixed(1)} ms` : `${one.toFixed(1)} s`);

/** Work that a button began: it does nothing meanwhile (and keeps the focus), and an error stands in `place`. */
export async function during(button, place, work) {
  if (button.disabled || button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  try {
    await work();
  } catch (error) {
    place.replaceChildren(element("p", { class: "error", role: "alert" }, error.message));
  } finally {
    button.removeAttribute("aria-disabled");
  }
}

/** A place for a drawing, made by `draw(width)` as wide as the place is, so that letters keep their size. */
export function fitted(draw) {
  const place = element("div");
  let width = null;
  place.redraw = () => width && place.replaceChildren(draw(Math.max(280, Math.min(720, width))));
  whenWidthChanges(place, (now) => {
    width = now;
    place.redraw();
  });
  return place;
}

/** Call `draw(width)` now and whenever the element's width changes. */
export function whenWidthChanges(observed, draw) {
  let last = 0;
  const look = ([{ contentRect }]) => {
    const width = Math.round(contentRect.width);
    if (width === last || width === 0) return;
    last = width;
    requestAnimationFrame(() => draw(width)); // not inside the observer, whose own change it would be told of
  };
  new ResizeObserver(look).observe(observed);
}

/** The row of a table. */
export const row = (head, ...cells) =>
  element("tr", {}, element("th", { scope: "row" }, head), ...cells.map((cell) => element("td", {}, cell)));
