/**
 * @quorate/sim: Quorate in virtual time. The shipped node on a network, disks and clocks that misbehave on purpose, one
 * seed deciding all, and every safety invariant checked at each event.
 */
export { explain } from "./checker/explanation.ts";
export { assertLinearizable, type CheckOptions, checkLinearizability } from "./checker/linearizability.ts";
export { type Model, perKey, type Unanswered, unanswered } from "./checker/model.ts";
export {
  type AppendListInput,
  type AppendListOutput,
  appendListModel,
  type ListValue,
} from "./checker/models/appendList.ts";
export {
  type FencedInput,
  type FencedOutput,
  type FencedState,
  type FencedValue,
  fencedResourceModel,
} from "./checker/models/fencedResource.ts";
export {
  type KeyValueInput,
  type KeyValueOutput,
  type KeyValueState,
  keyValueModel,
} from "./checker/models/keyValue.ts";
export {
  type LockHolder,
  type LockInput,
  type LockOutput,
  type LockState,
  lockModel,
} from "./checker/models/lock.ts";
export {
  type RegisterInput,
  type RegisterOptions,
  type RegisterOutput,
  type RegisterState,
  type RegisterValue,
  registerModel,
} from "./checker/models/register.ts";
export {
  type CounterInput,
  type CounterOutput,
  sessionCounterModel,
} from "./checker/models/sessionCounter.ts";
export type { Operation, OperationEnd } from "./checker/operation.ts";
export { type OpenOperation, OperationRecorder } from "./checker/operationRecorder.ts";
export { type KnownEffect, settledOperations } from "./checker/settledOperations.ts";
export type {
  CheckEffort,
  IllegalVerdict,
  LegalOrder,
  LinearizableVerdict,
  UnknownVerdict,
  Verdict,
} from "./checker/verdict.ts";
export type { Assembly, RunningNode } from "./cluster/assembly.ts";
export { SimulatedCluster, SimulatedHost } from "./cluster/cluster.ts";
export type { Fault, FaultKind, PartitionShape, ScheduledFault } from "./faults/fault.ts";
export type { Damage, FaultyCluster, FaultyHost } from "./faults/faultyCluster.ts";
export { faultKinds } from "./faults/kinds.ts";
export {
  type NamedProfile,
  namedProfiles,
  type ProfileName,
  profileNames,
} from "./faults/namedProfiles.ts";
export type { Nemesis } from "./faults/nemesis.ts";
export { cutsBetween } from "./faults/partitions.ts";
export { calmProfile, drawProfile, type Profile } from "./faults/profile.ts";
export { invariants, marksRequiredOf, requiredMarks, seedsForMarks } from "./invariants/catalogue.ts";
export type { History, InvariantName, LivenessName, Violation } from "./invariants/history.ts";
export { type Layer, layers } from "./layer.ts";
export { type Core, chooseCore, coreOf } from "./liveness/core.ts";
export { checkCore } from "./liveness/coreChecks.ts";
export { restartAll, restartOne } from "./liveness/drills.ts";
export { checkLeases } from "./liveness/leases.ts";
export { checkLiveness, healCore } from "./liveness/liveness.ts";
export { checkRecovery } from "./liveness/recovery.ts";
export type {
  AnyMachineUnderTest,
  AppliedCommand,
  MachineStart,
  MachineUnderTest,
} from "./machine/machineUnderTest.ts";
export { calmWire, type HealMode, type WireTemper } from "./network/paths.ts";
export { eventCount, type RunRecording } from "./page/browser/recording.ts";
export { renderPage } from "./page/renderPage.ts";
export type { Recordable } from "./recording/recordable.ts";
export { type RecorderOptions, RunRecorder, recordRun } from "./recording/runRecorder.ts";
export {
  assertNoViolation,
  heal,
  partition,
  runUntil,
  runUntilLeader,
  type SendOptions,
  send,
  stateOf,
} from "./scenario.ts";
export {
  type Fails,
  firstViolation,
  type Minimized,
  type MinimizeOptions,
  minimize,
} from "./schedule/minimize.ts";
export { type Schedule, scheduleVersion, sizeOf } from "./schedule/schedule.ts";
export { readSchedule, writeSchedule } from "./schedule/scheduleFile.ts";
export { type ReplayOptions, type SimulationOptions, type SimulationResult, simulate } from "./simulate.ts";
export {
  type MachineSimulation,
  openSimulation,
  runFor,
  type Simulation,
  type WorldOptions,
} from "./simulation.ts";
export { type VirtualClusterOptions, type VirtualRun, virtualCluster } from "./virtual/virtualCluster.ts";
export type { VirtualClientOptions, VirtualWorld } from "./virtual/virtualWorld.ts";
export type { ClientOperation, ScheduledOperation } from "./workload/operation.ts";
export { StoreWorkload } from "./workload/storeClients.ts";
export type { Happening, Workload, WorkloadStats } from "./workload/workload.ts";
export { type Chance, chanceFrom } from "./world/chance.ts";
export { World } from "./world/world.ts";
