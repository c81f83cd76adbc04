/**
 * A node's options, resolved once into a full, frozen object. Contradictory ones are refused here, with the numbers
 * in the message, and nowhere else.
 */
import type { CoreOptions } from "../core/contract.ts";
import { QuorateError } from "../errors.ts";
import { refuseUnknownOptions } from "../optionNames.ts";

/** Durations in milliseconds, sizes in bytes. Every member may be left out. */
export interface RaftOptions {
  /** How often a leader is heard when nothing happens. Default 50. */
  readonly heartbeatMs?: number;
  /** Election timeouts are drawn from [min, max). Defaults 150 and 300, as in the Raft paper. */
  readonly electionTimeoutMinMs?: number;
  readonly electionTimeoutMaxMs?: number;
  /** Appends under way to one peer. Defaults 256 and 8 MiB. */
  readonly maxInflightAppends?: number;
  readonly maxInflightBytes?: number;
  /** Entry bytes in one append. Default 1 MiB; a single larger entry goes alone. */
  readonly maxAppendBytes?: number;
  /** Entries that a leader has appended and not yet committed. Defaults 16,384 and 64 MiB. */
  readonly maxUncommittedEntries?: number;
  readonly maxUncommittedBytes?: number;
  /** Reads that wait for a read index. Default 65,536. */
  readonly maxPendingReads?: number;
  /** Memory for applied entries that followers which lag may need, 160 bytes an entry included. Default 16 MiB. */
  readonly maxCachedBytes?: number;
  /**
   * A snapshot is taken once this many entries, or bytes of them, were applied since the last one. Defaults 100,000 and
   * 64 MiB.
   */
  readonly snapshotEntries?: number;
  readonly snapshotBytes?: number;
  /**
   * But not before those bytes are this part of the last snapshot's size, in percent, so that a large state is not
   * written over and over. Default 50; 0: at once. Of several voters each waits for another part more, below twice as
   * much in all.
   */
  readonly snapshotGrowthPercent?: number;
  /**
   * Entries before the newest snapshot that stay in the log for slow followers. Defaults 10,000, and 16 MiB, counted
   * as for `maxCachedBytes`, or what that allows.
   */
  readonly compactionTailEntries?: number;
  readonly compactionTailBytes?: number;
  /** Content in one message of a snapshot that is sent. Default 256 KiB. */
  readonly snapshotChunkBytes?: number;
  /** What sending a snapshot to one peer takes of the link at most. Default 64 MiB a second. */
  readonly maxSnapshotBytesPerSecond?: number;
  /** A leader whose own disk takes longer for a write hands over to a voter that keeps more. Default 2,000. */
  readonly diskStallMs?: number;
  /** The largest command that `propose` takes. Default 2 MiB. */
  readonly maxCommandBytes?: number;
  /**
   * 1 to 100, default 1: a leader hands over to a voter of higher priority that is there and keeps up. Who is elected
   * does not hang on it.
   */
  readonly priority?: number;
}

export type ResolvedRaftOptions = Readonly<Required<RaftOptions>>;

const MiB = 1_048_576;
/** The highest priority of a node; 1 is the lowest. */
export const maxPriority = 100;

const defaults: ResolvedRaftOptions = {
  heartbeatMs: 50,
  electionTimeoutMinMs: 150,
  electionTimeoutMaxMs: 300,
  maxInflightAppends: 256,
  maxInflightBytes: 8 * MiB,
  maxAppendBytes: MiB,
  maxUncommittedEntries: 16_384,
  maxUncommittedBytes: 64 * MiB,
  maxPendingReads: 65_536,
  maxCachedBytes: 16 * MiB,
  snapshotEntries: 100_000,
  snapshotBytes: 64 * MiB,
  snapshotGrowthPercent: 50,
  compactionTailEntries: 10_000,
  compactionTailBytes: 16 * MiB,
  snapshotChunkBytes: MiB / 4,
  maxSnapshotBytesPerSecond: 64 * MiB,
  diskStallMs: 2_000,
  maxCommandBytes: 2 * MiB,
  priority: 1,
};

/** Rejects with `INVALID_OPTIONS`, naming the option and the numbers. */
export function resolveRaftOptions(options: RaftOptions = {}): ResolvedRaftOptions {
  refuseUnknownOptions(options, { call: "a Raft node", names: defaults });
  const given = withoutUndefined(options);
  const resolved = { ...defaults, ...given };
  if (given.compactionTailBytes === undefined) {
    resolved.compactionTailBytes = Math.min(defaults.compactionTailBytes, resolved.maxCachedBytes);
  }
  for (const [name, value] of Object.entries(resolved)) {
    const least = mayBeZero.has(name) ? 0 : 1;
    if (!Number.isSafeInteger(value) || value < least) {
      throw invalid(`${name} is ${String(value)}, but must be a whole number of at least ${least}`);
    }
  }
  refuseContradictions(resolved);
  return Object.freeze(resolved);
}

const mayBeZero: ReadonlySet<string> = new Set<keyof RaftOptions>([
  "snapshotGrowthPercent",
  "compactionTailEntries",
  "compactionTailBytes",
]);

function refuseContradictions(resolved: ResolvedRaftOptions): void {
  const { heartbeatMs, electionTimeoutMinMs, electionTimeoutMaxMs, priority } = resolved;
  if (priority > maxPriority) throw invalid(`priority is ${priority}, and goes from 1 to ${maxPriority}`);
  if (electionTimeoutMinMs >= electionTimeoutMaxMs) {
    throw invalid(
      `electionTimeoutMinMs (${electionTimeoutMinMs}) must be below electionTimeoutMaxMs (${electionTimeoutMaxMs}): ` +
        "timeouts are drawn between the two, and equal ones make elections tie",
    );
  }
  if (heartbeatMs * 2 > electionTimeoutMinMs) {
    throw invalid(
      `heartbeatMs (${heartbeatMs}) must be at most half of electionTimeoutMinMs (${electionTimeoutMinMs}): ` +
        "otherwise one late heartbeat deposes a healthy leader",
    );
  }
  const { compactionTailBytes, maxCachedBytes, snapshotChunkBytes } = resolved;
  if (compactionTailBytes > maxCachedBytes) {
    throw invalid(
      `compactionTailBytes (${compactionTailBytes}) must be at most maxCachedBytes (${maxCachedBytes}): ` +
        "the bytes of entries are known only as long as they are in memory",
    );
  }
  if (snapshotChunkBytes > MiB) {
    throw invalid(
      `snapshotChunkBytes (${snapshotChunkBytes}) must be at most ${MiB}: a longer message holds up all others`,
    );
  }
}

export function coreOptions(
  options: ResolvedRaftOptions,
  self: CoreOptions["self"],
  seed: number,
): CoreOptions {
  const { maxCommandBytes, snapshotEntries, snapshotBytes, snapshotGrowthPercent, priority, ...rest } =
    options;
  return Object.freeze({ ...rest, self, seed });
}

function withoutUndefined(options: RaftOptions): RaftOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function invalid(sentence: string): QuorateError {
  return new QuorateError("INVALID_OPTIONS", `${sentence}.`);
}
