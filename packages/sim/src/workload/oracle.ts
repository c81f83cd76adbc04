/**
 * What the clients of the store were told, held against the order of the log.
 *
 * Every write carries a serial of its own. The log's order is the truth: an acknowledged write took effect once, at
 * the revision that its client was told; a definite failure and a conflict never did; an unknown one at most once,
 * however often it was sent. A read sees whatever was acknowledged or seen, by anyone, before it was asked.
 */
import { type CommandResult, decodeProposal } from "@quorate/client/protocol";
import type { Entry } from "@quorate/raft";
import type { History } from "../invariants/history.ts";

/** A floor under what a later read of a key may show. */
export interface ReadFloor {
  readonly revision: number;
}

interface Effect {
  readonly revision: number;
  count: number;
}

export class StoreOracle {
  private readonly history: History;
  /** Of every write that changed the store, by serial. */
  private readonly effects = new Map<number, Effect>();
  private readonly serialAt = new Map<number, number>();
  private readonly acknowledged = new Map<number, number>();
  private readonly failed = new Set<number>();
  private readonly floors = new Map<string, number>();
  private storeRevision = 0;
  /** The highest revision that any client was told. */
  private toldRevision = 0;

  constructor(history: History) {
    this.history = history;
  }

  /** An entry was applied for the first time, by whichever node. */
  applied(entry: Entry, result: unknown): void {
    if (entry.kind !== "command") return;
    const { kind, ...rest } = result as CommandResult;
    if (kind !== "put" || !("revision" in rest)) return;
    const decoded = decodeProposal(entry.data);
    if (decoded.kind !== "proposal" || decoded.proposal.command.kind !== "put") return;
    const serial = serialOf(decoded.proposal.command.value);
    // The answer to a repetition is the first one's: it changes nothing.
    if (rest.revision <= this.storeRevision) {
      this.history.mark("repetition answered from the session");
      return;
    }
    this.storeRevision = rest.revision;
    const earlier = this.effects.get(serial);
    if (earlier === undefined) this.effects.set(serial, { revision: rest.revision, count: 1 });
    else {
      earlier.count += 1;
      this.history.fail(
        "exactly once",
        `write ${serial} took effect at ${earlier.revision} and at ${rest.revision}`,
      );
    }
    this.serialAt.set(rest.revision, serial);
  }

  /** What must be visible to an operation on `key` that begins now. */
  floor(key: string): ReadFloor {
    return { revision: this.floors.get(key) ?? 0 };
  }

  get told(): number {
    return this.toldRevision;
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

  /** `revision` is the key's modRevision, 0 where it was absent. */
  read(client: string, key: string, floor: ReadFloor, revision: number, serial: number | undefined): void {
    this.history.require(
      revision >= floor.revision,
      "linearizable reads",
      () =>
        `${client} read ${key} at revision ${revision}, though ${floor.revision} was known before it asked`,
    );
    this.history.require(
      revision === 0 || serial === undefined || this.serialAt.get(revision) === serial,
      "linearizable reads",
      () =>
        `${client} read write ${serial} in ${key} at revision ${revision}, ` +
        `where write ${this.serialAt.get(revision)} is`,
    );
    this.saw(key, revision);
  }

  checkFinally(): void {
    for (const [serial, revision] of this.acknowledged) {
      const effect = this.effects.get(serial);
      this.history.require(
        effect?.revision === revision && effect.count === 1,
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
  }

  private saw(key: string, revision: number): void {
    this.floors.set(key, Math.max(this.floors.get(key) ?? 0, revision));
    this.toldRevision = Math.max(this.toldRevision, revision);
  }
}

/** Values are the serial as JSON text. */
function serialOf(value: Uint8Array): number {
  let serial = 0;
  for (const byte of value) serial = serial * 10 + (byte - 0x30);
  return serial;
}
