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
  type Entry,
  type Identity,
  type Index,
  incarnationOf,
  invariant,
  type LogStore,
  type MemberId,
  nodeIdOf,
  type Persist,
  QuorateError,
  type RestoredState,
  type Seen,
  type SnapshotStore,
  type Standing,
} from "@quorate/raft";
import { encodeBirth } from "./birthRecord.ts";
import { equalBytes } from "./bytes.ts";
import { encodeEntry } from "./entryRecord.ts";
import { birthKey, entryKey, seenKey } from "./keys.ts";
import { positionAt, type ReadResult, readEntries } from "./readEntries.ts";
import { restoredState } from "./restoredState.ts";
import { scanLog } from "./scan.ts";
import { encodeSeen, maxSeenMembers } from "./seenRecord.ts";
import type { Position, StateRecord } from "./stateRecord.ts";
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
}

/** Longest quarantine reason that is kept; with it a state record still fits into a slot. */
const maxReasonLength = 150;

function notYet(): QuorateError {
  return new QuorateError("UNAVAILABLE", "This version keeps no snapshots.");
}

const noSnapshots: SnapshotStore = {
  kept: [],
  compactableTo: undefined,
  write: async () => {
    throw notYet();
  },
  receive: async () => {
    throw notYet();
  },
  read: async () => {
    throw notYet();
  },
  retain: () => () => {},
};

export class ChainedLog implements LogStore {
  readonly identity: Identity;
  readonly boot: number;
  readonly snapshots: SnapshotStore = noSnapshots;
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
      const operations: BatchOperation[] = [];
      let end = this.tail.last;
      if (truncateFrom !== undefined && truncateFrom <= end.index) {
        for (let index = end.index; index >= truncateFrom; index = asIndex(index - 1)) {
          operations.push({ kind: "delete", key: entryKey(index) });
        }
        end = await this.positionBefore(truncateFrom);
      }
      const kept = end;
      const added: Position[] = [];
      for (const entry of entries) {
        invariant(entry.index === end.index + 1, "entries are consecutive", {
          after: end.index,
          index: entry.index,
        });
        const { bytes, chain } = encodeEntry(entry, end.chain);
        operations.push({ kind: "put", key: entryKey(entry.index), value: bytes });
        end = { index: entry.index, term: entry.term, chain };
        added.push(end);
      }
      await this.commit(operations, { term, vote, floor, last: end });
      if (kept.index < this.tail.last.index) this.tail.cutTo(kept);
      for (const position of added) this.tail.push(position);
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

  async compact(): Promise<void> {
    throw notYet();
  }

  async install(): Promise<RestoredState> {
    throw notYet();
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
      await this.stores.slots.close();
      await this.stores.batches.close();
    });
    return this.closing;
  }

  private readNow(from: Index, to: Index, maxBytes: number): Promise<ReadResult> {
    const end = asIndex(Math.min(to, this.tail.last.index));
    return this.reading(readEntries(this.stores.batches, this.tail, from, end, maxBytes));
  }

  private async restore(birth: Birth): Promise<RestoredState> {
    const { boundary, last } = this.record;
    const scan = await this.reading(scanLog(this.stores.batches, boundary, last));
    if (scan.fault !== undefined) throw this.checksumFault(scan.fault);
    return restoredState(this.record, birth, scan.termRuns, scan.configurations);
  }

  private async positionBefore(index: Index): Promise<Position> {
    const { boundary } = this.record;
    invariant(index > boundary.index, "nothing below the boundary is truncated", { index, boundary });
    if (index - 1 === boundary.index) return boundary;
    const position = await this.reading(positionAt(this.stores.batches, this.tail, asIndex(index - 1)));
    if (position !== undefined) return position;
    throw this.checksumFault(`entry ${index - 1} is missing or damaged`);
  }

  /** A store that cannot be read has failed as much as one that cannot be written. */
  private async reading<T>(result: Promise<T>): Promise<T> {
    try {
      return await result;
    } catch (cause) {
      throw this.fail(`Reading ${this.location} failed (${messageOf(cause)}).`, cause);
    }
  }

  private async commit(operations: readonly BatchOperation[], change: Partial<StateRecord>): Promise<void> {
    const record: StateRecord = { ...this.record, ...change, k: this.record.k + 1 };
    try {
      await writeWitnessed(this.stores, operations, record);
    } catch (cause) {
      throw this.fail(
        `Write ${record.k} to ${this.location} failed (${messageOf(cause)}); whether it is on the disk ` +
          "is unknown, and nothing was promised on it.",
        cause,
      );
    }
    this.record = record;
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

function promisedElsewhere(founder: MemberId): string {
  return `it is promised to the founder ${founder}; wipe the directory to free it, for it holds nothing yet`;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
