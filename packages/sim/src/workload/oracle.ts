/**
 * What the clients of the store were told, held against the order of the log.
 *
 * Every write carries a serial of its own. The log's order is the truth: an acknowledged write took effect once, at
 * the revision that its client was told; a definite failure and a conflict never did; an unknown one at most once,
 * however often it was sent. A read sees whatever was acknowledged or seen, by anyone, before it was asked.
 */
import { type CommandResult, type Condition, decodeProposal } from "@quorate/client/protocol";
import type { Entry } from "@quorate/raft";
import type { History } from "../invariants/history.ts";

/** A floor under what a later read of a key may show. */
export interface ReadFloor {
  readonly revision: number;
}

interface Effect {
  readonly revision: number;
  readonly index: number;
}

export class StoreOracle {
  private readonly history: History;
  /** The key of every write that a client ever began, by serial. */
  private readonly begun = new Map<number, string>();
  /** Of every write that changed the store, by serial. */
  private readonly effects = new Map<number, Effect>();
  private readonly serialAt = new Map<number, number>();
  private readonly acknowledged = new Map<number, number>();
  private readonly failed = new Set<number>();
  private readonly floors = new Map<string, number>();
  /** The newest revision of each key, as the store spells it, in the order of the log. */
  private readonly newest = new Map<string, number>();
  private storeRevision = 0;
  /** The highest revision that any client was told. */
  private toldRevision = 0;

  constructor(history: History) {
    this.history = history;
  }

  /** A client is about to write. */
  begins(key: string, serial: number): void {
    this.begun.set(serial, key);
  }

  /**
   * An entry was applied for the first time, by whichever node: is the order of the log a legal one? Gives back the
   * serial of a write that took effect by that.
   */
  applied(entry: Entry, result: unknown): number | undefined {
    if (entry.kind !== "command") return undefined;
    const answer = result as CommandResult;
    if (answer.kind !== "put" && answer.kind !== "conflict") return undefined;
    const decoded = decodeProposal(entry.data);
    if (decoded.kind !== "proposal" || decoded.proposal.command.kind !== "put") return undefined;
    const { key, value, condition } = decoded.proposal.command;
    const serial = serialOf(value);
    if (answer.kind === "conflict")
      this.refused(serial, this.newest.get(key) ?? 0, answer.modRevision, condition);
    else if (answer.revision <= this.storeRevision) this.repeated(serial, answer.revision);
    else {
      this.tookEffect(serial, answer.revision, entry.index, this.newest.get(key) ?? 0, condition);
      this.newest.set(key, answer.revision);
      return serial;
    }
    return undefined;
  }

  /** After an entry that wrote none of these keys: the store's revision, which a grant or another write has raised. */
  revisionIs(revision: number): void {
    if (revision === this.storeRevision) return;
    this.history.require(
      revision === this.storeRevision + 1,
      "linearizable reads",
      () => `an entry raised the revision to ${revision}, after ${this.storeRevision}`,
    );
    this.storeRevision = revision;
  }

  private tookEffect(
    serial: number,
    revision: number,
    index: number,
    before: number,
    condition: Condition,
  ): void {
    const { history } = this;
    const earlier = this.effects.get(serial);
    if (earlier !== undefined) {
      history.fail(
        "exactly once",
        `write ${serial} took effect at ${earlier.revision} (entry ${earlier.index}) and at ${revision} (entry ${index})`,
      );
    }
    history.require(
      this.begun.has(serial),
      "exactly once",
      () => `write ${serial} took effect at ${revision}, and no client ever began it`,
    );
    history.require(
      revision === this.storeRevision + 1,
      "linearizable reads",
      () => `write ${serial} made revision ${revision}, after revision ${this.storeRevision}`,
    );
    history.require(
      isMet(condition, before),
      "linearizable reads",
      () =>
        `write ${serial} took effect at ${revision} on the condition ${wordsOf(condition)}, though the key was at ${before}`,
    );
    this.effects.set(serial, { revision, index });
    this.storeRevision = revision;
    this.serialAt.set(revision, serial);
  }

  /** The answer to a repetition is the first one's: it changes nothing. */
  private repeated(serial: number, revision: number): void {
    this.history.mark("repetition answered from the session");
    const first = this.effects.get(serial)?.revision;
    this.history.require(
      first === revision,
      "exactly once",
      () =>
        `a repetition of write ${serial} was answered with revision ${revision}, the first time it was ${first}`,
    );
  }

  private refused(serial: number, newest: number, told: number, condition: Condition): void {
    this.history.mark("conditional write refused");
    // The answer to a repetition tells what was so the first time.
    const isCurrent = told === newest && !isMet(condition, newest);
    const isOlder = told < newest && !isMet(condition, told);
    this.history.require(
      isCurrent || isOlder,
      "linearizable reads",
      () =>
        `write ${serial} on the condition ${wordsOf(condition)} was refused with revision ${told}, ` +
        `though the key was at ${newest}`,
    );
  }

  /** What must be visible to an operation on `key` that begins now. */
  floor(key: string): ReadFloor {
    return { revision: this.floors.get(key) ?? 0 };
  }

  get told(): number {
    return this.toldRevision;
  }

  /** The write that made a revision, as far as one was applied. */
  serialOf(revision: number): number | undefined {
    return this.serialAt.get(revision);
  }

  /** The store's revision, as of what was applied anywhere. */
  get revision(): number {
    return this.storeRevision;
  }

  writeAt(revision: number): { readonly serial: number; readonly key: string } | undefined {
    const serial = this.serialAt.get(revision);
    const key = serial === undefined ? undefined : this.begun.get(serial);
    return serial === undefined || key === undefined ? undefined : { serial, key };
  }

  /** A read of the past: the newest write to the key up to `revision`, whichever node was asked. */
  readPast(client: string, key: string, revision: number, serial: unknown): void {
    let at = revision;
    while (at > 0 && this.writeAt(at)?.key !== key) at -= 1;
    const written = this.serialAt.get(at);
    this.history.require(
      serial === written,
      "linearizable reads",
      () =>
        `${client} read ${serial === undefined ? "nothing" : `write ${String(serial)}`} in ${key} as of revision ` +
        `${revision}, when it held ${written === undefined ? "nothing" : `write ${written}`}`,
    );
  }

  wrote(client: string, key: string, serial: number, revision: number, toldBefore: number): void {
    this.acknowledged.set(serial, revision);
    this.history.require(
      this.serialAt.get(revision) === serial,
      "durability",
      () =>
        `${client} was told that write ${serial} is revision ${revision}, ` +
        `which is write ${this.serialAt.get(revision)}`,
    );
    this.history.require(
      revision > toldBefore,
      "linearizable reads",
      () => `${client} wrote revision ${revision}, though ${toldBefore} was known before it began`,
    );
    this.saw(key, revision);
  }

  didNotWrite(serial: number): void {
    this.failed.add(serial);
  }

  /** `revision` is the key's modRevision, 0 where it was absent; `serial` its value, undefined in a conflict. */
  read(client: string, key: string, floor: ReadFloor, revision: number, serial: number | undefined): void {
    this.history.require(
      revision >= floor.revision,
      "linearizable reads",
      () =>
        `${client} read ${key} at revision ${revision}, though ${floor.revision} was known before it asked`,
    );
    if (revision !== 0) this.isReal(client, key, revision, serial);
    this.saw(key, revision);
  }

  /** No phantom: the value is of a write to this very key, and stands where the log has it. */
  private isReal(client: string, key: string, revision: number, serial: number | undefined): void {
    const written = this.serialAt.get(revision);
    const home = written === undefined ? undefined : this.begun.get(written);
    this.history.require(
      written !== undefined && (serial === undefined || serial === written) && home === key,
      "linearizable reads",
      () =>
        `${client} read ${serial === undefined ? "" : `write ${serial} in `}${key} at revision ${revision}, ` +
        `where ${written === undefined ? "nothing" : `write ${written} to ${home}`} is`,
    );
  }

  /** `state`: the pairs of a converged node, the revision of each key. */
  checkFinally(state?: ReadonlyMap<string, number>): void {
    for (const [serial, revision] of this.acknowledged) {
      const effect = this.effects.get(serial);
      this.history.require(
        effect?.revision === revision,
        "durability",
        () => `write ${serial}, acknowledged at ${revision}, is at ${effect?.revision ?? "no revision"}`,
      );
    }
    for (const serial of this.failed) {
      this.history.require(
        !this.effects.has(serial),
        "exactly once",
        () => `write ${serial} took effect, though its client was told that it did not`,
      );
    }
    if (state === undefined) return;
    for (const [key, revision] of this.newest) {
      this.history.require(
        state.get(key) === revision,
        "durability",
        () =>
          `${key} is at revision ${state.get(key) ?? 0} in the end, and ${revision} was written to it last`,
      );
    }
  }

  private saw(key: string, revision: number): void {
    this.floors.set(key, Math.max(this.floors.get(key) ?? 0, revision));
    this.toldRevision = Math.max(this.toldRevision, revision);
  }
}

function isMet(condition: Condition, revision: number): boolean {
  switch (condition.kind) {
    case "none":
      return true;
    case "absent":
      return revision === 0;
    case "revision":
      return revision === condition.revision;
  }
}

function wordsOf(condition: Condition): string {
  return condition.kind === "revision" ? `revision ${condition.revision}` : condition.kind;
}

/** Values are the serial as JSON text. */
function serialOf(value: Uint8Array): number {
  let serial = 0;
  for (const byte of value) serial = serial * 10 + (byte - 0x30);
  return serial;
}
