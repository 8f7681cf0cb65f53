// What tells two results apart.

/** SHA-256 of a text, as hexadecimal digits; null where the browser has none, which is so on pages that are not secure. */
export async function digest(text) {
  if (globalThis.crypto?.subtle === undefined) return null;
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
