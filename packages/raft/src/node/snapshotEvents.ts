/** What a node tells of snapshots, for observation only. */
import type { SnapshotProgress } from "../core/contract.ts";
import type { Index, MemberId } from "../core/types.ts";

export type SnapshotEvent =
  /** This node's own state after entry `index`, durable. */
  | {
      readonly kind: "snapshotTaken";
      readonly index: Index;
      readonly bytes: number;
      readonly durationMs: number;
    }
  /** The log begins after entry `index` now. */
  | { readonly kind: "compacted"; readonly index: Index }
  /** Of a snapshot that this leader sends. */
  | {
      readonly kind: "snapshotTransfer";
      readonly peer: MemberId;
      readonly index: Index;
      readonly progress: SnapshotProgress["kind"];
    }
  /** A peer's snapshot is what this node's log and machine begin at now. */
  | { readonly kind: "snapshotInstalled"; readonly index: Index; readonly bytes: number }
  /** It is tried again later. `reason` is a sentence. */
  | {
      readonly kind: "snapshotFailed";
      readonly what: "take" | "receive" | "send";
      readonly reason: string;
    };
