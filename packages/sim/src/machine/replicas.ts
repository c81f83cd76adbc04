/**
 * The replicas of a user's machine in one run, each held against what was seen first: the same entry gives the same
 * result and leaves the same state, on every node and in every replay, and the user's own invariant holds.
 */
import { inspect } from "node:util";
import type { Entry, StateMachine } from "@quorate/raft";
import type { History } from "../invariants/history.ts";
import { encodeAsJson, type MachineUnderTest } from "./machineUnderTest.ts";
import { withRealTimeNoticed } from "./realTime.ts";

/** What one entry came to, as whoever applied it first had it. */
interface FirstSight {
  readonly by: string;
  readonly result: string;
  readonly state: string;
  /** The bytes, as a key; undefined: it was no command. */
  readonly command: string | undefined;
}

export class Replicas {
  private readonly subject: MachineUnderTest;
  private readonly history: History;
  private readonly disks = new Map<string, Map<string, unknown>>();
  /** By their bytes: what was sent, as its client had it. */
  private readonly sent = new Map<string, unknown>();
  private readonly seen: FirstSight[] = [];

  constructor(subject: MachineUnderTest, history: History) {
    this.subject = subject;
    this.history = history;
  }

  /** The machine of a process that starts now. `isFresh`: its directory is empty. */
  start(node: string, start: number, isFresh: boolean): Replica {
    if (isFresh) this.disks.delete(node);
    const disk = this.disks.get(node) ?? new Map<string, unknown>();
    this.disks.set(node, disk);
    return new Replica(this, node, this.subject.machine({ node, start, disk }));
  }

  encode(command: unknown): Uint8Array {
    const bytes = this.subject.encode?.(command) ?? encodeAsJson(command);
    this.sent.set(keyOf(bytes), command);
    return bytes;
  }

  /** Whether the entry at `index` is this command, as applied by whoever was first. */
  isAppliedAt(index: number, bytes: Uint8Array): boolean {
    return this.seen[index - 1]?.command === keyOf(bytes);
  }

  apply(replica: Replica, entry: Entry): unknown {
    const { machine, node } = replica;
    const result = withRealTimeNoticed(
      () => machine.apply(entry),
      (name) =>
        this.history.fail("determinism", `${node} asks for ${name} while it applies entry ${entry.index}`),
    );
    this.compare(replica, entry, result);
    if (entry.kind === "command") this.checkInvariant(replica, entry, result);
    return result;
  }

  stateOf(replica: Replica): string {
    return shown(this.subject.state(replica.machine));
  }

  private compare(replica: Replica, entry: Entry, value: unknown): void {
    const { history } = this;
    const { node } = replica;
    const command = entry.kind === "command" ? keyOf(entry.data) : undefined;
    const now: FirstSight = { by: node, result: shown(value), state: this.stateOf(replica), command };
    const first = this.seen[entry.index - 1];
    if (isPromise(value)) {
      history.fail(
        "determinism",
        `${node} returns a promise from apply: what waits for anything is no result`,
      );
    }
    if (first === undefined) {
      this.seen[entry.index - 1] = now;
      return;
    }
    const where = `entry ${entry.index} (${this.described(entry)})`;
    const again = first.by === node ? `${node} itself before its restart` : first.by;
    history.require(
      first.state === now.state,
      "replica equality",
      () => `after ${where} the state is ${now.state} on ${node}, and was ${first.state} on ${again}`,
    );
    history.require(
      first.result === now.result,
      "state machine safety",
      () => `${where} gives ${now.result} on ${node}, and gave ${first.result} on ${again}`,
    );
  }

  private checkInvariant(replica: Replica, entry: Entry, result: unknown): void {
    const { invariant } = this.subject;
    const { commands, machine, node } = replica;
    const command = this.sent.get(keyOf(entry.data));
    commands.push(command);
    if (invariant === undefined) return;
    const applied = { command, result, index: entry.index, node, commands };
    const where = `${node}, after entry ${entry.index} (${this.described(entry)})`;
    try {
      if (invariant.call(this.subject, machine, applied) !== false) return;
      this.history.fail("machine invariant", `${where}, in the state ${this.stateOf(replica)}`);
    } catch (error) {
      this.history.fail(
        "machine invariant",
        `${where}: ${error instanceof Error ? error.message : shown(error)}`,
      );
    }
  }

  private described({ data, kind }: Entry): string {
    return kind === "command" ? shown(this.sent.get(keyOf(data))) : kind;
  }
}

/** One node's machine, from a start of its process to the end of it. */
export class Replica implements StateMachine<string> {
  readonly machine: StateMachine<unknown>;
  readonly node: string;
  /** Applied by now, in order. */
  readonly commands: unknown[] = [];
  appliedIndex = 0;
  /** Of the entry applied last. */
  result: unknown;
  private readonly replicas: Replicas;

  constructor(replicas: Replicas, node: string, machine: StateMachine<unknown>) {
    this.replicas = replicas;
    this.node = node;
    this.machine = machine;
  }

  /** Gives back the result as it is compared. */
  apply(entry: Entry): string {
    this.result = this.replicas.apply(this, entry);
    this.appliedIndex = entry.index;
    return shown(this.result);
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

function keyOf({ buffer, byteLength, byteOffset }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("latin1");
}

function isPromise(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
