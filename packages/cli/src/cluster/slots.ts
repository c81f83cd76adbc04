/** The supervisor's state: a slot for each node, whatever process fills it now; and how slots are shown. */
import type { NodeMessage, NodeSummary } from "../node/nodeMessages.ts";
import type { NodeProcess, NodeSpec } from "./nodeProcess.ts";
import type { NodeView } from "./supervisorEvents.ts";

export interface Slot {
  readonly spec: NodeSpec;
  phase: "running" | "restarting" | "stopped" | "failed";
  /** Undefined while no process is there. */
  process: NodeProcess | undefined;
  /** A linearizable read went through this process. */
  isReady: boolean;
  summary: NodeSummary | undefined;
  failure: Extract<NodeMessage, { kind: "failed" }> | undefined;
  /** Its last line of standard error. */
  lastWords: string | undefined;
  startedMs: number;
  /** Starts since it last ran for long. */
  attempt: number;
  /** Of a node that is not started again. */
  exitCode: number | undefined;
  cancelRestart: () => void;
}

export function nodeViews(slots: readonly Slot[]): readonly NodeView[] {
  const committed = Math.max(0, ...slots.map(({ summary }) => summary?.commitIndex ?? 0));
  return slots.map(({ spec, phase, process, summary }) => {
    const isKnown = phase === "running" && summary !== undefined;
    return {
      id: spec.id,
      pid: process?.pid ?? null,
      endpoint: spec.endpoint,
      role: phase === "running" ? (summary?.role ?? "starting") : phase,
      term: isKnown ? summary.term : null,
      commitIndex: isKnown ? summary.commitIndex : null,
      appliedIndex: isKnown ? summary.appliedIndex : null,
      lag: isKnown ? Math.max(0, committed - summary.appliedIndex) : null,
    };
  });
}
