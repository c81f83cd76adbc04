/**
 * What it takes to carry a fault out, by its kind. Each class of faults has a table of its own (networkFaults.ts,
 * processFaults.ts, diskFaults.ts); the compiler sees that no kind is missing. Types only.
 */
import type { FaultKind, FaultOf } from "./fault.ts";
import type { FaultyCluster } from "./faultyCluster.ts";

/** Where faults strike. */
export interface Site {
  readonly cluster: FaultyCluster;
  /** What disks take when nothing ails them. */
  readonly calmLatencyMs: number;
  /** Runs `run` in `delayMs`, unless all has been healed by then. */
  later(delayMs: number, run: () => void): void;
}

export type Strikes<Kinds extends FaultKind> = {
  readonly [Kind in Kinds]: (site: Site, fault: FaultOf<Kind>) => void;
};
