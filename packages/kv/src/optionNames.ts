/** The options of `join()` and of the node that it gives, by name, as those of a cluster object in its package. */
import { clientOptions, type OptionsByCall, takenIn } from "@quorate/client/internal";
import { type OptionNames, refuseUnknownOptions, type TransferOptions } from "@quorate/raft";
import type { JoinOptions, SnapshotOptions } from "./joinOptions.ts";

const join: OptionNames<JoinOptions> = {
  id: true,
  peers: true,
  via: true,
  learner: true,
  listen: true,
  dataDir: true,
  memory: true,
  secret: true,
  tls: true,
  insecure: true,
  logger: true,
  heartbeatMs: true,
  electionTimeoutMs: true,
  priority: true,
  diskStallMs: true,
  snapshots: true,
  requestTimeoutMs: true,
  sessionTtlMs: true,
  network: true,
  clock: true,
  random: true,
};
const snapshots: OptionNames<SnapshotOptions> = {
  everyEntries: true,
  everyBytes: true,
  keptEntries: true,
  maxBytesPerSecond: true,
};
const electionTimeoutMs: OptionNames<NonNullable<JoinOptions["electionTimeoutMs"]>> = {
  min: true,
  max: true,
};
const transfer: OptionNames<TransferOptions> = { target: true, signal: true };

export const nodeOptions: OptionsByCall = { join, "node.transferLeadership": transfer };
/** Options of `join()` that are objects themselves. */
const within: Readonly<Record<"snapshots" | "electionTimeoutMs", OptionsByCall[string]>> = {
  snapshots,
  electionTimeoutMs,
};

/** The options that a call was given; throws `INVALID_OPTIONS` where it does not take one of them. */
export function taken<Options>(call: string, given: Options): Options {
  return takenIn({ ...nodeOptions, ...clientOptions }, call, given);
}

export function takenWithin<Options>(option: "snapshots" | "electionTimeoutMs", given: Options): Options {
  refuseUnknownOptions(given, { call: `${option} of join()`, names: within[option] });
  return given;
}
