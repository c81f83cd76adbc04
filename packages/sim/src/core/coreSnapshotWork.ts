/**
 * What a bare core does about snapshots: takes its own ones, reads and stores chunks, installs, compacts. The node's
 * `SnapshotWork` without promises: each step takes the disk's time, and the process may die before any of them.
 */
import {
  type ChunkLoad,
  configurationAt,
  type Effects,
  type Event,
  type Index,
  type RaftState,
  type ReceivedChunk,
  type SnapshotHeader,
  termAt,
} from "@quorate/raft";
import type { ListMachine } from "../cluster/listMachine.ts";
import type { Checks } from "../invariants/checks.ts";
import { installDurable, installStarted } from "../invariants/disk.ts";
import type { MemberHistory } from "../invariants/history.ts";
import type { CoreDirectory } from "./coreDirectory.ts";
import { checksumOf } from "./coreSnapshots.ts";

export interface CoreSnapshotPorts {
  readonly state: RaftState;
  readonly machine: ListMachine;
  readonly directory: CoreDirectory;
  readonly checks: Checks;
  readonly member: MemberHistory;
  /** A snapshot is taken when so many entries were applied since the last one. */
  readonly everyEntries: number;
  /** After the time that the disk takes; never where it fails. */
  whenDiskDone(run: () => void): void;
  take(event: Event): void;
  /** Nothing is applied until `resume`. */
  hold(): void;
  resume(header: SnapshotHeader): void;
}

type Performed = "chunkLoads" | "chunks" | "install" | "compactTo" | "snapshots" | "snapshotWanted";

/** As of a node: one is under way, and what the network repeats comes on top. */
const maxWaiting = 4;

export class CoreSnapshotWork {
  private readonly ports: CoreSnapshotPorts;
  private takenIndex: number;
  private isTaking = false;
  private isWanted = false;
  /** Received, and not on the disk yet. */
  private readonly chunks: ReceivedChunk[] = [];
  private isStoring = false;

  constructor(ports: CoreSnapshotPorts) {
    this.ports = ports;
    this.takenIndex = ports.state.snapshots.newest?.boundary.index ?? 0;
  }

  perform(effects: Pick<Effects, Performed>): void {
    const { chunkLoads, chunks, install, compactTo } = effects;
    for (const load of chunkLoads) this.load(load);
    for (const chunk of chunks) this.store(chunk);
    if (install !== undefined) this.install(install);
    if (compactTo !== undefined) this.compact(compactTo);
    if (effects.snapshotWanted) this.isWanted = true;
  }

  private load(load: ChunkLoad): void {
    const { directory, take, whenDiskDone } = this.ports;
    const { header, offset, bytes } = load;
    whenDiskDone(() => {
      take({ kind: "chunkLoaded", load, data: directory.snapshots.read(header, offset, bytes) });
    });
  }

  private compact(upTo: Index): void {
    const { directory, whenDiskDone } = this.ports;
    whenDiskDone(() => directory.compact(upTo));
  }

  /** One after the other, however slow the disk is: a chunk of an older snapshot never comes over a newer one. */
  private store(chunk: ReceivedChunk): void {
    if (this.chunks.length >= maxWaiting) return;
    this.chunks.push(chunk);
    if (!this.isStoring) this.storeNext();
  }

  private storeNext(): void {
    const chunk = this.chunks.shift();
    this.isStoring = chunk !== undefined;
    if (chunk === undefined) return;
    this.ports.whenDiskDone(() => {
      this.stored(chunk);
      this.storeNext();
    });
  }

  private stored(chunk: ReceivedChunk): void {
    const { directory, checks, take } = this.ports;
    const { header, offset, data } = chunk.message;
    const here = directory.snapshots.receive(header, offset, data);
    if (here < header.bytes) take({ kind: "chunkStored", chunk, offset: here });
    else if (directory.snapshots.isWhole(header)) {
      take({ kind: "chunkStored", chunk, offset: here });
      take({ kind: "snapshotReceived", header });
    } else {
      checks.history.mark("snapshot found damaged by its receiver");
      take({ kind: "chunkStored", chunk, offset: 0 });
    }
  }

  /** Log, then machine, then the core. */
  private install(header: SnapshotHeader): void {
    const { directory, checks, member, machine, whenDiskDone, take, hold, resume } = this.ports;
    hold();
    installStarted(checks.history, member, header);
    directory.beginInstall(header);
    whenDiskDone(() => {
      directory.finishInstall();
      installDurable(checks.history, member);
      whenDiskDone(() => {
        restoreFrom(machine, directory, header);
        checks.snapshots.restored(member, header, machine.digest());
        this.takenIndex = header.boundary.index;
        resume(header);
        take({ kind: "snapshotInstalled", header });
      });
    });
  }

  /** After each turn. */
  turnEnded(appliedIndex: Index): void {
    const entries = appliedIndex - this.takenIndex;
    const isDue = entries >= this.ports.everyEntries || (this.isWanted && entries > 0);
    if (isDue && !this.isTaking) this.begin(appliedIndex);
  }

  private begin(index: Index): void {
    const { state, machine, whenDiskDone } = this.ports;
    const term = termAt(state.log, index);
    if (term === undefined || machine.appliedIndex !== index) return;
    this.isTaking = true;
    const configuration = configurationAt(state.log, index);
    this.ports.checks.snapshots.viewed(this.ports.member, machine.digest());
    const content = machine.content();
    const checksum = checksumOf(content);
    const chain = (this.ports.checks.history.committed[index - 1]?.hash ?? 0) >>> 0;
    const header = { boundary: { index, term }, chain, configuration, bytes: content.length, checksum };
    whenDiskDone(() => this.finish(header, content));
  }

  /** A follower may apply what it has not written yet, and a snapshot must never be ahead of its log. */
  private finish(header: SnapshotHeader, content: Uint8Array): void {
    const { state, directory, checks, member, take, whenDiskDone } = this.ports;
    const { index } = header.boundary;
    if (state.disk.durableIndex < index) {
      checks.history.mark("snapshot waited for its log");
      whenDiskDone(() => this.finish(header, content));
      return;
    }
    this.isTaking = false;
    if (index <= this.takenIndex || state.snapshots.incoming?.phase === "installing") return;
    this.takenIndex = index;
    this.isWanted = false;
    checks.snapshots.taken(member, header);
    directory.snapshots.keep({ header, content });
    take({ kind: "snapshotTaken", header, compactableTo: directory.snapshots.compactableTo });
  }
}

export function restoreFrom(machine: ListMachine, directory: CoreDirectory, header: SnapshotHeader): void {
  const content = directory.snapshots.read(header, 0, header.bytes);
  if (content === undefined) throw new Error(`the snapshot of entry ${header.boundary.index} is gone`);
  const restoration = machine.restore();
  restoration.add(content);
  restoration.finish();
}
