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
import type { AnyMachineUnderTest } from "../machine/machineUnderTest.ts";
import { type Replicas, shownCommand } from "../machine/replicas.ts";
import { abortAfter, readAt } from "./bareReads.ts";
import type { ClientOperation } from "./operation.ts";
import { emptyStats, type Happening, type Workload, type WorkloadStats } from "./workload.ts";

type Command = Extract<ClientOperation, { kind: "command" }>;

/** What a client got for a command. */
export type Answer =
  | { readonly kind: "ok"; readonly result: unknown }
  /** It certainly had no effect, or nobody knows. */
  | { readonly kind: "failed" | "unknown"; readonly reason: string };

/** One time that a command was sent. `isRepetition`: nobody knows what became of the copy before. */
interface Copy {
  readonly atMs: number;
  readonly node: string;
  readonly isRepetition: boolean;
}

const pauseMs = 50;

export class CommandWorkload implements Workload {
  readonly stats: WorkloadStats = emptyStats();
  private readonly cluster: SimulatedCluster;
  private readonly history: History;
  private readonly subject: AnyMachineUnderTest;
  private readonly replicas: Replicas;
  private readonly recorder = new OperationRecorder<unknown, unknown>();
  /** What was sent more than once with an unknown outcome between. */
  private readonly repeated: {
    readonly client: number;
    readonly data: Uint8Array;
    readonly copies: Copy[];
  }[] = [];
  private acknowledgedIndex = 0;

  constructor(cluster: SimulatedCluster, subject: AnyMachineUnderTest, replicas: Replicas) {
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
    // What a user's encoding throws is thrown from here, and ends the run.
    if (operation.kind === "command") void this.send(operation);
    if (operation.kind !== "read") return;
    const host = this.cluster.hosts.find(({ name }) => name === operation.node);
    if (host?.running !== undefined && !host.isPaused) void this.read(host, operation.timeoutMs);
  }

  takesWrites(): boolean {
    return false;
  }

  write(): Promise<boolean> {
    return Promise.reject(
      new QuorateError(
        "INVALID_OPTIONS",
        "workload.write has nothing to write to a machine of yours: send it a command, send(simulation, command).",
      ),
    );
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

  /** Resolves with what came of it in the end; throws what `encode` throws. */
  send(operation: Command): Promise<Answer> {
    return this.deliver(operation, this.replicas.encode(operation.command));
  }

  stateOf({ running }: SimulatedHost): unknown {
    return running?.replica === undefined ? undefined : this.subject.state(running.replica.machine);
  }

  repetitions(): readonly Happening[] {
    return this.repeated.flatMap(({ client, copies, data }) => {
      const command = shownCommand(this.replicas.sentAs(data));
      const entries = this.replicas.entriesOf(data);
      return [
        ...copies.map(({ atMs, isRepetition, node }) => ({
          atMs,
          sentence: isRepetition
            ? `client ${client} sends ${command} again, to ${node}: it does not know what became of it`
            : `${command} goes to ${node}`,
        })),
        ...entries.map(({ atMs, by, index }) => ({
          atMs,
          sentence: `${command} is applied as entry ${index}, on ${by} first`,
        })),
      ];
    });
  }

  private async deliver({ client, command, timeoutMs }: Command, data: Uint8Array): Promise<Answer> {
    const { timeline, trace } = this.cluster.world;
    const open = this.recorder.call(`${client}`, command);
    const ended = trace.observer?.operated(`client ${client}`, "write", shownCommand(command));
    const untilMs = timeline.nowMs + timeoutMs;
    const copies: Copy[] = [];
    let uncertain: Answer | undefined;
    let answer: Answer;
    for (let repetitions = this.subject.retries ?? 0; ; ) {
      const host = this.believedLeader(client);
      const node = host?.name ?? "nobody";
      copies.push({ atMs: timeline.nowMs, node, isRepetition: uncertain !== undefined });
      if (copies.length > 1 && uncertain !== undefined && !this.repeated.some((it) => it.copies === copies)) {
        this.repeated.push({ client, data, copies });
      }
      answer = await this.ask(host, client, command, data, untilMs - timeline.nowMs);
      if (answer.kind === "ok") {
        this.stats.acknowledged += 1;
        open.ok(answer.result);
        ended?.("ok");
        return answer;
      }
      trace.note(`c${client}`, `${shownCommand(command)} ${answer.kind}: ${answer.reason}`);
      // What certainly had no effect is no copy that could do harm.
      if (answer.kind === "failed") copies.pop();
      if (answer.kind === "unknown") {
        uncertain = answer;
        repetitions -= 1;
        if (repetitions < 0) break;
      }
      if (timeline.nowMs + pauseMs >= untilMs) break;
      await this.passed(pauseMs);
    }
    const outcome = uncertain === undefined ? "failed" : "unknown";
    this.stats[outcome] += 1;
    open[outcome]();
    ended?.(outcome);
    return uncertain ?? answer;
  }

  /** Once, of one node. Ends when the node answers or dies, or with the client's patience. */
  private ask(
    host: SimulatedHost | undefined,
    client: number,
    command: unknown,
    data: Uint8Array,
    timeoutMs: number,
  ): Promise<Answer> {
    const { timeline, trace } = this.cluster.world;
    if (host?.running === undefined) return Promise.resolve({ kind: "failed", reason: "no node is there" });
    const { raft } = host.running;
    trace.note(`c${client}`, `asks ${host.name} to apply ${shownCommand(command)}`);
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
      () =>
        `${host.name} acknowledges ${shownCommand(command)} at ${index}, where something else was applied`,
    );
  }

  private passed(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.cluster.world.timeline.schedule(delayMs, undefined, resolve);
    });
  }
}
