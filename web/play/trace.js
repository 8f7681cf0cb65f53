// A capacity trace from a file that the user drops or chooses. In mahimahi's format, each line is the millisecond of
// an opportunity to deliver a packet.

import { base } from "./bottleneck.js";
import { byId, onFile, show } from "./elements.js";
import { lab, set } from "./lab.js";

/** Bytes of a packet of mahimahi. */
const PACKET = 1504;
const MOST_BYTES = 8e6;

export class TraceError extends Error {}

/** The times of a trace, ms, and the rate of the millisecond that has most of them, Mbit/s. */
export function readTrace(text) {
  const times = [];
  let [most, equal] = [0, 0];
  for (const [index, line] of text.split("\n").entries()) {
    const word = line.trim();
    if (word === "") continue;
    if (!/^\d{1,9}$/.test(word))
      throw new TraceError(`line ${index + 1}: expected a time in whole milliseconds, found \`${word.slice(0, 40)}\``);
    const time = Number(word);
    if (time < times.at(-1)) throw new TraceError(`line ${index + 1}: ${time} ms is earlier than the line before`);
    equal = time === times.at(-1) ? equal + 1 : 1;
    most = Math.max(most, equal);
    times.push(time);
  }
  if (times.length === 0) throw new TraceError("it is empty");
  return { times, rate: (most * PACKET * 8) / 1000 };
}

async function useTrace(file) {
  if (lab.run === null) return;
  try {
    if (file.size > MOST_BYTES) throw new TraceError(`it has ${file.size} bytes, more than ${MOST_BYTES}`);
    const { times, rate } = readTrace(await file.text());
    set({
      [`${base()}.rate`]: `${rate} Mbit/s`,
      [`${base()}.varies`]: `{ kind = "trace", milliseconds = [${times.join(", ")}] }`,
    });
  } catch (error) {
    if (!(error instanceof TraceError)) throw error;
    show(`${file.name} cannot be read as a mahimahi trace: ${error.message}.`);
  }
}

export const wireTrace = () => onFile(byId("trace"), useTrace);
