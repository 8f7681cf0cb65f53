// A set-up as the fragment of a link: version and packing, a dot, base64url of JSON. It is data: nothing in it is executed,
// fetched or shown as anything but text.

/** Characters of a fragment, and of what is packed in it. */
const MAX_FRAGMENT = 100_000;
const MAX_TEXT = 400_000;
const KINDS = ["rate", "delay", "loss", "limit", "queue", "algorithm", "begin", "end"];

export class LinkError extends Error {}

const encode = (bytes) => {
  let text = "";
  for (let index = 0; index < bytes.length; index += 8192) text += String.fromCharCode(...bytes.subarray(index, index + 8192));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};

const decode = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));

/** Bytes through a stream that packs or unpacks them, at most `max` of them. */
async function through(bytes, stream, max) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > max) {
      reader.cancel().catch(() => {});
      throw new LinkError("it is too long");
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** The fragment for a set-up, without `#`. Throws a LinkError for one that `unpack` would refuse. */
export async function pack({ other, ...setup }) {
  const bytes = new TextEncoder().encode(JSON.stringify(other === null ? setup : { ...setup, other }));
  const packed = globalThis.CompressionStream === undefined ? null : await through(bytes, new CompressionStream("deflate-raw"), MAX_TEXT);
  const fragment = packed === null ? `1j.${encode(bytes)}` : `1z.${encode(packed)}`;
  if (bytes.length > MAX_TEXT || fragment.length > MAX_FRAGMENT) throw new LinkError("it is too long");
  return fragment;
}

/** The set-up of a fragment; null if there is none. Throws a LinkError that says what is wrong. */
export async function unpack(fragment) {
  if (fragment === "") return null;
  if (fragment.length > MAX_FRAGMENT) throw new LinkError(`it has ${fragment.length} characters, more than ${MAX_FRAGMENT}`);
  const match = /^1([zj])\.([A-Za-z0-9_-]+)$/.exec(fragment);
  if (match === null) throw new LinkError("it is not one that this page makes");
  let setup;
  try {
    const bytes = decode(match[2]);
    const plain = match[1] === "z" ? await through(bytes, new DecompressionStream("deflate-raw"), MAX_TEXT) : bytes;
    setup = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(plain));
  } catch (error) {
    throw error instanceof LinkError ? error : new LinkError("it is damaged");
  }
  const { other = null } = setup ?? {};
  return { ...checked(setup), other: other === null ? null : checked(other) };
}

const isTexts = (value) => Array.isArray(value) && value.length <= 200 && value.every((item) => typeof item === "string");
/** A table as the engine reads it: of a rule, formulas and numbers by name. */
const isTable = (value) => typeof value === "object" && typeof value?.kind === "string" && JSON.stringify(value).length <= 10_000 && Object.values(value).every((part) => typeof part === "string" || Number.isFinite(part));
const isName = (value) => typeof value === "string" && value.length <= 100;
/** A name or a rule for an algorithm, a name or a table for a queue, and numbers for all else. */
function isValue({ kind, value }) {
  if (kind === "queue") return isName(value) || isTable(value);
  if (kind === "algorithm") return isName(value) || (isTable(value) && value.kind === "rule");
  return value === undefined || value === null || Number.isFinite(value);
}
const isChange = (change) =>
  typeof change === "object" && change !== null && Number.isFinite(change.at) && change.at >= 0 && KINDS.includes(change.kind) &&
  Number.isInteger(change.index) && change.index >= 0 && isValue(change);

function checked(setup) {
  const { text, sets = [], changes = [] } = setup ?? {};
  if (typeof text !== "string" || !isTexts(sets) || !Array.isArray(changes) || changes.length > 1000 || !changes.every(isChange)) throw new LinkError("what it holds is no set-up");
  const plain = changes.map(({ at, kind, index, value }) => ({ at, kind, index, value: value ?? 0 }));
  return { text, sets, changes: plain.sort((a, b) => a.at - b.at) };
}
