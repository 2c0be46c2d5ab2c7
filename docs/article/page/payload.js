// What the page needs later, as scripts that hand over text: a script can be loaded from a folder without a server, and
// a policy that forbids every connection (see index.html) still lets it through. The text is base64 of gzip.

const waiting = new Map();

globalThis.articlePayload = (name, text) => waiting.get(name)?.resolve(text);

/** The bytes of payload/NAME.js. */
export function payload(name) {
  if (!waiting.has(name)) {
    const one = {};
    one.text = new Promise((resolve, reject) => Object.assign(one, { resolve, reject }));
    waiting.set(name, one);
    const script = document.createElement("script");
    script.src = `payload/${name}.js`;
    script.onerror = () => one.reject(new Error(`payload/${name}.js cannot be read: is the folder whole?`));
    document.head.append(script);
    one.bytes = one.text.then(unpacked);
  }
  return waiting.get(name).bytes;
}

async function unpacked(text) {
  const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
