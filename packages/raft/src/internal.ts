/** @quorate/raft/internal: for sister packages, simulators and tests. No promise of stability. */
export { changeMembers, leaveJoint, promote, towards } from "./core/memberChange.ts";
export { Applier, type ApplierPorts } from "./node/applier.ts";
export { type BirthPorts, BirthProcess } from "./node/birthProcess.ts";
export { CoreDriver, type CoreObserver } from "./node/coreDriver.ts";
export { MembershipWaiters } from "./node/membershipWaiters.ts";
export { coreOptions, resolveRaftOptions } from "./node/options.ts";
export { OwnMembership, removalSentence } from "./node/ownMembership.ts";
export { type MachineGate, PeerRegistry } from "./node/peerRegistry.ts";
export { Preference } from "./node/preference.ts";
export { restoreMachine } from "./node/restoreMachine.ts";
export { RoleNotes } from "./node/roleNotes.ts";
export { type IntakePorts, SnapshotIntake } from "./node/snapshotIntake.ts";
export { SnapshotTaker, type TakerPorts } from "./node/snapshotTaker.ts";
export { Waiters } from "./node/waiters.ts";
