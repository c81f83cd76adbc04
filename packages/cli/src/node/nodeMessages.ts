/** What a node process tells the supervisor that started it, over their channel. Data only; small; seldom. */

export type NodeRole = "leader" | "follower" | "candidate" | "mute" | "unborn";

/** A node's own view, as the supervisor shows it. */
export interface NodeSummary {
  readonly clusterId: string | null;
  readonly role: NodeRole;
  readonly term: number;
  /** The leader's node id, as this node believes. */
  readonly leader: string | null;
  readonly commitIndex: number;
  readonly appliedIndex: number;
  readonly complaints: readonly string[];
}

export type NodeMessage =
  /** Sent when something in it changed, twice a second at most. */
  | { readonly kind: "status"; readonly summary: NodeSummary }
  /** A linearizable read went through this node for the first time. */
  | { readonly kind: "ready" }
  /** The last message of a node that cannot go on; `message` says why and what to do. */
  | { readonly kind: "failed"; readonly code: string; readonly message: string };

/** In a node's environment where a supervisor listens on its channel; other parents' channels are left alone. */
export const supervisedVariable = "QUORATE_SUPERVISED";
