/**
 * One start of one core: takes in what arrives, carries out the effects, feeds the state machine. The node's driver,
 * applier and waiters in one, without a promise.
 *
 *   arrival, timer, disk, client ──▶ step ──▶ turn: takeEffects ──▶ wire, directory, machine, requests
 *
 * A core on a busy process (`slackMs`) ends its turns later and applies later, so that several events share a turn. It
 * decides nothing about Raft.
 */
import {
  asIndex,
  type CoreOptions,
  cachedEntries,
  createState,
  type Effects,
  type Entry,
  type Event,
  type Index,
  type Load,
  type MemberId,
  type Message,
  type Persist,
  type RaftState,
  step,
  takeEffects,
} from "@quorate/raft";
import type { CoreObserver } from "@quorate/raft/internal";
import { encodeSerial, type ListMachine, listMachine } from "../cluster/listMachine.ts";
import { DiskError, type DiskTemper } from "../disk/stores.ts";
import type { Checks } from "../invariants/checks.ts";
import { writeDurable, writeStarted } from "../invariants/disk.ts";
import type { MemberHistory } from "../invariants/history.ts";
import type { Chance } from "../world/chance.ts";
import type { SimulatedProcess } from "../world/process.ts";
import type { World } from "../world/world.ts";
import type { CoreDirectory } from "./coreDirectory.ts";
import { CoreRequests, type ReadEnd, type WriteEnd } from "./coreRequests.ts";
import { CoreSnapshotWork, restoreFrom } from "./coreSnapshotWork.ts";
import type { CoreWire, WireEnd } from "./coreWire.ts";
import type { OnlyFields } from "./onlyFields.ts";

export interface CoreNodePorts {
  readonly world: World;
  readonly checks: Checks;
  readonly wire: CoreWire;
  readonly end: WireEnd;
  readonly process: SimulatedProcess;
  readonly directory: CoreDirectory;
  readonly temper: DiskTemper;
  readonly member: MemberHistory;
  /** Of the disk and the process of this start. */
  readonly chance: Chance;
  /** Entries from one snapshot to the next. */
  readonly snapshotEntries: number;
  /** The disk failed or an invariant of the core was broken: the process must end. */
  failed(error: unknown): void;
}

type Performed =
  | "persist"
  | "send"
  | "loads"
  | "commitIndex"
  | "proposals"
  | "reads"
  | "transfers"
  | "roleChange"
  | "nextDeadlineMs"
  // Nobody asks for a change of membership here, and the wire reaches every host whoever is a member.
  | "memberships"
  | "membership"
  | "chunkLoads"
  | "chunks"
  | "install"
  | "compactTo"
  | "snapshots"
  | "snapshotWanted";

/** Entries that the machine takes in one go. */
const portionEntries = 64;
const portionBytes = 65_536;

export class CoreNode {
  readonly state: RaftState;
  readonly machine: ListMachine = listMachine();
  private readonly ports: CoreNodePorts;
  private readonly requests = new CoreRequests();
  private readonly observer: CoreObserver;
  private readonly snapshots: CoreSnapshotWork;
  private isHeld = false;
  private readonly slackMs: number;
  private appliedIndex: Index;
  private reportedAppliedIndex: Index;
  private lastTransfer = 0;
  private isTurnDue = false;
  private isApplyDue = false;
  private timerAtMs = Number.POSITIVE_INFINITY;
  private disarm: (() => void) | undefined;

  constructor(options: CoreOptions, restored: Parameters<typeof createState>[1], ports: CoreNodePorts) {
    this.ports = ports;
    this.slackMs = ports.chance.pick([0, 0, 0.5, 4]);
    this.observer = ports.checks.observer(ports.end.name, ports.member);
    this.state = createState(options, restored, ports.process.clock.nowMs());
    this.appliedIndex = this.state.appliedIndex;
    this.reportedAppliedIndex = this.state.appliedIndex;
    this.snapshots = this.snapshotWork();
  }

  private snapshotWork(): CoreSnapshotWork {
    const { directory, checks, member, snapshotEntries } = this.ports;
    return new CoreSnapshotWork({
      state: this.state,
      machine: this.machine,
      directory,
      checks,
      member,
      everyEntries: snapshotEntries,
      whenDiskDone: (run) => this.later(this.diskDelayMs(), run),
      take: (event) => this.take(event),
      hold: () => {
        this.isHeld = true;
      },
      resume: ({ boundary: { index } }) => {
        this.isHeld = false;
        this.appliedIndex = index;
        this.reportedAppliedIndex = index;
        this.requests.swallowed(index);
        this.requests.appliedUpTo(index);
      },
    });
  }

  /** The machine is as the snapshot says before anything else happens. */
  private restore(): void {
    const { directory, checks, member } = this.ports;
    const { newest } = this.state.snapshots;
    if (newest === undefined) return;
    restoreFrom(this.machine, directory, newest);
    checks.snapshots.restored(member, newest, this.machine.digest());
  }

  /** Its first turn. */
  begin(): void {
    this.observer.started?.(this.state);
    this.guarded(() => {
      this.restore();
      this.turn();
    });
  }

  digest(): string {
    return this.machine.digest();
  }

  receive(from: MemberId, messages: readonly Message[]): void {
    try {
      for (const message of messages) this.step({ kind: "received", from, message });
      this.endTurn();
    } catch (error) {
      this.ports.failed(error);
    }
  }

  /** Asks it to hand leadership over, if it leads; marks what came of it. */
  transfer(target: MemberId | undefined): void {
    this.lastTransfer += 1;
    this.take({ kind: "transferRequested", id: this.lastTransfer, target });
  }

  /** The peer's process closed its connections. */
  peerLost(peer: MemberId): void {
    this.take({ kind: "peerLost", peer });
  }

  write(serial: number, tell: (end: WriteEnd) => void): void {
    const id = this.requests.write(tell);
    this.take({ kind: "proposed", id, entry: "command", data: encodeSerial(serial) });
  }

  read(tell: (end: ReadEnd) => void): void {
    this.take({ kind: "readRequested", id: this.requests.read(tell) });
  }

  // --- turns

  private take(event: Event): void {
    try {
      this.step(event);
      this.endTurn();
    } catch (error) {
      this.ports.failed(error);
    }
  }

  private step(event: Event): void {
    const nowMs = this.ports.process.clock.nowMs();
    step(this.state, event, nowMs);
    this.observer.stepped?.(this.state, event, nowMs);
  }

  private endTurn(): void {
    if (this.slackMs === 0) this.turn();
    else if (!this.isTurnDue) this.turnLater();
  }

  private turnLater(): void {
    this.isTurnDue = true;
    this.later(this.ports.chance.fraction() * this.slackMs, () => {
      this.isTurnDue = false;
      this.turn();
    });
  }

  private turn(): void {
    if (this.appliedIndex > this.reportedAppliedIndex) {
      this.reportedAppliedIndex = this.appliedIndex;
      this.step({ kind: "applied", upTo: this.appliedIndex });
    }
    const effects = takeEffects(this.state);
    this.observer.effectsTaken?.(this.state, effects);
    this.perform(effects);
  }

  private perform(effects: OnlyFields<Effects, Performed>): void {
    const { persist, send, loads, commitIndex, proposals, reads, transfers } = effects;
    const { roleChange, nextDeadlineMs } = effects;
    for (const outcome of proposals) this.requests.proposalAnswered(outcome);
    for (const { kind } of transfers) {
      const isOver = kind === "handedOver" && this.state.role !== "leader";
      this.ports.checks.history.mark(isOver ? "leadership transferred" : "transfer came to nothing");
    }
    if (roleChange !== undefined && roleChange.role !== "leader") this.requests.leadershipLost();
    if (send.length > 0) this.send(send);
    if (persist !== undefined) this.persist(persist);
    for (const load of loads) this.load(load);
    this.snapshots.perform(effects);
    if (effects.chunks.length > 0) this.requests.readElsewhere();
    if (commitIndex > this.appliedIndex) this.arrangeApply();
    for (const outcome of reads) this.requests.readAnswered(outcome, this.appliedIndex);
    this.snapshots.turnEnded(this.appliedIndex);
    this.armTimer(nextDeadlineMs);
  }

  private send(envelopes: Effects["send"]): void {
    const { checks, member, wire, end } = this.ports;
    for (const { to, message } of envelopes) checks.sending(member, to, message);
    wire.send(end, envelopes);
  }

  // --- disk

  private persist(persist: Persist): void {
    const { world, checks, directory, temper, member, failed } = this.ports;
    writeStarted(checks.history, member, persist);
    directory.begin(persist);
    this.later(this.diskDelayMs(), () => {
      if (temper.failsNext) {
        temper.failsNext = false;
        temper.hasFailed = true;
        world.trace.note(this.ports.end.name, "disk: a write fails with EIO");
        failed(new DiskError("EIO", "write"));
        return;
      }
      directory.finish();
      writeDurable(checks.history, member);
      this.take({ kind: "persisted", sequence: persist.sequence });
    });
  }

  /** What was compacted meanwhile is not asked for any more. */
  private load(load: Load): void {
    this.later(this.diskDelayMs(), () => {
      if (load.from <= this.ports.directory.boundaryIndex) return;
      const entries = this.ports.directory.read(load.from, load.to, load.maxBytes);
      this.take({ kind: "loaded", load, entries });
    });
  }

  private diskDelayMs(): number {
    const { world, temper, chance } = this.ports;
    const { nowMs } = world.timeline;
    const latencyMs = 0.125 + chance.exponential(temper.meanLatencyMs);
    return Math.max(nowMs + latencyMs, temper.hangsUntilMs) - nowMs;
  }

  // --- state machine

  private arrangeApply(): void {
    if (this.isHeld) return;
    if (this.slackMs === 0) {
      while (this.appliedIndex < this.state.commitIndex) this.applyPortion();
    } else if (!this.isApplyDue) this.applyLater();
  }

  private applyLater(): void {
    this.isApplyDue = true;
    this.later(this.ports.chance.fraction() * this.slackMs, () => {
      this.isApplyDue = false;
      this.applyPortion();
      this.endTurn();
    });
  }

  private applyPortion(): void {
    const { checks, member } = this.ports;
    if (this.isHeld) return;
    for (const entry of this.committedEntries()) {
      const result = this.machine.apply(entry);
      checks.application.applies(member, entry, result);
      this.appliedIndex = entry.index;
      this.requests.entryApplied(entry, result);
    }
    this.requests.appliedUpTo(this.appliedIndex);
  }

  private committedEntries(): readonly Entry[] {
    const { state } = this;
    const from = asIndex(this.appliedIndex + 1);
    const to = asIndex(Math.min(state.commitIndex, this.appliedIndex + portionEntries));
    const cached = cachedEntries(state, from, to, portionBytes);
    // What left the memory is durable; beyond the durable index the directory may hold what another leader once sent.
    return (
      cached ?? this.ports.directory.read(from, asIndex(Math.min(to, state.disk.durableIndex)), portionBytes)
    );
  }

  // --- time

  private armTimer(deadlineMs: number): void {
    // One that is due earlier than needed fires once for nothing, which is cheaper than arming anew each turn.
    if (deadlineMs < this.timerAtMs) this.armAnew(deadlineMs);
  }

  private armAnew(deadlineMs: number): void {
    this.disarm?.();
    this.timerAtMs = deadlineMs;
    const { clock } = this.ports.process;
    this.disarm = clock.after(Math.max(0, Math.ceil(deadlineMs - clock.nowMs())), () => {
      this.timerAtMs = Number.POSITIVE_INFINITY;
      this.take({ kind: "tick" });
    });
  }

  private later(delayMs: number, run: () => void): void {
    const { world, process } = this.ports;
    world.timeline.place(delayMs, process, () => this.guarded(run));
  }

  private guarded(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.ports.failed(error);
    }
  }
}
