/** A suite that comes with the package; `quick`: replicates of a first impression. */
export interface SuiteInfo {
  name: string;
  version: number;
  title: string;
  replicates: number;
  quick: number;
  panel: { label: string; cc: object; text: string }[];
}

/** The suites there are. */
export function suites(): Promise<SuiteInfo[]>;

/** How far an evaluation is; `left_s` is null until every environment was run once with every algorithm. */
export interface Progress {
  done: number;
  total: number;
  left_s: number | null;
}

export interface EvaluateOptions {
  /** The name of one, `core` by default; or one as data, as `tools/web/suites_on_web.py` writes them. */
  suite?: string | object;
  /** A name, `aimd(increase=2)`, or a table as in a scenario. */
  cc?: string | object;
  /** The text of a rule, on one line, in place of `cc`. */
  rule?: string;
  /** As many as the suite has by default. */
  replicates?: number;
  /** A first impression: fewer replicates. */
  quick?: boolean;
  seed?: bigint | number;
  /** All cores by default. */
  workers?: number;
  onProgress?: (progress: Progress) => void;
  signal?: AbortSignal;
}

/** A figure with its interval, which a single replicate does not have. */
export interface Estimate {
  mean: number;
  low: number | null;
  high: number | null;
}

/** One algorithm in one environment: what the environment adds to its score, and what that says beside the reference. */
export interface Cell {
  score: number;
  difference: Estimate | null;
  judgement: "better" | "worse" | "";
}

export interface Evaluation {
  /** What `ackclock evaluate --json` prints. */
  document: any;
  overview: {
    /** By environment, and by algorithm in the order of `document.candidates`. */
    cells: Cell[][];
    /** By algorithm, means over environments: efficiency in %, queueing delay in ms. */
    plane: { throughput: Estimate; delay: Estimate }[];
  };
}

/** Judges an algorithm against the panel of a suite, as `ackclock evaluate` does. Rejects with one message, or with the reason of the signal. */
export function evaluate(options?: EvaluateOptions): Promise<Evaluation>;
