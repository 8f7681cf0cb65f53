// The notebook widget that reruns a run below its cell.

import { Engine } from "./engine.js";
import { Rerun } from "./panel.js";

/** Called by anywidget for each view of the widget. */
export function render({ model, el }) {
  const body = document.createElement("div");
  body.className = "rerun alone";
  el.append(body);
  const packed = model.get("module");
  const engine = new Engine(model.get("script"), new Uint8Array(packed.buffer, packed.byteOffset, packed.byteLength));
  new Rerun(body, engine).show(model.get("cell"));
  return () => engine.stop();
}
