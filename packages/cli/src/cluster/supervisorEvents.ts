/**
 * What happens to a cluster that a supervisor runs, as data. `--json` prints each as one line, `kind` as "event"; the
 * other reporters make sentences of them. A field once printed keeps its meaning.
 */
import type { NodeRole } from "../node/nodeMessages.ts";

export interface StartedNode {
  readonly id: string;
  readonly pid: number | null;
  readonly endpoint: string;
}

/** A node as the supervisor sees it: its own last report, or what became of its process. */
export interface NodeView extends StartedNode {
  readonly role: NodeRole | "starting" | "restarting" | "stopped" | "failed";
  readonly term: number | null;
  readonly commitIndex: number | null;
  readonly appliedIndex: number | null;
  /** Committed entries that it has not applied yet, by the highest commit index reported. */
  readonly lag: number | null;
}

export type SupervisorEvent =
  | { readonly kind: "starting"; readonly nodes: readonly StartedNode[]; readonly dataDir: string }
  | {
      readonly kind: "ready";
      readonly endpoints: readonly string[];
      readonly nodes: readonly StartedNode[];
      readonly dataDir: string;
      readonly clusterId: string | null;
      readonly leader: string;
      readonly term: number;
    }
  | { readonly kind: "leader"; readonly id: string; readonly term: number }
  | { readonly kind: "status"; readonly nodes: readonly NodeView[] }
  /** What keeps a running node from taking part. */
  | { readonly kind: "complaint"; readonly id: string; readonly message: string }
  | { readonly kind: "log"; readonly id: string; readonly line: string }
  | {
      readonly kind: "exit";
      readonly id: string;
      readonly pid: number | null;
      readonly code: number | null;
      readonly signal: string | null;
      /** The node's last words, if it had any. */
      readonly message: string | null;
    }
  | { readonly kind: "restart"; readonly id: string; readonly pid: number | null; readonly attempt: number }
  /** The node is not started again: it would only fail again. */
  | { readonly kind: "failed"; readonly id: string; readonly message: string; readonly nodesLeft: number }
  | { readonly kind: "stopping" }
  | { readonly kind: "stopped" };
