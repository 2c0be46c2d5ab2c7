// Section 1: the reference in an editor, and one walker of it.

import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, keymap, lineNumbers } from "@codemirror/view";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { python as pythonLanguage } from "@codemirror/lang-python";
import { tags } from "@lezer/highlight";
import facts from "facts";
import { bits } from "./batch.js";
import { byId, element, row } from "./dom.js";
import { ENV } from "./python.js";

const CELLS = 11, LEFT_END = -5;

/** Whether the reference is the repository's, and what is to be done when that changes. */
export const edited = { text: null, changed: new Set() };

export function readable(python) {
  const editor = makeEditor(byId("editor"));
  const walk = walker(python);
  const use = async (text) => {
    const error = byId("editor-error"), state = byId("editor-state");
    const own = text !== facts.reference;
    error.hidden = true;
    try {
      await python.call("load", "edited", ENV, own ? text : null);
      edited.text = own ? text : null;
      state.textContent = own ? "running: your text" : "as in the repository";
      for (const listener of edited.changed) listener();
      await walk();
    } catch (problem) {
      error.textContent = problem.message;
      error.hidden = false;
    }
  };
  const text = () => editor.state.doc.toString();
  const put = (changed) => {
    const change = { from: 0, to: editor.state.doc.length, insert: changed };
    editor.dispatch({ changes: change });
  };
  byId("use").addEventListener("click", () => use(text()));
  byId("restore").addEventListener("click", () => { put(facts.reference); use(facts.reference); });
  for (const { title, old, with: changed } of facts.suggestions) {
    const button = element("button", { type: "button", click: () => {
      put(facts.reference.replace(old, changed));
      show(editor, changed);
      if (!byId("use").disabled) use(text());
    } }, title);
    byId("suggestions").append(button);
  }
  python.ready.then(() => {
    byId("use").disabled = byId("restore").disabled = false;
    walk();
  }, () => {});
}

function show(editor, changed) {
  const at = editor.state.doc.toString().indexOf(changed);
  editor.dispatch({ selection: { anchor: at, head: at + changed.length }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
}

/** Brings a place to the top of the editor. `EditorView.scrollIntoView` would bring the editor itself into view, too,
 * and the page would begin there and not at its head. */
function toTheTop(editor, place) {
  const { node } = editor.domAtPos(place), line = (node.nodeType === Node.TEXT_NODE ? node.parentElement : node).closest(".cm-line");
  const box = editor.scrollDOM;
  if (line) box.scrollTop += line.getBoundingClientRect().top - box.getBoundingClientRect().top - 8;
}

function makeEditor(parent) {
  const style = HighlightStyle.define([
    { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword], color: "var(--keyword)" },
    { tag: [tags.string, tags.docString], color: "var(--string)" },
    { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
    { tag: [tags.number, tags.bool, tags.null], color: "var(--reference)" },
    { tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className)], fontWeight: "600" },
  ]);
  const look = EditorView.theme({
    ".cm-gutters": { background: "var(--raised)", color: "var(--soft)", border: "none" },
    ".cm-content": { fontFamily: "var(--mono)", caretColor: "var(--ink)", lineHeight: "1.55" },
    ".cm-cursor": { borderLeftColor: "var(--ink)" },
    "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { background: "var(--wash) !important" },
  });
  const extensions = [
    lineNumbers(), history(), drawSelection(), indentUnit.of("    "), pythonLanguage(), syntaxHighlighting(style), look,
    keymap.of([...defaultKeymap, ...historyKeymap]), // Tab is left to the page, so that nobody is caught in here
    EditorView.contentAttributes.of({ "aria-label": "reference.py, to be edited", tabindex: "0" }),
  ];
  const state = EditorState.create({ doc: facts.reference, extensions });
  const editor = new EditorView({ state, parent });
  toTheTop(editor, facts.reference.indexOf("    def step("));
  return editor;
}

/** The walker's buttons. Gives a function that begins anew. */
function walker(python) {
  const line = byId("line"), told = byId("walk-told"), body = byId("walk").tBodies[0];
  const [left, right, again, seed] = ["left", "right", "again", "walk-seed"].map(byId);
  let over = false, started = null;
  for (let cell = 0; cell < CELLS; cell++) {
    line.append(element("div", { class: "cell", "data-at": String(cell + LEFT_END).replace("-", "−") }));
  }

  function show(out, what) {
    over = out.terminated || out.truncated;
    line.querySelector(".walker")?.remove();
    line.children[out.position - LEFT_END]?.append(element("div", { class: "walker" }));
    line.setAttribute("aria-label", `The walker stands on ${out.position}`);
    const hex = (value) => `${Math.fround(value)}  0x${bits(Float32Array.of(value))[0].toString(16).padStart(8, "0")}`;
    body.replaceChildren(
      row("state", `position = ${out.position}, t = ${out.t}`),
      row("observation", `${hex(out.observation[0])} · ${hex(out.observation[1])}`),
      row("reward", hex(out.reward)),
      row("ends", out.terminated ? "terminated (R7)" : out.truncated ? "truncated (R8)" : "no"),
    );
    const broken = out.broken.length ? ` Invariant ${out.broken.join(", ")} does not hold.` : "";
    told.textContent = `${what}${over ? " The episode is over." : ""}${broken}`;
    again.disabled = false;
    if (over && [left, right].includes(document.activeElement)) again.focus(); // a disabled button loses it
    left.disabled = right.disabled = over;
  }

  async function tried(work) {
    try {
      await work();
    } catch (error) {
      told.textContent = error.message;
      left.disabled = right.disabled = true;
      again.disabled = false;
    }
  }

  async function begin(next) {
    const number = Math.max(0, Math.floor(Number(seed.value) || 0)), same = next && started === number;
    started = number;
    await tried(async () => show(await python.call("reset", "edited", same ? null : number), "A new episode."));
  }

  async function step(action) {
    const before = Number(line.getAttribute("aria-label").match(/-?\d+$/)?.[0]);
    await tried(async () => {
      const out = await python.call("step", "edited", action);
      const wanted = action ? 1 : -1, moved = out.position - before;
      const what = moved === wanted ? "Moved." : moved === -wanted ? "Slipped (R3): the move went the other way." : "Stayed.";
      show(out, what);
    });
  }

  left.addEventListener("click", () => step(0));
  right.addEventListener("click", () => step(1));
  again.addEventListener("click", () => begin(true));
  return () => begin(false);
}
