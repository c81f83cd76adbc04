/**
 * The log store once it is open: each call becomes one witnessed batch, or a verified read.
 *
 * Writes go one after the other. The first failure is final: whether the failed write is on the disk is
 * unknown, so nothing more is written, read or promised, and every later call rejects with that first
 * cause.
 */
import {
  asIndex,
  type BatchOperation,
  type Birth,
  type Boundary,
  type Entry,
  type Identity,
  type Index,
  incarnationOf,
  invariant,
  type Logger,
  type LogStore,
  type MemberId,
  nodeIdOf,
  type Persist,
  QuorateError,
  type RestoredState,
  type Seen,
  type SnapshotFiles,
  type SnapshotHeader,
  type Standing,
} from "@quorate/raft";
import { FileSnapshotStore, type SnapshotContext } from "../snapshots/fileSnapshotStore.ts";
import type { StoredSnapshot } from "../snapshots/findSnapshots.ts";
import { encodeBirth } from "./birthRecord.ts";
import { equalBytes } from "./bytes.ts";
import { EntryRun } from "./entryRun.ts";
import { birthKey, deletions, seenKey } from "./keys.ts";
import { positionAt, type ReadResult, readEntries } from "./readEntries.ts";
import { restoredState } from "./restoredState.ts";
import { scanLog } from "./scan.ts";
import { encodeSeen, maxSeenMembers } from "./seenRecord.ts";
import type { Membership, Position, StateRecord } from "./stateRecord.ts";
import type { Tail } from "./tail.ts";
import { type Stores, writeWitnessed } from "./witness.ts";

/** What the opening found, and where it is. */
export interface Opened {
  readonly stores: Stores;
  /** For sentences: the directory's path. */
  readonly location: string;
  /** As the opening wrote and witnessed it. */
  readonly record: StateRecord;
  readonly tail: Tail;
  readonly standing: Standing;
  readonly seen: Map<MemberId, Seen>;
  readonly snapshots: SnapshotFiles;
  readonly kept: readonly StoredSnapshot[];
  readonly logger: Logger;
}

/** Longest quarantine reason that is kept; with it a state record still fits into a slot. */
const maxReasonLength = 150;

/** Entries that one batch deletes: other writes go on between two. */
const deletedAtOnce = 512;

export class ChainedLog implements LogStore {
  readonly identity: Identity;
  readonly boot: number;
  readonly snapshots: FileSnapshotStore;
  private readonly stores: Stores;
  private readonly location: string;
  private readonly tail: Tail;
  private readonly seenPeers: Map<MemberId, Seen>;
  private record: StateRecord;
  private currentStanding: Standing;
  private failure: QuorateError | undefined;
  private lastStep: Promise<void> = Promise.resolve();
  private closing: Promise<void> | undefined;

  constructor(opened: Opened) {
    const { member, boot } = opened.record;
    this.identity = { nodeId: nodeIdOf(member), incarnation: incarnationOf(member) };
    this.boot = boot;
    this.stores = opened.stores;
    this.location = opened.location;
    this.tail = opened.tail;
    this.seenPeers = opened.seen;
    this.record = opened.record;
    this.currentStanding = opened.standing;
    const { snapshots: files, location, logger, kept } = opened;
    const context: SnapshotContext = {
      files,
      location,
      logger,
      chainAt: (boundary) => this.chainAt(boundary),
      begins: () => this.record.boundary,
      membership: () => this.membership(),
    };
    this.snapshots = new FileSnapshotStore(context, kept);
  }

  get sequence(): number {
    return this.record.k;
  }

  get standing(): Standing {
    return this.currentStanding;
  }

  get seen(): ReadonlyMap<MemberId, Seen> {
    return this.seenPeers;
  }

  promise(founder: MemberId): Promise<void> {
    return this.inTurn(async () => {
      const { currentStanding: standing } = this;
      if (standing.kind !== "unborn") throw this.refused(`it is ${standing.kind} and takes no other founder`);
      if (standing.promisedTo === founder) return;
      if (standing.promisedTo !== undefined) throw this.refused(promisedElsewhere(standing.promisedTo));
      await this.commit([], { promisedTo: founder });
      this.currentStanding = { kind: "unborn", promisedTo: founder };
    });
  }

  bear(birth: Birth): Promise<RestoredState> {
    return this.inTurn(async () => {
      const { bytes, genesis } = encodeBirth(birth);
      const { currentStanding: standing, record } = this;
      const { membership } = record;
      if (standing.kind === "born") {
        if (equalBytes(encodeBirth(standing.birth).bytes, bytes)) return standing.restored;
        throw this.refused(`it is already a member of cluster ${standing.birth.clusterId}`);
      }
      if (membership !== undefined && membership.genesis !== genesis) {
        throw this.refused(`it was a member of cluster ${membership.clusterId}, born with other words`);
      }
      const put: BatchOperation = { kind: "put", key: birthKey, value: bytes };
      const start: Position = { ...record.boundary, chain: genesis };
      const newborn = { membership: { clusterId: birth.clusterId, genesis }, boundary: start, last: start };
      await this.commit([put], membership === undefined ? newborn : {});
      if (membership === undefined) this.tail.cutTo(start);
      const restored = await this.restore(birth);
      this.currentStanding = { kind: "born", birth, restored };
      return restored;
    });
  }

  write(persist: Persist): Promise<void> {
    return this.inTurn(async () => {
      invariant(this.currentStanding.kind === "born", "only a member's log is written to");
      const { term, vote, floor, truncateFrom, entries } = persist;
      const doomed: BatchOperation[] = [];
      let kept = this.tail.last;
      if (truncateFrom !== undefined && truncateFrom <= kept.index) {
        doomed.push(...deletions(truncateFrom, kept.index));
        kept = await this.positionOf(asIndex(truncateFrom - 1));
      }
      const run = new EntryRun(kept, entries);
      await this.commit(chained(doomed, run.operations()), () => ({ term, vote, floor, last: run.last }));
      if (kept.index < this.tail.last.index) this.tail.cutTo(kept);
      for (const position of run.positions) this.tail.push(position);
    });
  }

  async read(from: Index, to: Index, maxBytes: number): Promise<readonly Entry[]> {
    this.assertUsable();
    const early = await this.readNow(from, to, maxBytes);
    if (early.kind === "entries") return early.entries;
    // A truncation may have run beside it: only what is wrong between two writes is a fault.
    return this.inTurn(async () => {
      const settled = await this.readNow(from, to, maxBytes);
      if (settled.kind === "entries") return settled.entries;
      throw this.checksumFault(settled.fault);
    });
  }

  async compact(upTo: Index): Promise<void> {
    const from = await this.inTurn(async () => {
      const { index } = this.record.boundary;
      if (upTo <= index) return upTo;
      const compactableTo = this.snapshots.compactableTo ?? index;
      invariant(upTo <= compactableTo, "the log reaches back to two snapshots", { upTo, compactableTo });
      await this.commit([], { boundary: await this.positionOf(upTo) });
      return index;
    });
    await this.deleteEntries(from, upTo);
  }

  async install(header: SnapshotHeader): Promise<RestoredState> {
    const snapshot = this.snapshots.receivedOf(header);
    const { index } = header.boundary;
    const [from, restored] = await this.inTurn(async () => {
      const { currentStanding: standing } = this;
      invariant(standing.kind === "born", "only a member installs a snapshot");
      const { boundary } = this.record;
      invariant(index > boundary.index, "a snapshot before the log's boundary is not installed", { index });
      await this.begin(header);
      this.snapshots.installed(snapshot);
      const state = await this.restore(standing.birth);
      this.currentStanding = { ...standing, restored: state };
      return [boundary.index, state] as const;
    });
    await this.deleteEntries(from, index);
    return restored;
  }

  async remember(peer: MemberId, seen: Seen): Promise<void> {
    this.assertUsable();
    const known = this.seenPeers.get(peer) ?? { start: "", boot: 0, sequence: 0 };
    const raised: Seen = {
      start: seen.start,
      boot: Math.max(known.boot, seen.boot),
      sequence: Math.max(known.sequence, seen.sequence),
    };
    this.seenPeers.delete(peer);
    this.seenPeers.set(peer, raised);
    for (const oldest of this.seenPeers.keys()) {
      if (this.seenPeers.size <= maxSeenMembers) break;
      this.seenPeers.delete(oldest);
    }
    if (raised.boot === known.boot && raised.start === known.start) return;
    await this.inTurn(async () => {
      const { bytes, checksum } = encodeSeen(this.seenPeers);
      await this.commit([{ kind: "put", key: seenKey, value: bytes }], { seen: checksum });
    });
  }

  quarantine(reason: string): Promise<void> {
    return this.inTurn(async () => {
      const kept = reason.slice(0, maxReasonLength);
      await this.commit([], { quarantine: kept });
      this.failure = new QuorateError("DATA_LOST", `${this.location} is quarantined: ${kept}`);
    });
  }

  close(): Promise<void> {
    this.closing ??= this.lastStep.then(async () => {
      this.failure ??= new QuorateError("CLOSED", `The log in ${this.location} is closed.`);
      await this.snapshots.close();
      await this.stores.slots.close();
      await this.stores.batches.close();
    });
    return this.closing;
  }

  /** One batch: the boundary is the snapshot's, and what is not known to follow it is gone. */
  private async begin({ boundary, chain }: SnapshotHeader): Promise<void> {
    const { record } = this;
    const start: Position = { ...boundary, chain };
    const before = record.last.index < start.index ? undefined : await this.positionOf(start.index);
    const follows = before?.term === start.term;
    if (follows && before.chain !== chain) {
      throw this.checksumFault(`entry ${start.index} is not the one that a snapshot was taken after`);
    }
    const doomed = follows ? [] : deletions(start.index + 1, record.last.index);
    const risen = start.term > record.term;
    await this.commit(doomed, {
      boundary: start,
      last: follows ? record.last : start,
      term: risen ? start.term : record.term,
      vote: risen ? undefined : record.vote,
    });
    if (!follows) this.tail.restart(start);
  }

  /** Those after `from` up to `to`, all of them behind the boundary. */
  private async deleteEntries(from: Index, to: Index): Promise<void> {
    for (let first = from + 1; first <= to; first += deletedAtOnce) {
      const last = Math.min(to, first + deletedAtOnce - 1);
      await this.inTurn(async () => {
        const removal = this.stores.batches.write(deletions(first, last));
        await this.writing(removal, `Removing entries ${first} to ${last} from`);
      });
    }
  }

  private async chainAt({ index, term }: Boundary): Promise<number> {
    const position = await this.inTurn(() => this.positionOf(index));
    invariant(position.term === term, "a snapshot is of an entry that the log holds", { index, term });
    return position.chain;
  }

  private membership(): Membership {
    const { membership } = this.record;
    invariant(membership !== undefined, "only a member has snapshots");
    return membership;
  }

  private readNow(from: Index, to: Index, maxBytes: number): Promise<ReadResult> {
    if (from <= this.record.boundary.index) return Promise.resolve({ kind: "entries", entries: [] });
    const end = asIndex(Math.min(to, this.tail.last.index));
    return this.reading(readEntries(this.stores.batches, this.tail, from, end, maxBytes));
  }

  private async restore(birth: Birth): Promise<RestoredState> {
    const { boundary, last } = this.record;
    const scan = await this.reading(scanLog(this.stores.batches, boundary, last));
    if (scan.fault !== undefined) throw this.checksumFault(scan.fault);
    return restoredState(this.record, birth, scan, this.snapshots.kept[0]);
  }

  /** Of an entry from the boundary to the log's end. */
  private async positionOf(index: Index): Promise<Position> {
    const { boundary, last } = this.record;
    invariant(index >= boundary.index && index <= last.index, "the log holds the entry", { index, boundary });
    if (index === boundary.index) return boundary;
    const position = await this.reading(positionAt(this.stores.batches, this.tail, index));
    if (position !== undefined) return position;
    throw this.checksumFault(`entry ${index} is missing or damaged`);
  }

  /** A store that cannot be read has failed as much as one that cannot be written. */
  private async reading<T>(result: Promise<T>): Promise<T> {
    try {
      return await result;
    } catch (cause) {
      throw this.fail(`Reading ${this.location} failed (${messageOf(cause)}).`, cause);
    }
  }

  /** `change` may hang on the operations: it is asked for when they were taken. */
  private async commit(
    operations: Iterable<BatchOperation>,
    change: Partial<StateRecord> | (() => Partial<StateRecord>),
  ): Promise<void> {
    const before = this.record;
    const k = before.k + 1;
    const recordOf = (): StateRecord => ({
      ...before,
      ...(typeof change === "function" ? change() : change),
      k,
    });
    this.record = await this.writing(writeWitnessed(this.stores, operations, recordOf), `Write ${k} to`);
  }

  private async writing<T>(result: Promise<T>, what: string): Promise<T> {
    try {
      return await result;
    } catch (cause) {
      throw this.fail(
        `${what} ${this.location} failed (${messageOf(cause)}); whether it is on the disk ` +
          "is unknown, and nothing was promised on it.",
        cause,
      );
    }
  }

  private fail(sentence: string, cause: unknown): QuorateError {
    const advice =
      "The node stops; find the cause (a full or failing disk?), remove it, and start the node again.";
    this.failure ??= new QuorateError("STORAGE_FAILED", `${sentence} ${advice}`, {
      outcome: "unknown",
      cause,
    });
    return this.failure;
  }

  private checksumFault(fault: string): QuorateError {
    return this.fail(`Checksum fault in ${this.location}: ${fault}.`, undefined);
  }

  private refused(why: string): QuorateError {
    return new QuorateError("REFUSED", `Node ${this.identity.nodeId} refuses a birth: ${why}.`);
  }

  private assertUsable(): void {
    if (this.failure !== undefined) throw this.failure;
    if (this.closing !== undefined)
      throw new QuorateError("CLOSED", `The log in ${this.location} is closed.`);
  }

  /** One step at a time, in the order of the calls; none after a failure. */
  private inTurn<T>(step: () => Promise<T>): Promise<T> {
    const result = this.lastStep.then(() => {
      if (this.failure !== undefined) throw this.failure;
      return step();
    });
    this.lastStep = result.then(
      () => undefined,
      () => undefined, // the caller has the rejection; what must stay is in `failure`
    );
    return result;
  }
}

function* chained<T>(first: Iterable<T>, then: Iterable<T>): Generator<T, void> {
  yield* first;
  yield* then;
}

function promisedElsewhere(founder: MemberId): string {
  return `it is promised to the founder ${founder}; wipe the directory to free it, for it holds nothing yet`;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
