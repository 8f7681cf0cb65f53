// Takes a picture of the live page while it plays: node photograph.mjs CHROMIUM ADDRESS WIDTH HEIGHT SECONDS PNG.
import { sleep, withPage } from "../../web/tests/chromium.mjs";

const [chromium, address, width, height, seconds, picture] = process.argv.slice(2);
await withPage(chromium, async (page) => {
  await page.size(Number(width), Number(height));
  await page.visit(address);
  await page.state("playing");
  await sleep(1000 * Number(seconds));
  await page.photograph(picture);
});
