// Texts in markup.

const MEANS = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;" };

/** A text escaped for markup, between elements or in an attribute. */
export const escaped = (text) => text.replace(/[&<>"']/g, (char) => MEANS[char]);
