/** What a node needs from the world, a file a port. */
export type { BatchOperation, BatchStore, SlotFile } from "./batchStore.ts";
export type {
  BirthAck,
  BirthMessage,
  BirthNotice,
  BirthPromise,
  BirthQuery,
  BirthRefusal,
  PeerAddress,
} from "./birthMessages.ts";
export type { Cancel, Clock } from "./clock.ts";
export { type LogFields, type Logger, silentLogger } from "./logger.ts";
export type { Birth, Identity, LogStore, Seen, Standing } from "./logStore.ts";
export {
  type Answer,
  type Channel,
  type ChannelHandlers,
  type CloseCause,
  ConnectionRefusedError,
  type DialOptions,
  type Hello,
  type Listener,
  type Network,
  type Refusal,
} from "./network.ts";
export { type Random, randomHex } from "./random.ts";
export type { SnapshotFile, SnapshotFiles } from "./snapshotFiles.ts";
export type { SnapshotReceiver, SnapshotStore, SnapshotWriter } from "./snapshotStore.ts";
export {
  isSnapshotting,
  type MachineVersions,
  type Snapshotting,
  type StateMachine,
  type StateRestoration,
  type StateView,
} from "./stateMachine.ts";
export type { PeerHello, PeerMessage, PeerTarget, Transport, TransportHandlers } from "./transport.ts";
