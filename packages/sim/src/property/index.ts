/**
 * @quorate/sim/property: property tests with fast-check, which this entry needs and no other one does. `checkSafety`
 * for a state machine of your own; arbitraries of clusters, faults, workloads and whole schedules.
 */
export type { AppliedCommand, MachineStart, MachineUnderTest } from "../machine/machineUnderTest.ts";
export {
  type ClusterConstraints,
  clusters,
  commandWorkloads,
  type FaultConstraints,
  faultLists,
  type ListedFaultKind,
  type ScheduleConstraints,
  schedules,
  type WorkloadConstraints,
} from "./arbitraries.ts";
export { checkSafety, type SafetyReport } from "./checkSafety.ts";
export { CounterexampleError } from "./counterexample.ts";
export type { SafetyOptions } from "./safetyOptions.ts";
