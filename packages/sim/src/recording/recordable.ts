/** What of a simulation in progress a recorder needs: `Simulation` has it all. Types only, so that it ties no knots. */
import type { FaultyCluster } from "../faults/faultyCluster.ts";
import type { Nemesis } from "../faults/nemesis.ts";
import type { History } from "../invariants/history.ts";
import type { World } from "../world/world.ts";

export interface Recordable {
  readonly world: World;
  readonly cluster: FaultyCluster;
  readonly history: History;
  readonly nemesis: Nemesis;
}
