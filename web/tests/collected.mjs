// The compared parts of a result: its texts, the columns of its samples, and their concatenated bytes.

export function collected(result) {
  const parts = [];
  const tables = ["flows", "links", "packets"].map((table) =>
    Object.entries(result.samples(table)).map(([name, { values, kind, names }]) => {
      // A copy: the memory of the module moves.
      parts.push(new Uint8Array(values.buffer, values.byteOffset, values.byteLength).slice());
      return { name, kind, names, length: values.length };
    }),
  );
  // As texts: JavaScript writes 2.0 as 2.
  const [document, histograms] = [result.inner.toJson(), result.inner.histogramsJson()];
  return { json: JSON.stringify({ document, histograms, tables }), parts };
}
