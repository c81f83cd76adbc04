/**
 * Carries out what the core decides about snapshots, and takes the node's own ones: the only place in the runtime where
 * log store, machine and applier meet over them.
 *
 *   effects: chunkLoads ──▶ read     chunks ──▶ store     install ──▶ log, then machine, then the core     compactTo
 *
 * What fails over a snapshot is told and tried again. What fails once the log begins at one stops the node.
 */
import type { Effects, Event, Index, RaftState, SnapshotHeader } from "../core/index.ts";
import type { Clock, LogStore, Snapshotting, StateMachine } from "../ports/index.ts";
import type { ResolvedRaftOptions } from "./options.ts";
import { restoreMachine } from "./restoreMachine.ts";
import type { SnapshotEvent } from "./snapshotEvents.ts";
import { SnapshotIntake } from "./snapshotIntake.ts";
import { SnapshotSource } from "./snapshotSource.ts";
import { SnapshotTaker } from "./snapshotTaker.ts";

export interface SnapshotPorts {
  readonly clock: Clock;
  readonly log: LogStore;
  readonly machine: StateMachine<unknown> & Snapshotting;
  readonly options: ResolvedRaftOptions;
  readonly state: RaftState;
  push(event: Event): void;
  /** Nothing is applied from here until `resume`. */
  hold(): void;
  /** The machine has the state of the snapshot. */
  resume(header: SnapshotHeader): void;
  emit(event: SnapshotEvent): void;
  /** The node must stop. */
  failed(error: unknown): void;
}

type Performed = "chunkLoads" | "chunks" | "install" | "compactTo" | "snapshots" | "snapshotWanted";

export class SnapshotWork {
  readonly #ports: SnapshotPorts;
  readonly #taker: SnapshotTaker;
  readonly #intake: SnapshotIntake;
  readonly #source: SnapshotSource;
  /** Reads of the log that are under way: none of them is to find its entries gone. */
  #reading = 0;
  #compactDue: Index | undefined;
  #isCompacting = false;
  #isStopped = false;

  constructor(ports: SnapshotPorts) {
    this.#ports = ports;
    const { log, push } = ports;
    this.#taker = new SnapshotTaker({
      ...ports,
      taken: (header, durationMs) => this.#taken(header, durationMs),
      failed: (error) => this.#tellFailure("take", error),
    });
    this.#intake = new SnapshotIntake({
      snapshots: log.snapshots,
      push,
      failed: (error) => this.#tellFailure("receive", error),
    });
    this.#source = new SnapshotSource({
      snapshots: log.snapshots,
      push,
      failed: (error) => this.#tellFailure("send", error),
    });
  }

  perform(effects: Pick<Effects, Performed>): void {
    for (const progress of effects.snapshots) {
      this.#source.progressed(progress);
      const { peer, header, kind } = progress;
      this.#ports.emit({ kind: "snapshotTransfer", peer, index: header.boundary.index, progress: kind });
    }
    for (const load of effects.chunkLoads) this.#source.load(load);
    for (const chunk of effects.chunks) this.#intake.take(chunk);
    if (effects.install !== undefined) void this.#install(effects.install);
    if (effects.compactTo !== undefined) this.#compactDue = effects.compactTo;
    if (effects.snapshotWanted) this.#taker.want();
    if (this.#compactDue !== undefined) this.#compact();
  }

  applied(bytes: number): void {
    this.#taker.applied(bytes);
  }

  turnEnded(appliedIndex: Index): void {
    this.#taker.progressed(appliedIndex);
  }

  /** A read of the log is under way until the promise settles. */
  async reading<T>(read: Promise<T>): Promise<T> {
    this.#reading += 1;
    try {
      return await read;
    } finally {
      this.#reading -= 1;
      if (this.#compactDue !== undefined) this.#compact();
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#compactDue = undefined;
    this.#taker.stop();
    this.#intake.stop();
    this.#source.stop();
  }

  #taken(header: SnapshotHeader, durationMs: number): void {
    if (this.#isStopped) return;
    const { log, push, emit } = this.#ports;
    push({ kind: "snapshotTaken", header, compactableTo: log.snapshots.compactableTo });
    const { boundary, bytes } = header;
    emit({ kind: "snapshotTaken", index: boundary.index, bytes, durationMs });
  }

  /** The core counts these entries as gone already: nobody asks for them any more. */
  #compact(): void {
    const upTo = this.#compactDue;
    if (upTo === undefined || this.#reading > 0 || this.#isCompacting || this.#isStopped) return;
    this.#compactDue = undefined;
    this.#isCompacting = true;
    this.#ports.log.compact(upTo).then(
      () => {
        this.#isCompacting = false;
        this.#ports.emit({ kind: "compacted", index: upTo });
        this.#compact();
      },
      (error: unknown) => this.#ports.failed(error),
    );
  }

  async #install(header: SnapshotHeader): Promise<void> {
    const { clock, log, machine, hold, resume, push, emit, failed } = this.#ports;
    try {
      hold();
      this.#intake.forget();
      await this.#taker.cancel();
      await log.install(header);
      await restoreMachine(machine, log.snapshots, header, clock);
      if (this.#isStopped) return;
      this.#taker.installed(header);
      resume(header);
      push({ kind: "snapshotInstalled", header });
      emit({ kind: "snapshotInstalled", index: header.boundary.index, bytes: header.bytes });
    } catch (error) {
      failed(error);
    }
  }

  #tellFailure(what: "take" | "receive" | "send", error: unknown): void {
    if (this.#isStopped) return;
    const reason = error instanceof Error ? error.message : String(error);
    this.#ports.emit({ kind: "snapshotFailed", what, reason });
  }
}
