/** A supplied suite. `quick` is the number of replicates for a first impression. */
export interface SuiteInfo {
  name: string;
  version: number;
  title: string;
  replicates: number;
  quick: number;
  panel: { label: string; cc: object; text: string }[];
}

/** The supplied suites. */
export function suites(): Promise<SuiteInfo[]>;

/**
 * Your own suite from its text, as `tools/web/suites_on_web.py` writes it. An invalid text throws an error with one
 * message.
 */
export function readSuite(text: string): { name: string };

/** The metrics of a score: `shares`, which combines all shares, or a single metric. */
export const METRICS: string[];

/** The progress of an evaluation. `left_s` is null until every algorithm has run once in every environment. */
export interface Progress {
  done: number;
  total: number;
  left_s: number | null;
}

export interface EvaluateOptions {
  /** A name (default: `core`), or a suite as data, as `tools/web/suites_on_web.py` writes it. */
  suite?: string | object;
  /** A name, `aimd(increase=2)`, `rule grow = 1/w; cut = w/2`, or a table as in a scenario. Several are ranked. */
  cc?: string | object | (string | object)[];
  /** The text of a rule on one line, instead of `cc` or in addition to it. */
  rule?: string | string[];
  /** Algorithms to compare with. The first is the reference. The default is the panel of the suite. */
  against?: (string | object)[];
  /** The metric of the score, from `METRICS` (default: `shares`). */
  metric?: string;
  /** Weights of metrics in the default score, such as `{ delay_score: 0 }`. Others weigh 1. */
  weights?: Record<string, number>;
  /** Changes to every scenario: `KEY=VALUE`, as for `--set`. */
  sets?: string[];
  /** The default is the number of the suite. */
  replicates?: number;
  /** Uses fewer replicates, for a first impression. */
  quick?: boolean;
  seed?: bigint | number;
  /** The default is the number of cores. */
  workers?: number;
  /** The maximal points of a line in `curves`, the first replicate over time. Without it there are no curves. */
  points?: number;
  onProgress?: (progress: Progress) => void;
  signal?: AbortSignal;
}

/** A figure with its interval. A single replicate gives no interval. */
export interface Estimate {
  mean: number;
  low: number | null;
  high: number | null;
}

/** One algorithm in one environment, by the score or a metric, compared with the reference. */
export interface Cell {
  judgement: "better" | "worse" | "open" | "reference" | "none" | "failed";
  /** The value of the metric, or the contribution of the environment to the score. Null for `none` and `failed`. */
  value: Estimate | null;
  /** The difference of costs, paired by replicate. A negative difference is better. */
  difference: Estimate | null;
  /** The judgement, or `small` for significant differences below 1 % of the metric. */
  mark: "better" | "worse" | "small" | "open" | "reference" | "none" | "failed";
  /** The size of the difference, relative to the larger of both values, at most 1. */
  effect: number | null;
  /** The cell in words. */
  text: string;
}

/** A figure of the verdict. */
export interface Tile {
  label: string;
  unit: string;
  candidate: (Estimate & { text: string }) | null;
  reference: (Estimate & { text: string }) | null;
  best: { label: string; mean: number; text: string } | null;
  judgement: "better" | "worse" | "";
}

/**
 * An algorithm in the plane of throughput and delay: means, half widths of intervals, and the correlation over
 * replicates.
 */
export interface Spot {
  name: string;
  delay: number;
  throughput: number;
  delay_half: number;
  throughput_half: number;
  correlation: number;
}

export interface Evaluation {
  /** The output of `ackclock evaluate --json`. */
  document: any;
  /** The additional data of the report. */
  overview: {
    /**
     * All algorithms: the ranking, then the rest of the panel. `entries` contains their places in the order of running.
     */
    entries: number[];
    algorithms: { label: string; cc: object }[];
    /** The place of the reference among them. */
    reference: number;
    /** Digits of the score. */
    digits: number;
    /** The metrics of each environment. */
    metrics: { name: string; label: string; unit: string; better: string; digits: number }[][];
    /** Heat maps by environment and algorithm. The first shows the score. */
    maps: {
      name: string;
      heading: string;
      digits: number;
      cells: Cell[][];
      /** Better and worse environments of each algorithm, after Holm's correction. */
      counts: [number, number][];
    }[];
    /** Short sentences, and the lines of the verdict for terminals. */
    summary: { sentences: string[]; lines: string[] };
    tiles: Tile[];
    /** The fair-share ratio of each competitor against each of `document.candidates`. */
    shares: {
      competitor: string;
      environment: string;
      shares: { share: Estimate; part: "starved" | "less" | "fair" | "more" }[];
    }[];
    /**
     * Efficiency in % against queueing delay in ms, means over environments, geometric for delays. Algorithms with a
     * failed run are omitted.
     */
    plane: Spot[];
    /** Goodput in Mbit/s against queueing delay, by environment. */
    planes: Spot[][];
    /**
     * The environment and metric in which the first of `document.candidates` is most clearly worse than the reference,
     * by their places.
     */
    worst: { environment: number; metric: number } | null;
    /**
     * The metrics in which the first candidate is significantly better or worse, by environment and each of the next
     * six candidates.
     */
    wins: { better: string[]; worse: string[] }[][];
  };
  /** Curves by environment and algorithm, with `points`. Null where a run failed. */
  curves?: (Curves | null)[][];
}

/** A run over time: windows in segments by flow, the queue of the bottleneck in packets. */
export interface Curves {
  flows: string[];
  /** The number of flows that are not drawn. */
  hidden: number;
  /** In seconds. */
  x: number[];
  cwnd: (number | null)[][];
  queue: (number | null)[];
  warmup_s: number;
  duration_s: number;
}

/**
 * Judges an algorithm against the panel of a suite, or ranks several, as `ackclock evaluate` does. Rejects with one
 * message, or with the reason of the signal.
 */
export function evaluate(options?: EvaluateOptions): Promise<Evaluation>;
