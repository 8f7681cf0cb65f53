/** Where a module comes from, if not from beside this file. */
export type Module = string | URL | Request | Response | BufferSource | WebAssembly.Module;

/** Loads the module, once. Call it before all else. */
export function load(module?: Module): Promise<void>;

/** A mistake in a scenario. */
export interface Mistake {
  line: number | null;
  set: string | null;
  key: string;
  message: string;
}

/** What is thrown for a scenario that has mistakes. */
export interface ScenarioError extends Error {
  mistakes: Mistake[];
}

export interface Column {
  /** Numbers in the memory of the module: valid until it is called again. */
  values: Float64Array | BigUint64Array | Uint32Array | Uint8Array;
  kind: "f64" | "u64" | "u32" | "u8" | "bool";
  /** What the numbers name; a number that is no index names nothing. */
  names: string[] | null;
}

export type Table = Record<string, Column>;
export type TableName = "flows" | "links" | "packets";

/** A checked scenario. */
export class Scenario {
  /** `source`: TOML, or a tree. Throws a ScenarioError. */
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
  /** What `ackclock run --json` prints of a run. */
  readonly document: any;
  readonly histograms: { link: string; up_to_ns: number; packets: number }[];
  samples(table: TableName): Table;
  free(): void;
}

/** What a flow shows between two steps. */
export interface Flow {
  cwnd_segments: number;
  ssthresh_segments: number;
  unacked_segments: number;
  srtt_s: number;
  delivered_bytes: number;
  retransmits: number;
}

/** What a link shows between two steps; `rate_bps` is NaN if it varies by itself. */
export interface Link {
  rate_bps: number;
  delay_s: number;
  backlog_packets: number;
  drops: number;
  marks: number;
  losses: number;
  forwarded_bytes: number;
}

/** A packet at a link between two steps; `arrives_s` is NaN while it is queued, `flow` -1 where it belongs to none of `flowNames`. */
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
  /** True if the run goes on beyond this time. */
  step(until: number): boolean;
  flow(index: number): Flow;
  link(index: number): Link;
  /** Those queued, of each flow in their order, then those on the wire, by their arrival. */
  packets(link: number): Packet[];
  setRate(link: number, bps: number): void;
  setDelay(link: number, seconds: number): void;
  /** Loses each packet with this probability, from now on. */
  setLoss(link: number, probability: number): void;
  /** What is queued beyond a smaller limit is still sent. */
  setLimit(link: number, packets: number): void;
  /** A name, or a table as in a scenario, takes over what is queued, in the order in which it came. Returns the queue in words. */
  setQueue(link: number, queue: string | object): string;
  /** A name, or a table as in a scenario, takes over a flow with its window and threshold. */
  setAlgorithm(flow: number, cc: string | object): void;
  beginFlow(index: number): void;
  endFlow(index: number): void;
  samples(table: TableName): Table;
  finish(): Result;
  free(): void;
}

/** Runs one replicate to its end. */
export function run(scenario: Scenario, options?: { seed?: bigint; replicate?: bigint | number }): Result;
export function list(kind: "cc" | "recovery" | "queue" | "loss" | "traffic" | "topology"): any[];
export function rule(line: string): any;
export function metrics(): any[];
