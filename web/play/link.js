// A configuration as the fragment of a link: version, packing, a dot, and base64url of JSON. It is data only. The
// page never executes or fetches it, and shows it only as text.

/** Maximal characters of a fragment, and of its unpacked content. */
const MAX_FRAGMENT = 100_000;
const MAX_TEXT = 400_000;
const KINDS = ["rate", "delay", "loss", "limit", "queue", "algorithm", "begin", "end"];

export class LinkError extends Error {}

const encode = (bytes) => {
  let text = "";
  for (let index = 0; index < bytes.length; index += 8192)
    text += String.fromCharCode(...bytes.subarray(index, index + 8192));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};

const decode = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));

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

/** The fragment for a configuration, without `#`. Throws a LinkError if `unpack` would refuse it. */
export async function pack({ other, ...setup }) {
  const bytes = new TextEncoder().encode(JSON.stringify(other === null ? setup : { ...setup, other }));
  const packed =
    globalThis.CompressionStream === undefined
      ? null
      : await through(bytes, new CompressionStream("deflate-raw"), MAX_TEXT);
  const fragment = packed === null ? `1j.${encode(bytes)}` : `1z.${encode(packed)}`;
  if (bytes.length > MAX_TEXT || fragment.length > MAX_FRAGMENT) throw new LinkError("it is too long");
  return fragment;
}

/** The configuration of a fragment, or null. Throws a LinkError that names the defect. */
export async function unpack(fragment) {
  if (fragment === "") return null;
  if (fragment.length > MAX_FRAGMENT)
    throw new LinkError(`it has ${fragment.length} characters, more than ${MAX_FRAGMENT}`);
  const match = /^1([zj])\.([A-Za-z0-9_-]+)$/.exec(fragment);
  if (match === null) throw new LinkError("its format is unknown");
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

const isTexts = (value) =>
  Array.isArray(value) && value.length <= 200 && value.every((item) => typeof item === "string");
/** A table as the engine reads it: of a rule, formulas and numbers by name. */
const isTable = (value) =>
  typeof value === "object" &&
  typeof value?.kind === "string" &&
  JSON.stringify(value).length <= 10_000 &&
  Object.values(value).every((part) => typeof part === "string" || Number.isFinite(part));
const isName = (value) => typeof value === "string" && value.length <= 100;
/** Algorithms are names or rules, queues are names or tables, and all other values are numbers. */
function isValue({ kind, value }) {
  if (kind === "queue") return isName(value) || isTable(value);
  if (kind === "algorithm") return isName(value) || (isTable(value) && value.kind === "rule");
  return value === undefined || value === null || Number.isFinite(value);
}
const isChange = (change) =>
  typeof change === "object" &&
  change !== null &&
  Number.isFinite(change.at) &&
  change.at >= 0 &&
  KINDS.includes(change.kind) &&
  Number.isInteger(change.index) &&
  change.index >= 0 &&
  isValue(change);

function checked(setup) {
  const { text, sets = [], changes = [] } = setup ?? {};
  if (
    typeof text !== "string" ||
    !isTexts(sets) ||
    !Array.isArray(changes) ||
    changes.length > 1000 ||
    !changes.every(isChange)
  )
    throw new LinkError("it contains no configuration");
  const plain = changes.map(({ at, kind, index, value }) => ({ at, kind, index, value: value ?? 0 }));
  return { text, sets, changes: plain.sort((a, b) => a.at - b.at) };
}
