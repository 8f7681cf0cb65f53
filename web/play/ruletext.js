// A rule as it is typed, on lines of its own, and the one line that the engine reads.

const statements = (text) => text.split("\n").map((part) => part.replace(/#.*/, "").trim().replace(/;$/, "").trim());

/** The statements on one line. */
export const oneLine = (text) =>
  statements(text)
    .filter((part) => part !== "")
    .join("; ");

/** The line, from 1, of a character of `oneLine`, from 1. */
function lineOf(text, character) {
  let end = 0;
  let last = null;
  for (const [index, part] of statements(text).entries()) {
    if (part === "") continue;
    last = index + 1;
    end += part.length + 2;
    if (character <= end) break;
  }
  return last;
}

/** The line of a mistake: of the whole rule, or of the formula that `key` names. Null if it has no place. */
export function lineOfMistake(text, message, key) {
  const found = /^character (\d+) of `(.*)`:/s.exec(message);
  if (key === undefined) return found === null ? null : lineOf(text, Number(found[1]));
  const name = key.split(".").at(-1);
  const own = [...statements(text).entries()].filter(([, part]) => part.split(/[\s=]/)[0] === name);
  const [index] = own.find(([, part]) => part.includes(found?.[2])) ?? own[0] ?? [-1];
  return index < 0 ? null : index + 1;
}

/** A first rule: AIMD that reacts to the queueing delay. */
export const firstRule = `# what an acknowledged segment adds, in segments
grow = gain / w
# what remains of the window after a congestion event
cut = if(queue_delay > 10 ms, 0.5, 0.8) * w
gain = 1
`;
