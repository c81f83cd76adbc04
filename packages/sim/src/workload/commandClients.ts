/**
 * Clients of a user's own machine: each sends its commands to whom it takes for the leader, again while it is sure that
 * they had no effect, and, if the machine is made for that, again when it cannot know.
 *
 * Every answer is taken at its word: the entry that it names is this command, with the result that the machine gave.
 */
import { QuorateError } from "@quorate/raft";
import { explain } from "../checker/explanation.ts";
import { checkLinearizability } from "../checker/linearizability.ts";
import { OperationRecorder } from "../checker/operationRecorder.ts";
import type { SimulatedCluster, SimulatedHost } from "../cluster/cluster.ts";
import type { History } from "../invariants/history.ts";
import type { MachineUnderTest } from "../machine/machineUnderTest.ts";
import { type Replicas, shown } from "../machine/replicas.ts";
import { abortAfter, readAt } from "./bareReads.ts";
import type { ClientOperation } from "./operation.ts";
import { emptyStats, type Workload, type WorkloadStats } from "./workload.ts";

type Command = Extract<ClientOperation, { kind: "command" }>;

type Answer =
  | { readonly kind: "ok"; readonly result: unknown }
  /** It certainly had no effect, or nobody knows. */
  | { readonly kind: "failed" | "unknown"; readonly reason: string };

const pauseMs = 50;

export class CommandWorkload implements Workload {
  readonly stats: WorkloadStats = emptyStats();
  private readonly cluster: SimulatedCluster;
  private readonly history: History;
  private readonly subject: MachineUnderTest;
  private readonly replicas: Replicas;
  private readonly recorder = new OperationRecorder<unknown, unknown>();
  private acknowledgedIndex = 0;

  constructor(cluster: SimulatedCluster, subject: MachineUnderTest, replicas: Replicas) {
    this.cluster = cluster;
    this.history = cluster.checks.history;
    this.subject = subject;
    this.replicas = replicas;
  }

  /** Only its user knows the machine's commands. */
  draw(): undefined {
    return undefined;
  }

  operate(): void {}

  perform(operation: ClientOperation): void {
    if (operation.kind === "command") {
      // Here, so that what a user's encoding throws ends the run.
      void this.send(operation, this.replicas.encode(operation.command));
    }
    if (operation.kind !== "read") return;
    const host = this.cluster.hosts.find(({ name }) => name === operation.node);
    if (host?.running !== undefined && !host.isPaused) void this.read(host, operation.timeoutMs);
  }

  takesWrites(): boolean {
    return false;
  }

  write(): Promise<boolean> {
    return Promise.resolve(false);
  }

  read(host: SimulatedHost, timeoutMs: number): Promise<boolean> {
    return readAt(this.cluster, host, timeoutMs, this.acknowledgedIndex, this.stats);
  }

  checkFinally(): void {
    const { model } = this.subject;
    if (model === undefined) return;
    const verdict = checkLinearizability(model, this.recorder.operations());
    if (verdict.kind !== "linearizable") this.history.fail("linearizability", explain(model, verdict));
  }

  private async send({ client, command, timeoutMs }: Command, data: Uint8Array): Promise<void> {
    const { timeline, trace } = this.cluster.world;
    const open = this.recorder.call(`${client}`, command);
    const ended = trace.observer?.operated(`client ${client}`, "write", shown(command));
    const untilMs = timeline.nowMs + timeoutMs;
    let isUncertain = false;
    for (let repetitions = this.subject.retries ?? 0; ; ) {
      const answer = await this.ask(client, command, data, untilMs - timeline.nowMs);
      if (answer.kind === "ok") {
        this.stats.acknowledged += 1;
        open.ok(answer.result);
        ended?.("ok");
        return;
      }
      trace.note(`c${client}`, `${shown(command)} ${answer.kind}: ${answer.reason}`);
      if (answer.kind === "unknown") {
        isUncertain = true;
        repetitions -= 1;
        if (repetitions < 0) break;
      }
      if (timeline.nowMs + pauseMs >= untilMs) break;
      await this.passed(pauseMs);
    }
    const outcome = isUncertain ? "unknown" : "failed";
    this.stats[outcome] += 1;
    open[outcome]();
    ended?.(outcome);
  }

  /** Once, of one node. Ends when the node answers or dies, or with the client's patience. */
  private ask(client: number, command: unknown, data: Uint8Array, timeoutMs: number): Promise<Answer> {
    const host = this.believedLeader(client);
    const { timeline, trace } = this.cluster.world;
    if (host?.running === undefined) return Promise.resolve({ kind: "failed", reason: "no node is there" });
    const { raft } = host.running;
    trace.note(`c${client}`, `asks ${host.name} to apply ${shown(command)}`);
    return new Promise((resolve, reject) => {
      const gaveUp = (reason: string) => (): void => resolve({ kind: "unknown", reason });
      const forget = timeline.schedule(timeoutMs, undefined, gaveUp("no answer in time"));
      host.process?.atDeath(gaveUp(`${host.name} died`));
      const abort = abortAfter(this.cluster, host, timeoutMs);
      raft
        .propose(data, { signal: abort.signal })
        .then(
          ({ index, result }) => {
            this.acknowledged(host, command, data, index);
            resolve({ kind: "ok", result });
          },
          (error: unknown) => {
            if (!(error instanceof QuorateError)) throw error;
            resolve({ kind: error.outcome === "none" ? "failed" : "unknown", reason: error.code });
          },
        )
        .finally(() => {
          forget();
          abort.cancel();
        })
        .catch(reject);
    });
  }

  /** Of several that believe to lead, different clients know different ones. */
  private believedLeader(client: number): SimulatedHost | undefined {
    const there = this.cluster.up().filter((host) => host.running !== undefined);
    const leaders = there.filter((host) => host.member?.state?.role === "leader");
    const known = leaders.length > 0 ? leaders : there;
    return known[client % known.length];
  }

  private acknowledged(host: SimulatedHost, command: unknown, data: Uint8Array, index: number): void {
    this.acknowledgedIndex = Math.max(this.acknowledgedIndex, index);
    this.history.require(
      this.history.commitIndex >= index && this.replicas.isAppliedAt(index, data),
      "durability",
      () => `${host.name} acknowledges ${shown(command)} at ${index}, where something else was applied`,
    );
  }

  private passed(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.cluster.world.timeline.schedule(delayMs, undefined, resolve);
    });
  }
}
