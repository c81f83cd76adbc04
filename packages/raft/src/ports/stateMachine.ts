/** What a log is replicated for. */
import type { Entry } from "../core/types.ts";

/** The whole state as of one entry. It stays as it is while the machine goes on. */
export interface StateView {
  /**
   * The content of a snapshot, made as it is pulled: pieces of about 64 KiB, none of which takes more than a few
   * milliseconds. Equal states need not give equal pieces. Asked for once: a view need not keep what was pulled.
   */
  chunks(): Iterable<Uint8Array>;
}

/** A state that is built beside the machine's own. */
export interface StateRestoration {
  /** The next piece, cut anywhere; it may alias a buffer that is used again. Throws where it is malformed. */
  add(chunk: Uint8Array): void;
  /** Puts the new state in the place of the old one. Throws where the content is not whole: then nothing changed. */
  finish(): void;
}

/** What a machine needs for its log to be compacted. */
export interface Snapshotting {
  /** As of the last entry that was applied, in O(1): copy-on-write. */
  view(): StateView;
  restore(): StateRestoration;
}

/**
 * What entries a machine understands, as a number that rises with each release that adds kinds of them. A log is of the
 * version that its entries have said (in words of the machine's own), and whoever knows less would misread it.
 */
export interface MachineVersions {
  /** The newest that this release knows, from 1: shown to the other members. */
  readonly known: number;
  /** That entries may be of by now, or are about to be: who knows less is not spoken with. Rises while a node runs. */
  readonly required: number;
}

/** A machine that is not `Snapshotting` keeps its whole log, and is given all of it again at each start. */
export interface StateMachine<Result> extends Partial<Snapshotting> {
  /** A machine without has version 1 for ever. */
  readonly versions?: MachineVersions;
  /**
   * Called once for every committed entry of any kind, in order, and again after a restart: from the entry after the
   * snapshot that was restored, or from the first. Deterministic: it reads the entry and its own state, nothing else.
   * An exception stops the node.
   */
  apply(entry: Entry): Result;
}

/** Whether the log of this machine can be compacted. */
export function isSnapshotting<Result>(
  machine: StateMachine<Result>,
): machine is StateMachine<Result> & Snapshotting {
  return machine.view !== undefined && machine.restore !== undefined;
}
