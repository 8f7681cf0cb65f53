// The files of this package. Node reads them, and browsers fetch them. A page that loads nothing carries them as
// elements whose ids are their names.

/** Whether this is Node, where files are read rather than fetched. */
export const inNode = typeof process === "object" && process.versions?.node !== undefined;

/** The text that the page carries under a name, or null. */
export const carried = (name) => globalThis.document?.getElementById(name)?.textContent.trim() ?? null;

/** Unpacks gzip. */
export async function unpacked(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Bytes as a page carries them, in base64. */
export const decoded = (text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));

/** The bytes of a file, or null if it is missing. */
export async function bytesOf(name) {
  const text = carried(name);
  if (text !== null) return unpacked(decoded(text));
  const address = new URL(name, import.meta.url);
  if (inNode) {
    const { readFile } = await import("node:fs/promises");
    return readFile(address).catch(() => null);
  }
  const response = await fetch(address);
  return response.ok ? new Uint8Array(await response.arrayBuffer()) : null;
}

export const textOf = async (name) => new TextDecoder().decode(await bytesOf(name));

const modules = new Map();

/** A module of WebAssembly, compiled once: workers are given it. */
export function compiled(name) {
  if (!modules.has(name))
    modules.set(
      name,
      bytesOf(name).then((bytes) => WebAssembly.compile(bytes)),
    );
  return modules.get(name);
}

/** A worker of a script that is given as text. */
export function workerOfText(text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  const worker = new Worker(address);
  URL.revokeObjectURL(address);
  return worker;
}

/** A worker of a browser, of a script of this package. */
export function workerOf(name) {
  const text = carried(name);
  return text === null ? new Worker(new URL(name, import.meta.url), { type: "module" }) : workerOfText(text);
}

/** The feature that this browser lacks, as a sentence, or null. */
export function lacking() {
  const missing = ["WebAssembly", "Worker", "DecompressionStream"].find(
    (name) => typeof globalThis[name] === "undefined",
  );
  return missing === undefined
    ? null
    : `This browser has no ${missing}, or it is switched off: the simulator needs it, which all browsers since ` +
        "2023 have.";
}
