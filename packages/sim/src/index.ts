/**
 * @quorate/sim: Quorate in virtual time. The shipped node on a network, disks and clocks that misbehave on purpose, one
 * seed deciding all, and every safety invariant checked at each event.
 */
export type { Assembly, RunningNode } from "./cluster/assembly.ts";
export { type Damage, SimulatedCluster, SimulatedHost } from "./cluster/cluster.ts";
export type { Fault, FaultKind, PartitionShape, ScheduledFault } from "./faults/fault.ts";
export type { Nemesis } from "./faults/nemesis.ts";
export { calmProfile, drawProfile, type Profile } from "./faults/profile.ts";
export type { History, InvariantName, Violation } from "./invariants/history.ts";
export { checkRecovery } from "./liveness.ts";
export { calmWire, type HealMode, type WireTemper } from "./network/paths.ts";
export { type SimulationOptions, type SimulationResult, simulate } from "./simulate.ts";
export { openSimulation, runFor, type Simulation, type WorldOptions } from "./simulation.ts";
export { StoreWorkload } from "./workload/storeClients.ts";
export type { Workload, WorkloadStats } from "./workload/workload.ts";
export { type Chance, chanceFrom } from "./world/chance.ts";
export type { World } from "./world/world.ts";
