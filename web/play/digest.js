// The hash that identifies a result.

/** SHA-256 of a text as hexadecimal digits. It is null on insecure pages, where browsers offer no hash function. */
export async function digest(text) {
  if (globalThis.crypto?.subtle === undefined) return null;
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
