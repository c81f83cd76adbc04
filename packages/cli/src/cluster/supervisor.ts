/**
 * Keeps a cluster's node processes: starts them, starts again what crashed, stops them in turn. Everything outside
 * (processes, time, who is told) comes in through its parameters. Must never start a node again that a storage fault
 * stopped, and never leave one behind.
 */
import type { Clock } from "@quorate/raft";
import { exitCodes } from "../exitCodes.ts";
import type { NodeMessage, NodeSummary } from "../node/nodeMessages.ts";
import type { NodeProcess, NodeSpec, StartNode } from "./nodeProcess.ts";
import { restartDelayMs, stableAfterMs } from "./restartDelay.ts";
import { nodeViews, type Slot } from "./slots.ts";
import type { SupervisorEvent } from "./supervisorEvents.ts";

/** A node that is asked to stop may take this long before the next one's turn. */
const turnMs = 1_000;
/** After this long, all that are left are killed. */
const stopDeadlineMs = 3_000;
/** Reports of the nodes within this time make one status event. */
const gatherMs = 100;
/** A majority that serves is called ready this long after it could be, even if another node is not. */
const readyGraceMs = 2_000;

export interface SupervisorOptions {
  readonly nodes: readonly NodeSpec[];
  readonly dataDir: string;
  readonly startNode: StartNode;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly report: (event: SupervisorEvent) => void;
}

export class Supervisor {
  /** Resolves with the exit code once no node is left. */
  readonly finished: Promise<number>;
  readonly #options: SupervisorOptions;
  readonly #slots: readonly Slot[];
  #finish: (exitCode: number) => void = () => {};
  #stopping = false;
  #ready = false;
  #graceStarted = false;
  #statusScheduled = false;
  #leader: { id: string; term: number } | undefined;
  #exitWaiters: (() => void)[] = [];

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#slots = options.nodes.map((spec) => newSlot(spec));
    this.finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** Starts every node. Nothing is reported before the first turn of the event loop is over. */
  start(): void {
    for (const slot of this.#slots) this.#startNode(slot);
    queueMicrotask(() => {
      const nodes = this.#slots.map(({ spec, process }) => startedNode(spec, process));
      this.#options.report({ kind: "starting", nodes, dataDir: this.#options.dataDir });
    });
  }

  /** Asks the nodes to stop, followers first, so that the others keep their leader as long as they can use one. */
  async stop(): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#options.report({ kind: "stopping" });
    for (const slot of this.#slots) slot.cancelRestart();
    const cancelDeadline = this.#options.clock.after(stopDeadlineMs, () => this.#killAll());
    const isLeader = (slot: Slot): number => (slot.spec.id === this.#leader?.id ? 1 : 0);
    for (const slot of [...this.#slots].sort((one, other) => isLeader(one) - isLeader(other))) {
      slot.process?.kill("SIGTERM");
      await this.#exitOf(slot);
    }
    while (this.#slots.some((slot) => slot.process !== undefined)) await this.#nextExit();
    cancelDeadline();
    this.#options.report({ kind: "stopped" });
    this.#finish(exitCodes.done);
  }

  /** Kills every node; acknowledged data survives that. */
  stopAtOnce(): void {
    void this.stop();
    this.#killAll();
  }

  #killAll(): void {
    for (const slot of this.#slots) slot.process?.kill("SIGKILL");
  }

  /** Resolves when the node is gone or its turn is over. */
  #exitOf(slot: Slot): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(turnMs, resolve);
      const check = (): void => {
        if (slot.process !== undefined) {
          this.#exitWaiters.push(check);
          return;
        }
        cancel();
        resolve();
      };
      check();
    });
  }

  #nextExit(): Promise<void> {
    return new Promise((resolve) => {
      this.#exitWaiters.push(resolve);
    });
  }

  #startNode(slot: Slot): void {
    slot.phase = "running";
    slot.isReady = false;
    slot.summary = undefined;
    slot.lastWords = undefined;
    slot.startedMs = this.#options.clock.nowMs();
    slot.process = this.#options.startNode(slot.spec.args, {
      message: (message) => this.#received(slot, message),
      line: (line) => {
        slot.lastWords = line;
        this.#options.report({ kind: "log", id: slot.spec.id, line });
      },
      exited: (code, signal) => this.#exited(slot, code, signal),
    });
  }

  #received(slot: Slot, message: NodeMessage): void {
    switch (message.kind) {
      case "status":
        this.#reportComplaints(slot, message.summary);
        slot.summary = message.summary;
        this.#reportLeader(message.summary);
        break;
      case "ready":
        slot.isReady = true;
        break;
      case "failed":
        slot.failure = message;
        break;
      default:
        // A node of this very version speaks; another message is none of ours.
        return;
    }
    this.#scheduleStatus();
    this.#considerReady();
  }

  #reportComplaints(slot: Slot, summary: NodeSummary): void {
    const known = slot.summary?.complaints ?? [];
    for (const message of summary.complaints) {
      if (!known.includes(message)) this.#options.report({ kind: "complaint", id: slot.spec.id, message });
    }
  }

  #reportLeader({ leader, term }: NodeSummary): void {
    if (leader === null || (this.#leader !== undefined && term <= this.#leader.term)) return;
    this.#leader = { id: leader, term };
    if (this.#ready) this.#options.report({ kind: "leader", id: leader, term });
  }

  #considerReady(): void {
    if (this.#ready || this.#stopping || this.#leader === undefined) return;
    const serving = this.#slots.filter((slot) => slot.isReady).length;
    if (serving * 2 <= this.#slots.length) return;
    const awaited = this.#slots.filter((slot) => slot.phase !== "failed").length;
    if (serving === awaited) this.#becomeReady(this.#leader);
    else if (!this.#graceStarted) {
      this.#graceStarted = true;
      this.#options.clock.after(readyGraceMs, () => {
        if (!this.#ready && !this.#stopping && this.#leader !== undefined) this.#becomeReady(this.#leader);
      });
    }
  }

  #becomeReady(leader: { id: string; term: number }): void {
    this.#ready = true;
    this.#options.report({
      kind: "ready",
      endpoints: this.#slots.map((slot) => slot.spec.endpoint),
      nodes: this.#slots.map(({ spec, process }) => startedNode(spec, process)),
      dataDir: this.#options.dataDir,
      clusterId: this.#slots.find((slot) => slot.isReady)?.summary?.clusterId ?? null,
      leader: leader.id,
      term: leader.term,
    });
  }

  #scheduleStatus(): void {
    if (this.#statusScheduled || this.#stopping) return;
    this.#statusScheduled = true;
    this.#options.clock.after(gatherMs, () => {
      this.#statusScheduled = false;
      if (!this.#stopping) this.#options.report({ kind: "status", nodes: nodeViews(this.#slots) });
    });
  }

  #exited(slot: Slot, code: number | null, signal: string | null): void {
    const pid = slot.process?.pid ?? null;
    const message = slot.failure?.message ?? slot.lastWords ?? null;
    slot.process = undefined;
    slot.isReady = false;
    slot.phase = "stopped";
    this.#options.report({ kind: "exit", id: slot.spec.id, pid, code, signal, message });
    if (!this.#stopping) this.#replace(slot, code);
    slot.failure = undefined;
    this.#scheduleStatus();
    const waiters = this.#exitWaiters;
    this.#exitWaiters = [];
    for (const wake of waiters) wake();
  }

  /** Starts a crashed node again, later each time; what would only fail again is left. */
  #replace(slot: Slot, code: number | null): void {
    if (isHopeless(code, slot.failure?.code)) {
      this.#giveUp(slot, code);
      return;
    }
    const isStable = this.#options.clock.nowMs() - slot.startedMs >= stableAfterMs;
    slot.attempt = isStable ? 1 : slot.attempt + 1;
    slot.phase = "restarting";
    slot.cancelRestart = this.#options.clock.after(restartDelayMs(slot.attempt), () => {
      this.#startNode(slot);
      const { pid } = startedNode(slot.spec, slot.process);
      this.#options.report({ kind: "restart", id: slot.spec.id, pid, attempt: slot.attempt });
    });
  }

  #giveUp(slot: Slot, code: number | null): void {
    slot.phase = "failed";
    slot.exitCode = code ?? exitCodes.failed;
    const message = slot.failure?.message ?? slot.lastWords ?? `It ended with exit code ${code}.`;
    const left = this.#slots.filter(({ phase }) => phase !== "failed");
    this.#options.report({ kind: "failed", id: slot.spec.id, message, nodesLeft: left.length });
    if (left.length > 0) {
      this.#considerReady();
      return;
    }
    this.#stopping = true;
    const hasFault = this.#slots.some(({ exitCode }) => exitCode === exitCodes.storageFault);
    this.#options.report({ kind: "stopped" });
    this.#finish(hasFault ? exitCodes.storageFault : exitCodes.failed);
  }
}

/** Another start would end the same way: what is wrong must be seen to first. */
function isHopeless(exitCode: number | null, errorCode: string | undefined): boolean {
  if (exitCode === exitCodes.storageFault || exitCode === exitCodes.usage) return true;
  return errorCode === "WRONG_DIRECTORY" || errorCode === "REMOVED";
}

function newSlot(spec: NodeSpec): Slot {
  return {
    spec,
    phase: "running",
    process: undefined,
    isReady: false,
    summary: undefined,
    failure: undefined,
    lastWords: undefined,
    startedMs: 0,
    attempt: 0,
    exitCode: undefined,
    cancelRestart: () => {},
  };
}

function startedNode(
  { id, endpoint }: NodeSpec,
  process: NodeProcess | undefined,
): { id: string; pid: number | null; endpoint: string } {
  return { id, pid: process?.pid ?? null, endpoint };
}
