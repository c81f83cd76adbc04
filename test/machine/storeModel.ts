/**
 * The simplest thing that the store could be: the list of all states that it ever had, each a plain map, and what each
 * command answers. Slow, and without any of the machine's structures.
 */
import {
  type Command,
  type CommandResult,
  type Compare,
  type Proposal,
  type StoredPair,
  sessionWindow,
  type TransactionOp,
  type TransactionOpResult,
} from "@quorate/client/protocol";
import type { AppliedEntry } from "@quorate/kv/machine";

type Pairs = ReadonlyMap<string, StoredPair>;
type Writes = Map<string, { value: Uint8Array; format: StoredPair["format"] } | undefined>;

export class StoreModel {
  /** By revision: every state since the beginning. */
  readonly states: Pairs[] = [new Map()];
  /** By session: the answers given by sequence, and what is acknowledged. */
  readonly sessions = new Map<number, { answers: Map<number, CommandResult>; ackedBelow: number }>();
  /** The revisions that changed keys and may be kept: more than the newest so many are not. */
  #historyRevisions = 100_000;
  floor = 0;

  get revision(): number {
    return this.states.length - 1;
  }

  get now(): Pairs {
    return this.states.at(-1) as Pairs;
  }

  apply(entry: AppliedEntry, { origin, command }: Proposal): CommandResult {
    if (origin.kind === "anonymous") return this.#run(entry, command);
    const session = this.sessions.get(origin.session);
    if (session === undefined) return { kind: "sessionEnded" };
    session.ackedBelow = Math.max(session.ackedBelow, origin.ackedBelow);
    if (origin.sequence < session.ackedBelow) return { kind: "alreadyAcknowledged" };
    if (origin.sequence >= session.ackedBelow + sessionWindow) return { kind: "beyondWindow" };
    const answer = session.answers.get(origin.sequence) ?? this.#run(entry, command);
    session.answers.set(origin.sequence, answer);
    return answer;
  }

  #run(entry: AppliedEntry, command: Command): CommandResult {
    switch (command.kind) {
      case "openSession":
        this.sessions.set(entry.index, { answers: new Map(), ackedBelow: 1 });
        return { kind: "sessionOpened", session: entry.index };
      case "closeSession":
      case "expireSession": {
        if (command.kind === "expireSession" && command.term !== entry.term) return { kind: "nothing" };
        return { kind: "sessionClosed", existed: this.sessions.delete(command.session) };
      }
      case "put":
      case "delete":
        return this.#runSingle(command);
      case "transaction":
        return this.#transact(command);
      case "limitStore": {
        this.#historyRevisions = command.limits.historyRevisions ?? this.#historyRevisions;
        this.#cut();
        const rest = { historyBytes: 67_108_864, quotaBytes: 536_870_912 };
        return { kind: "storeLimited", limits: { historyRevisions: this.#historyRevisions, ...rest } };
      }
      default:
        throw new Error(`not drawn: ${command.kind}`);
    }
  }

  #runSingle(command: Extract<Command, { kind: "put" | "delete" }>): CommandResult {
    const { key, condition } = command;
    const mod = this.now.get(key)?.modRevision ?? 0;
    const holds =
      condition.kind === "none" ||
      (condition.kind === "absent" && mod === 0) ||
      (condition.kind === "revision" && condition.revision === mod);
    if (!holds) return { kind: "conflict", modRevision: mod };
    if (command.kind === "put") {
      this.#write(new Map([[key, command]]));
      return { kind: "put", revision: this.revision };
    }
    if (mod > 0) this.#write(new Map([[key, undefined]]));
    return { kind: "deleted", revision: this.revision, existed: mod > 0 };
  }

  #transact(command: Extract<Command, { kind: "transaction" }>): CommandResult {
    const succeeded = command.compares.every((compare) => this.#holds(compare));
    const writes: Writes = new Map();
    const results = (succeeded ? command.onSuccess : command.onFailure).map((op) => this.#op(op, writes));
    if (writes.size > 0) this.#write(writes);
    return { kind: "transacted", revision: this.revision, succeeded, results };
  }

  #holds(compare: Compare): boolean {
    if (compare.kind === "holds") throw new Error("not drawn: there are no leases");
    const pair = this.now.get(compare.key);
    const order =
      compare.kind === "value"
        ? Buffer.compare(pair?.value ?? Uint8Array.of(), compare.value)
        : (pair?.[compare.kind] ?? 0) - compare.number;
    if (compare.kind === "value" && pair === undefined) return false;
    return { "=": order === 0, "!=": order !== 0, "<": order < 0, ">": order > 0 }[compare.operator];
  }

  #op(op: TransactionOp, writes: Writes): TransactionOpResult {
    switch (op.kind) {
      case "put":
        writes.set(op.key, op);
        return { kind: "put" };
      case "get":
        return { kind: "got", pair: this.now.get(op.key) };
      case "delete":
      case "deleteRange": {
        const keys =
          op.kind === "delete"
            ? [...this.now.keys()].filter((key) => key === op.key)
            : this.list(this.revision, op.range).map(({ key }) => key);
        for (const key of keys) writes.set(key, undefined);
        return { kind: "deleted", count: keys.length };
      }
      case "list": {
        const all = this.list(this.revision, op.range);
        if (op.reverse) all.reverse();
        const pairs = all.slice(0, op.limit);
        const shown = pairs.map((pair) => (op.keysOnly ? { ...pair, value: new Uint8Array(0) } : pair));
        return { kind: "listed", pairs: shown, more: pairs.length < all.length };
      }
    }
  }

  /** In byte order, of any revision. */
  list(revision: number, { from, to }: { from: string; to: string }): StoredPair[] {
    return [...(this.states[revision] as Pairs).values()]
      .filter(({ key }) => key >= from && (to === "" || key < to))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  #write(writes: Writes): void {
    const revision = this.states.length;
    const next = new Map(this.now);
    for (const [key, write] of writes) {
      const before = next.get(key);
      next.delete(key);
      if (write === undefined) continue;
      next.set(key, {
        key,
        value: write.value,
        format: write.format,
        createRevision: before?.createRevision ?? revision,
        modRevision: revision,
        version: (before?.version ?? 0) + 1,
      });
    }
    this.states.push(next);
    this.#cut();
  }

  #cut(): void {
    this.floor = Math.max(this.floor, this.revision - this.#historyRevisions);
  }
}
