"use strict";
(function () {
  for (const button of document.querySelectorAll("[data-copy]")) {
    if (!navigator.clipboard) continue;
    button.hidden = false;
    button.addEventListener("click", function () {
      navigator.clipboard.writeText(button.dataset.copy).then(function () { button.textContent = "copied"; });
    });
  }
  const time = document.getElementById("time");
  if (!time) return;
  const heads = Array.from(time.querySelectorAll("th[data-at]"));
  const told = document.getElementById("at");
  const only = document.getElementById("only");
  const corner = time.querySelector(".corner");
  let at = heads.findIndex(function (head) { return "here" in head.dataset; });
  if (at < 0) at = heads.length - 1;

  function go(to, quick) {
    heads[at].classList.remove("at");
    at = Math.max(0, Math.min(heads.length - 1, to));
    const head = heads[at];
    head.classList.add("at");
    told.textContent = head.textContent + ("here" in head.dataset ? " (differs)" : "");
    const room = time.clientWidth - corner.offsetWidth;
    const left = head.offsetLeft - corner.offsetWidth - Math.max(0, (room - head.offsetWidth) / 2);
    const still = quick || matchMedia("(prefers-reduced-motion: reduce)").matches;
    time.scrollTo({ left: left, behavior: still ? "auto" : "smooth" });
  }

  function show(differing) {
    only.checked = differing;
    time.classList.toggle("only", differing);
  }

  const keys = {
    ArrowLeft: function () { go(at - 1); }, ArrowRight: function () { go(at + 1); },
    Home: function () { go(0); }, End: function () { go(heads.length - 1); },
    d: function () { show(!only.checked); },
  };
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    if (event.target.matches("input[type=text], textarea, select")) return;
    if (["Home", "End"].includes(event.key) && event.target !== time) return;
    event.preventDefault();
    keys[event.key]();
  });
  for (const [name, step] of [["back", -1], ["on", 1]]) {
    const button = document.getElementById(name);
    button.hidden = false;
    button.addEventListener("click", function () { go(at + step); });
  }
  only.closest("label").hidden = false;
  only.addEventListener("change", function () { show(only.checked); });
  for (const [number, head] of heads.entries()) head.addEventListener("click", function () { go(number); });
  document.querySelector(".keys").hidden = false;
  // A link to a rule or a line opens what it stands in.
  addEventListener("hashchange", function () {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const closed = target && target.closest("details");
    if (closed) { closed.open = true; target.scrollIntoView(); }
  });
  go(at, true);
})();
