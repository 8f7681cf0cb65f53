/** The source of a module other than the file next to the script. */
export type Module = string | URL | Request | Response | BufferSource | WebAssembly.Module;

/** Loads the module once. Call it first. */
export function load(module?: Module): Promise<void>;

/** A mistake in a scenario. */
export interface Mistake {
  line: number | null;
  set: string | null;
  key: string;
  message: string;
}

/** The exception for a scenario with mistakes. */
export interface ScenarioError extends Error {
  mistakes: Mistake[];
}

export interface Column {
  /** Numbers in the memory of the module. They are valid until its next call. */
  values: Float64Array | BigUint64Array | Uint32Array | Uint8Array;
  kind: "f64" | "u64" | "u32" | "u8" | "bool";
  /** The names for which the numbers are indices. Other numbers have no name. */
  names: string[] | null;
}

export type Table = Record<string, Column>;
export type TableName = "flows" | "links" | "packets";

/** A checked scenario. */
export class Scenario {
  /** `source` is TOML or a tree. Throws a ScenarioError. */
  constructor(source: string | object, options?: { sets?: string[]; files?: Record<string, string> });
  withSets(sets: string[], files?: Record<string, string>): Scenario;
  readonly name: string;
  readonly hash: string;
  readonly seed: bigint;
  readonly isRandom: boolean;
  readonly warnings: string[];
  readonly resolved: any;
  readonly description: any;
  start(options?: { seed?: bigint; replicate?: bigint | number; spare?: number[] }): Running;
}

/** The result of a run. */
export class Result {
  /** The output of `ackclock run --json`. */
  readonly document: any;
  readonly histograms: { link: string; up_to_ns: number; packets: number }[];
  samples(table: TableName): Table;
  free(): void;
}

/** The state of a flow between two steps. */
export interface Flow {
  cwnd_segments: number;
  ssthresh_segments: number;
  unacked_segments: number;
  srtt_s: number;
  delivered_bytes: number;
  retransmits: number;
}

/** The state of a link between two steps. `rate_bps` is NaN if the rate varies by itself. */
export interface Link {
  rate_bps: number;
  delay_s: number;
  backlog_packets: number;
  drops: number;
  marks: number;
  losses: number;
  forwarded_bytes: number;
}

/**
 * A packet at a link between two steps. `arrives_s` is NaN while it is queued. `flow` is -1 for flows outside of
 * `flowNames`.
 */
export interface Packet {
  flow: number;
  kind: "data" | "ack" | "request";
  wire_bytes: number;
  marked: boolean;
  arrives_s: number;
}

/** A run in progress. Times are in seconds. */
export class Running {
  readonly flowNames: string[];
  readonly linkNames: string[];
  readonly duration: number;
  readonly now: number;
  /** Runs to this time. Returns true if the run continues beyond it. */
  step(until: number): boolean;
  flow(index: number): Flow;
  link(index: number): Link;
  /** Queued packets come first, per flow in order. Packets on the wire follow by arrival. */
  packets(link: number): Packet[];
  setRate(link: number, bps: number): void;
  setDelay(link: number, seconds: number): void;
  /** Loses each packet with this probability, from now on. */
  setLoss(link: number, probability: number): void;
  /** Packets already queued beyond a smaller limit are still sent. */
  setLimit(link: number, packets: number): void;
  /**
   * `queue` is a name, or a table as in a scenario. It inherits the queued packets in order. Returns the queue in
   * words.
   */
  setQueue(link: number, queue: string | object): string;
  /** `cc` is a name, or a table as in a scenario. It inherits the window and threshold of the flow. */
  setAlgorithm(flow: number, cc: string | object): void;
  beginFlow(index: number): void;
  endFlow(index: number): void;
  samples(table: TableName): Table;
  finish(): Result;
  free(): void;
}

/** Runs one replicate to its end. */
export function run(scenario: Scenario, options?: { seed?: bigint; replicate?: bigint | number }): Result;
export function list(kind: "cc" | "recovery" | "queue" | "loss" | "traffic" | "topology" | "channel"): any[];
export function rule(line: string): any;
export function metrics(): any[];
/** The table of a name, or of a label such as `poisson(9 Mbit/s)`. `first` is the key of a first value without one. */
export function label(text: string, first?: string): any;
/** Runs a queue alone. `ackclock::open_loop` in Rust defines request and answer. */
export function queueAlone(request: object): any;
