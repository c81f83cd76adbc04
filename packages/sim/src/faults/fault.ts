/**
 * Faults as plain data: what is done to whom and for how long. A list of them with times is a schedule, which can be
 * written out and replayed; nothing random is decided when one strikes.
 */
import type { MemberPhase, SnapshotPhase } from "../invariants/history.ts";

export type Fault = NetworkFault | ProcessFault | DiskFault | ClockFault | TransferFault | MembershipFault;

/** A directed path between two hosts. */
export type Path = readonly [from: string, to: string];

export type NetworkFault =
  /** Directed paths that carry nothing. `shape` is for people. */
  | {
      readonly kind: "partition";
      readonly shape: PartitionShape;
      readonly cuts: readonly Path[];
      readonly forMs: number;
    }
  | {
      readonly kind: "lossyPath";
      readonly from: string;
      readonly to: string;
      readonly loss: number;
      readonly forMs: number;
    }
  /** Nothing comes out of the path for a time, and then all of it: late, but nothing is lost. */
  | { readonly kind: "clog"; readonly from: string; readonly to: string; readonly forMs: number }
  /**
   * In the first half of the time the paths of `stops` are clogged one after the other, in the second half those of
   * `releases` carry again one after the other (FoundationDB's swizzle-clogging).
   */
  | {
      readonly kind: "swizzleClog";
      readonly stops: readonly Path[];
      readonly releases: readonly Path[];
      readonly forMs: number;
    }
  /** The paths are cut at once, heal after the first of `gapsMs`, are cut again after the second, and so on. */
  | {
      readonly kind: "flapping";
      readonly paths: readonly Path[];
      readonly gapsMs: readonly number[];
      readonly forMs: number;
    }
  /** Between the node and every client; between clients and the other nodes all is well. */
  | {
      readonly kind: "clientCut";
      readonly node: string;
      readonly lost: ClientCutDirection;
      readonly forMs: number;
    };

export type ProcessFault =
  /** SIGKILL, or a power cut (`silent`). `whenWriting`: at the next moment at which a write is under way. */
  | {
      readonly kind: "crash";
      readonly node: string;
      readonly silent: boolean;
      readonly whenWriting: boolean;
      readonly forMs: number;
    }
  /** Every node at the same instant. */
  | { readonly kind: "crashAll"; readonly silent: boolean; readonly forMs: number }
  | { readonly kind: "pause"; readonly node: string; readonly timersFirst: boolean; readonly forMs: number }
  /**
   * Killed at the `calls`th interaction of its process with the world from now on, or from its next start on where it
   * is down: an event that comes to it, or a call of a port. So every `await` is a place to die at.
   */
  | {
      readonly kind: "crashAtCall";
      readonly node: string;
      readonly calls: number;
      readonly silent: boolean;
      readonly forMs: number;
    }
  /**
   * Whichever node begins this with a snapshot next is killed at the `calls`th interaction of its process from there
   * on: so each step of taking, receiving and installing is a place to die at.
   */
  | {
      readonly kind: "crashAtSnapshot";
      readonly phase: SnapshotPhase;
      readonly calls: number;
      readonly silent: boolean;
      readonly forMs: number;
    }
  /** It gets little of its processor: each event takes `eventMs`, and the next one waits for it. */
  | { readonly kind: "starvation"; readonly node: string; readonly eventMs: number; readonly forMs: number }
  /** Killed, and started again after `forMs` with other timeouts, which it keeps. */
  | {
      readonly kind: "changedTimeouts";
      readonly node: string;
      readonly heartbeatMs: number;
      readonly electionTimeoutMinMs: number;
      readonly electionTimeoutMaxMs: number;
      readonly forMs: number;
    };

export type ClockFault =
  /** Its clock runs `rate` times as fast as true time. */
  | { readonly kind: "clockRate"; readonly node: string; readonly rate: number; readonly forMs: number }
  /** Its clock leaps forward by `forMs`. */
  | { readonly kind: "clockLeap"; readonly node: string; readonly forMs: number }
  /** As a pause, of the whole machine: its monotonic clock stands still too, its boot time goes on. */
  | { readonly kind: "suspend"; readonly node: string; readonly forMs: number };

export type DiskFault =
  | {
      readonly kind: "slowDisk";
      readonly node: string;
      readonly meanLatencyMs: number;
      readonly forMs: number;
    }
  | { readonly kind: "hangingDisk"; readonly node: string; readonly forMs: number }
  /** The next write of the node fails; its process, which must stop, is started again after `forMs`. */
  | { readonly kind: "diskError"; readonly node: string; readonly forMs: number }
  /** The node is killed and the batches `from`..`to` (thousandths of all) are gone when it starts again. */
  | {
      readonly kind: "rot";
      readonly node: string;
      readonly from: number;
      readonly to: number;
      readonly forMs: number;
    }
  /**
   * The node is killed, and a bit of its newest snapshot is another one when it starts again; nothing where there is
   * none before it that its log reaches back to.
   */
  | { readonly kind: "rotSnapshot"; readonly node: string; readonly at: number; readonly forMs: number }
  /** The node is killed, and starts again with an empty directory. */
  | { readonly kind: "wipe"; readonly node: string; readonly forMs: number }
  /** Writes fail with ENOSPC until there is space again; halfway it is started in vain, and then for good. */
  | { readonly kind: "fullDisk"; readonly node: string; readonly forMs: number }
  | {
      readonly kind: "slowReads";
      readonly node: string;
      readonly meanLatencyMs: number;
      readonly forMs: number;
    }
  /** Killed and started with a copy of the directory of `from`; after `forMs` it gets its own one back. */
  | { readonly kind: "foreignDisk"; readonly node: string; readonly from: string; readonly forMs: number }
  /**
   * Its directory is copied, and it is started anew. After `forMs`, when all others have durably seen the new start, it
   * is killed and started with the copy.
   */
  | { readonly kind: "olderDisk"; readonly node: string; readonly forMs: number };

export type TransferFault =
  /**
   * Whoever leads is asked, so many times within `forMs`, to hand leadership to `target`: a node that is there, itself,
   * one that is down or does not exist; or, where it is empty, to whom it likes.
   */
  { readonly kind: "transfer"; readonly target: string; readonly times: number; readonly forMs: number };

export interface MembershipFault {
  /**
   * The membership changes, by one request to whoever leads: several steps at once make a joint configuration. Nodes
   * that are new, or wiped for it, start after `forMs` and ask to be taken in themselves.
   */
  readonly kind: "member";
  readonly steps: readonly MemberStep[];
  /** The leader is killed in this phase of a joint change that comes of it, and starts again after `forMs`. */
  readonly crashAt: MemberPhase | "never";
  readonly forMs: number;
}

/**
 * `add` as a voter, `addLearner` as one that stays a learner; `replace`: `node` takes the place of `of`; `rejoin`: the
 * node is wiped and takes its own place as a new member.
 */
export type MemberStep =
  | { readonly action: SoleAction; readonly node: string }
  | { readonly action: "replace"; readonly node: string; readonly of: string };

export const soleActions = ["add", "addLearner", "remove", "demote", "promote", "rejoin"] as const;

export type SoleAction = (typeof soleActions)[number];

export type FaultKind = Fault["kind"];

export type FaultOf<Kind extends FaultKind> = Extract<Fault, { readonly kind: Kind }>;

export const clientCutDirections = ["requests", "replies", "both"] as const;

export type ClientCutDirection = (typeof clientCutDirections)[number];

export const partitionShapes = [
  "halves",
  "isolated",
  "leader out only",
  "leader in only",
  "bridge",
  "ring",
  "chain",
  "one way",
] as const;

export type PartitionShape = (typeof partitionShapes)[number];

/** A fault and when it strikes, in virtual milliseconds from the start. */
export interface ScheduledFault {
  readonly atMs: number;
  readonly fault: Fault;
}
