// Names that a page supplies to its scripts.

/** The data of an evaluation's report. */
declare const reportData: any;
/** The module that renders the parts of an evaluation, which the page embeds. */
declare const entry: any;
/** The library of charts over time. */
declare const uPlot: any;

/** A figure whose files a script computes. */
interface HTMLElement {
  makeCsv?: () => string;
  makeSvg?: () => string;
}

/** Modules that `make web` builds. */
declare module "*/module/ackclock.js";
declare module "*/module/score.js";
