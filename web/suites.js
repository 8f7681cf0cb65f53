// The suites that come with the package: environments as data, with the stored scores of their panels.

/** Whether this is Node, where files are read rather than fetched. */
export const inNode = typeof process === "object" && process.versions?.node !== undefined;

/** The bytes of a file of the package; null: not there. */
export async function bytesOf(name) {
  const address = new URL(name, import.meta.url);
  if (inNode) {
    const { readFile } = await import("node:fs/promises");
    return readFile(address).catch(() => null);
  }
  const response = await fetch(address);
  return response.ok ? new Uint8Array(await response.arrayBuffer()) : null;
}

async function read(name) {
  const bytes = await bytesOf(`module/suites/${name}.json`);
  return bytes === null ? null : JSON.parse(new TextDecoder().decode(bytes));
}

/** The suites there are: name, version, title, replicates (`quick`: of a first impression), panel. */
export const suites = () => read("index");

/** All of one suite. */
export async function suiteOf(name) {
  const known = (await suites()).map((suite) => suite.name);
  if (!known.includes(name)) throw new Error(`no suite is called ${JSON.stringify(name)}; there are: ${known.join(", ")}`);
  return read(name);
}
