/**
 * The replicas of a user's machine in one run, each held against what was seen first: the same entry gives the same
 * result and leaves the same state, on every node and in every replay, and the user's own invariant holds.
 */
import { inspect } from "node:util";
import { type Entry, QuorateError, type StateMachine } from "@quorate/raft";
import { sentenceOf } from "../cluster/sentenceOf.ts";
import type { History } from "../invariants/history.ts";
import { type AnyMachineUnderTest, encodeAsJson } from "./machineUnderTest.ts";
import { withRealTimeNoticed } from "./realTime.ts";

/** What one entry came to, as whoever applied it first had it. */
interface FirstSight {
  readonly by: string;
  readonly atMs: number;
  readonly result: string;
  readonly state: string;
  /** The bytes, as a key; undefined: it was no command. */
  readonly command: string | undefined;
}

/** Where and when a command was applied first. */
export interface AppliedAt {
  readonly index: number;
  readonly by: string;
  readonly atMs: number;
}

export class Replicas {
  private readonly subject: AnyMachineUnderTest;
  private readonly history: History;
  private readonly disks = new Map<string, Map<string, unknown>>();
  /** By their bytes: what was sent, as its client had it. */
  private readonly sent = new Map<string, unknown>();
  private readonly seen: FirstSight[] = [];
  /** Of a machine to which nothing was applied. */
  private initial: Pick<FirstSight, "by" | "state"> | undefined;

  constructor(subject: AnyMachineUnderTest, history: History) {
    requireFunction("machine", subject.machine);
    requireFunction("state", subject.state);
    for (const name of ["appliedIndex", "encode", "invariant"] as const) {
      if (subject[name] !== undefined) requireFunction(name, subject[name]);
    }
    this.subject = subject;
    this.history = history;
  }

  /** The machine of a process that starts now. `isFresh`: its directory is empty. */
  start(node: string, start: number, isFresh: boolean): Replica {
    if (isFresh) this.disks.delete(node);
    const disk = this.disks.get(node) ?? new Map<string, unknown>();
    this.disks.set(node, disk);
    const machine: StateMachine<unknown> = this.subject.machine({ node, start, disk });
    const savedIndex = this.subject.appliedIndex?.(machine) ?? 0;
    const replica = new Replica(this, node, machine, savedIndex);
    this.compareStart(replica);
    return replica;
  }

  encode(command: unknown): Uint8Array {
    const bytes = this.subject.encode?.(command) ?? encodeAsJson(command);
    this.sent.set(keyOf(bytes), command);
    return bytes;
  }

  /** The command of these bytes, as its client had it. */
  sentAs(bytes: Uint8Array): unknown {
    return this.sent.get(keyOf(bytes));
  }

  /** Whether the entry at `index` is this command, as applied by whoever was first. */
  isAppliedAt(index: number, bytes: Uint8Array): boolean {
    return this.seen[index - 1]?.command === keyOf(bytes);
  }

  /** The entries that hold these bytes and were applied by now. */
  entriesOf(bytes: Uint8Array): readonly AppliedAt[] {
    const key = keyOf(bytes);
    return this.seen.flatMap(({ atMs, by, command }, at) =>
      command === key ? [{ index: at + 1, by, atMs }] : [],
    );
  }

  /** Gives back the result as it is compared. */
  apply(replica: Replica, entry: Entry): string {
    const { node, savedIndex } = replica;
    const value = this.applied(replica, entry);
    replica.result = value;
    if (entry.kind === "command") replica.commands.push(this.sent.get(keyOf(entry.data)));
    if (entry.index <= savedIndex) return this.skipped(replica, entry);
    if (isPromise(value)) {
      this.history.fail(
        "determinism",
        `${node} returns a promise from apply: what waits for anything is no result`,
      );
    }
    const result = shown(value);
    this.compare(replica, entry, result);
    if (entry.kind === "command") this.checkInvariant(replica, entry, value);
    return result;
  }

  /** As it is told apart, see `MachineUnderTest.state`. */
  stateOf(replica: Replica): string {
    return shown(this.subject.state(replica.machine));
  }

  private applied({ machine, node }: Replica, entry: Entry): unknown {
    try {
      return withRealTimeNoticed(
        () => machine.apply(entry),
        (name) =>
          this.history.fail("determinism", `${node} asks for ${name} while it applies entry ${entry.index}`),
      );
    } catch (error) {
      const kind =
        entry.kind === "command" ? `command ${this.described(entry)}` : `${entry.kind}, ${noDataOfYours}`;
      this.history.fail(
        "no unexpected stop",
        `${node} stops: apply throws at entry ${entry.index} (${kind}): ${sentenceOf(error)}`,
        error,
      );
      throw error;
    }
  }

  /** A start is in the state after the entry that it says it has saved, and there is such an entry. */
  private compareStart(replica: Replica): void {
    const { history, seen } = this;
    const { node, savedIndex } = replica;
    if (!Number.isInteger(savedIndex) || savedIndex < 0 || savedIndex > seen.length) {
      history.fail(
        "replica equality",
        `${node} starts with the appliedIndex ${savedIndex}, and ${seen.length} entries have been applied by now`,
      );
      return;
    }
    const state = this.stateOf(replica);
    if (savedIndex === 0) this.initial ??= { by: node, state };
    const first = savedIndex === 0 ? this.initial : seen[savedIndex - 1];
    history.require(first === undefined || first.state === state, "replica equality", () =>
      savedIndex === 0
        ? `${node} starts with the state ${state}, and ${first?.by} started with ${first?.state}: the log is applied ` +
          "from its first entry on; start from nothing, or skip what is saved and say up to where in appliedIndex"
        : `${node} starts with the state ${state}, saved up to entry ${savedIndex}, after which it was ` +
          `${first?.state} on ${first?.by}`,
    );
  }

  /** The entry is in the saved state: nothing may change, and the result is nobody's, since who waited is gone. */
  private skipped(replica: Replica, entry: Entry): string {
    const { node, savedIndex } = replica;
    const state = this.stateOf(replica);
    const saved = this.seen[savedIndex - 1];
    this.history.require(
      state === saved?.state,
      "replica equality",
      () =>
        `entry ${entry.index} (${this.described(entry)}) makes the state ${state} on ${node}, which started with ` +
        `${saved?.state}, saved up to entry ${savedIndex}`,
    );
    return this.seen[entry.index - 1]?.result ?? "";
  }

  private compare(replica: Replica, entry: Entry, result: string): void {
    const { history } = this;
    const { node } = replica;
    const command = entry.kind === "command" ? keyOf(entry.data) : undefined;
    const state = this.stateOf(replica);
    const first = this.seen[entry.index - 1];
    if (first === undefined) {
      this.seen[entry.index - 1] = { by: node, atMs: history.timeline.nowMs, result, state, command };
      return;
    }
    const where = `entry ${entry.index} (${this.described(entry)})`;
    const again = first.by === node ? `${node} itself before its restart` : first.by;
    history.require(
      first.state === state,
      "replica equality",
      () => `after ${where} the state is ${state} on ${node}, and was ${first.state} on ${again}`,
    );
    history.require(
      first.result === result,
      "state machine safety",
      () => `${where} gives ${result} on ${node}, and gave ${first.result} on ${again}`,
    );
  }

  private checkInvariant(replica: Replica, entry: Entry, result: unknown): void {
    const { invariant } = this.subject;
    const { commands, machine, node } = replica;
    if (invariant === undefined) return;
    const command = this.sent.get(keyOf(entry.data));
    const applied = { command, result, index: entry.index, node, commands };
    const where = `${node}, after entry ${entry.index} (${this.described(entry)})`;
    try {
      if (invariant.call(this.subject, machine, applied) !== false) return;
      this.history.fail("machine invariant", `${where}, in the state ${this.stateOf(replica)}`);
    } catch (error) {
      this.history.fail(
        "machine invariant",
        `${where}: ${error instanceof Error ? error.message : shown(error)}`,
        error,
      );
    }
  }

  private described({ data, kind }: Entry): string {
    return kind === "command" ? shownCommand(this.sent.get(keyOf(data))) : kind;
  }
}

/** One node's machine, from a start of its process to the end of it. */
export class Replica implements StateMachine<string> {
  readonly machine: StateMachine<unknown>;
  readonly node: string;
  /** The last entry that the machine had saved when it started. */
  readonly savedIndex: number;
  /** Given to it by now, in order. */
  readonly commands: unknown[] = [];
  appliedIndex = 0;
  /** Of the entry applied last. */
  result: unknown;
  private readonly replicas: Replicas;

  constructor(replicas: Replicas, node: string, machine: StateMachine<unknown>, savedIndex: number) {
    this.replicas = replicas;
    this.node = node;
    this.machine = machine;
    this.savedIndex = savedIndex;
  }

  /** Gives back the result as it is compared. */
  apply(entry: Entry): string {
    const result = this.replicas.apply(this, entry);
    this.appliedIndex = entry.index;
    return result;
  }

  digest(): string {
    return this.replicas.stateOf(this);
  }
}

/** On one line, in full: two values are the same if this is. */
export function shown(value: unknown): string {
  return inspect(value, {
    depth: Number.POSITIVE_INFINITY,
    maxArrayLength: Number.POSITIVE_INFINITY,
    maxStringLength: Number.POSITIVE_INFINITY,
    breakLength: Number.POSITIVE_INFINITY,
    compact: true,
  });
}

/** As a literal, whatever its prototype: records of fast-check have none. */
export function shownCommand(command: unknown): string {
  return shown(command).replaceAll("[Object: null prototype] ", "");
}

const noDataOfYours = "no data of yours: apply gets entries of every kind";

function requireFunction(name: string, value: unknown): void {
  if (typeof value === "function") return;
  throw new QuorateError(
    "INVALID_OPTIONS",
    `machine.${name} must be a function, but is ${inspect(value)}: see MachineUnderTest for what it is given.`,
  );
}

function keyOf({ buffer, byteLength, byteOffset }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("latin1");
}

function isPromise(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
