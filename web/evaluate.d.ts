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

/** A suite of one's own from its text, as `tools/web/suites_on_web.py` writes it. Throws an error with one message for what is none. */
export function readSuite(text: string): object;

/** What a score may be made of: `shares`, which puts together all that are shares, or a metric. */
export const METRICS: string[];

/** How far an evaluation is; `left_s` is null until every environment was run once with every algorithm. */
export interface Progress {
  done: number;
  total: number;
  left_s: number | null;
}

export interface EvaluateOptions {
  /** The name of one, `core` by default; or one as data, as `tools/web/suites_on_web.py` writes them. */
  suite?: string | object;
  /** A name, `aimd(increase=2)`, `rule grow = 1/w; cut = w/2`, or a table as in a scenario; several are ranked. */
  cc?: string | object | (string | object)[];
  /** The text of a rule, on one line, in place of `cc` or behind it. */
  rule?: string | string[];
  /** Algorithms to compare with, the first of which is the reference; the panel of the suite by default. */
  against?: (string | object)[];
  /** What the score is made of, of `METRICS`; `shares` by default. */
  metric?: string;
  /** Changes to every scenario, `KEY=VALUE` as `--set` takes them. */
  sets?: string[];
  /** As many as the suite has by default. */
  replicates?: number;
  /** A first impression: fewer replicates. */
  quick?: boolean;
  seed?: bigint | number;
  /** All cores by default. */
  workers?: number;
  /** Points of a line at the most: `curves` has the first replicate over time. Without it none are kept. */
  points?: number;
  onProgress?: (progress: Progress) => void;
  signal?: AbortSignal;
}

/** A figure with its interval, which a single replicate does not have. */
export interface Estimate {
  mean: number;
  low: number | null;
  high: number | null;
}

/** One algorithm in one environment, by the score or a metric, beside the reference. */
export interface Cell {
  judgement: "better" | "worse" | "open" | "reference" | "none" | "failed";
  /** Of the metric; of the score what the environment adds to it. Null for `none` and `failed`. */
  value: Estimate | null;
  /** Of costs, paired by replicate: below zero is better. */
  difference: Estimate | null;
}

/** An algorithm in the plane of throughput and delay: means, halves of their intervals, and the correlation of both over replicates. */
export interface Spot {
  name: string;
  delay: number;
  throughput: number;
  delay_half: number;
  throughput_half: number;
  correlation: number;
}

export interface Evaluation {
  /** What `ackclock evaluate --json` prints. */
  document: any;
  /** What its report shows beyond that. */
  overview: {
    /** All of them: the ranking, then the rest of the panel. `entries`: their places in the order in which they were run. */
    entries: number[];
    algorithms: { label: string; cc: object }[];
    /** The place of the reference among them. */
    reference: number;
    /** Digits of the score. */
    digits: number;
    /** The metrics of each environment. */
    metrics: { name: string; label: string; unit: string; better: string; digits: number }[][];
    /** Heat maps, by environment and algorithm; the first is that of the score. */
    maps: { name: string; heading: string; digits: number; cells: Cell[][] }[];
    /** Efficiency in % against queueing delay in ms, means over environments, without algorithms of which a run failed. */
    plane: Spot[];
    /** Goodput in Mbit/s against queueing delay, by environment. */
    planes: Spot[][];
    /** Where the first of `document.candidates` is most clearly worse than the reference, by the places of environment and metric. */
    worst: { environment: number; metric: number } | null;
    /** By environment and by each of the next six candidates: in which metrics the first is clearly better and worse. */
    wins: { better: string[]; worse: string[] }[][];
  };
  /** By environment and algorithm, with `points`; null where a run failed. */
  curves?: (Curves | null)[][];
}

/** A run over time: windows in segments by flow, the queue of the bottleneck in packets. */
export interface Curves {
  flows: string[];
  /** Flows that are not among them. */
  hidden: number;
  /** In seconds. */
  x: number[];
  cwnd: (number | null)[][];
  queue: (number | null)[];
  warmup_s: number;
  duration_s: number;
}

/** Judges an algorithm, or ranks several, against the panel of a suite, as `ackclock evaluate` does. Rejects with one message, or with the reason of the signal. */
export function evaluate(options?: EvaluateOptions): Promise<Evaluation>;
