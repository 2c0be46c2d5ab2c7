// Pyodide asks for a module worker, because it imports its other half. Here both halves are one script, and a script is
// what a page that was opened from a folder may start a worker from: so this one passes for a module.

globalThis.importScripts = () => {
  throw new TypeError("the worker is one script and imports no other");
};
