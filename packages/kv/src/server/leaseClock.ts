/**
 * The timers of leases: a grant that nobody claims is passed on, a break's time runs out, an ending is finished, a lock
 * delay is over; and of all of them, where the store was made of another one: grants begin (grace.ts). They run on the
 * leader alone, act by log command, and begin anew in full with each new leader. Crowds go in portions, each when the
 * one before is applied, so that they keep no write waiting.
 *
 * An ending is finished one TTL after the last keep-alive that this leader may have answered without telling of it: by
 * then its holder's own deadline, counted from when it sent that, is over. What is proposed names the office's term
 * and the lease's, so it touches no other grant.
 */
import {
  type ByteString,
  boundedEntries,
  type Command,
  type CommandResult,
  type DueKind,
  encodeProposal,
  type LeaseDue,
  maxBatchedItems,
} from "@quorate/client/protocol";
import { type Cancel, type Clock, type Logger, QuorateError, type RaftNode } from "@quorate/raft";
import { isItsTurn, type LeaseState, type StoreState } from "../machine/index.ts";

export interface LeaseClockPorts {
  readonly node: Pick<RaftNode<CommandResult>, "propose">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly store: Pick<StoreState, "sessions" | "leases" | "graceMs" | "version">;
  /** When the session was last heard in this office, or when the office began; in `bootMs`. */
  readonly heardMs: (session: number) => number;
}

export interface LeaseClockOptions {
  /** How long a waiter that was granted a lease may take to claim it. */
  readonly claimWindowMs: number;
  /** After which a proposal that failed is made again. */
  readonly retryMs: number;
}

interface Timer extends LeaseDue {
  readonly dueMs: number;
}

/** Leases that one turn looks at. */
const lookedAtOnce = 4_096;

export class LeaseClock {
  readonly #ports: LeaseClockPorts;
  readonly #options: LeaseClockOptions;
  readonly #timers: Map<ByteString, Timer> = new Map();
  /** The Raft term of the office; undefined where this node does not lead. */
  #office: number | undefined;
  #cancel: Cancel | undefined;
  #armedMs: number = Number.POSITIVE_INFINITY;
  /** Proposed, and not applied yet. */
  #portion: readonly LeaseDue[] | undefined;
  /** When grants may begin; Infinity where they have. */
  #graceEndMs: number = Number.POSITIVE_INFINITY;

  constructor(ports: LeaseClockPorts, options: LeaseClockOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  get timers(): number {
    return this.#timers.size;
  }

  begin(office: number): void {
    this.end();
    this.#office = office;
    const { graceMs } = this.#ports.store;
    this.#lookAtAll(office);
    if (graceMs === 0) return;
    this.#graceEndMs = this.#ports.clock.bootMs() + graceMs;
    this.#armBy(this.#graceEndMs);
  }

  /** An entry was applied. In the same turn. */
  applied(): void {
    const office = this.#office;
    const isOver = this.#graceEndMs < Number.POSITIVE_INFINITY && this.#ports.store.graceMs === 0;
    if (office === undefined || !isOver) return;
    this.#graceEndMs = Number.POSITIVE_INFINITY;
    this.#lookAtAll(office);
  }

  /** Those that change before they are looked at are looked at then, too. */
  #lookAtAll(office: number, from?: ByteString): void {
    if (office !== this.#office) return;
    const { clock, store } = this.#ports;
    const nowMs = clock.bootMs();
    let looked = 0;
    for (const [name, lease] of store.leases.entries(from)) {
      if (looked >= lookedAtOnce) {
        clock.defer(() => this.#lookAtAll(office, name));
        return;
      }
      looked += 1;
      this.#look(lease, nowMs);
    }
  }

  end(): void {
    this.#office = undefined;
    this.#portion = undefined;
    this.#timers.clear();
    this.#cancel?.();
    this.#cancel = undefined;
    this.#armedMs = Number.POSITIVE_INFINITY;
    this.#graceEndMs = Number.POSITIVE_INFINITY;
  }

  /** These were changed by an entry. */
  changed(names: Iterable<ByteString>): void {
    if (this.#office === undefined) return;
    const nowMs = this.#ports.clock.bootMs();
    for (const name of names) {
      const lease = this.#ports.store.leases.get(name);
      if (lease === undefined) this.#timers.delete(name);
      else this.#look(lease, nowMs);
    }
  }

  #look(lease: LeaseState, nowMs: number): void {
    const { name } = lease;
    const next = this.#nextOf(lease, nowMs);
    const before = this.#timers.get(name);
    if (next === undefined) this.#timers.delete(name);
    // One that runs already was begun when it became so: what has changed since is something else. But another break
    // may leave less time, and never more.
    else if (
      before?.what !== next.what ||
      before.term !== lease.term ||
      (next.what === "revoke" && next.dueMs < before.dueMs)
    ) {
      this.#timers.set(name, { what: next.what, name, term: lease.term, dueMs: next.dueMs });
      this.#armBy(next.dueMs);
    }
  }

  /** The one timer that a lease can have. Of a grant of several names, the first of them has it. */
  #nextOf(lease: LeaseState, nowMs: number): { what: DueKind; dueMs: number } | undefined {
    const { name, grant, delayMs } = lease;
    if (grant === undefined) {
      if (delayMs > 0) return { what: "endDelay", dueMs: nowMs + delayMs };
      return this.#isLeftUngranted(lease) ? { what: "grant", dueMs: nowMs } : undefined;
    }
    if (grant.names[0] !== name) return undefined;
    if (!grant.claimed) return { what: "passOn", dueMs: nowMs + this.#options.claimWindowMs };
    if (grant.ending !== "none") {
      const ttlMs = this.#ports.store.sessions.get(grant.session)?.ttlMs ?? 0;
      return { what: "finish", dueMs: this.#ports.heardMs(grant.session) + ttlMs };
    }
    return grant.breakAfterMs === undefined
      ? undefined
      : { what: "revoke", dueMs: nowMs + grant.breakAfterMs };
  }

  /** By the end of the grace period alone: all else grants in the entry that it is. */
  #isLeftUngranted({ name, queue: [first] }: LeaseState): boolean {
    const { store } = this.#ports;
    if (first === undefined || store.version < boundedEntries || first.names[0] !== name) return false;
    return isItsTurn(store, first);
  }

  /** One for all; where those that it was for are gone, it finds nothing to do. */
  #armBy(dueMs: number): void {
    if (dueMs >= this.#armedMs) return;
    this.#cancel?.();
    this.#armedMs = dueMs;
    const delayMs = Math.max(1, dueMs - this.#ports.clock.bootMs());
    this.#cancel = this.#ports.clock.after(delayMs, () => {
      this.#cancel = undefined;
      // A claim that has arrived while this process stood still counts first.
      this.#ports.clock.defer(() => this.#run());
    });
  }

  #run(): void {
    this.#armedMs = Number.POSITIVE_INFINITY;
    const { clock } = this.#ports;
    const office = this.#office;
    if (office === undefined || this.#portion !== undefined) return;
    const nowMs = clock.bootMs();
    const due: LeaseDue[] = [];
    let nextMs = this.#endGraceBy(office, nowMs);
    for (const timer of this.#timers.values()) {
      const { what, name, term, dueMs } = timer;
      if (dueMs <= nowMs && due.length < maxBatchedItems) {
        // One that was never granted has no term, and a command has to name one.
        due.push({ what, name, term: Math.max(1, term) });
        // What is applied changes the lease, and ends the timer; what fails is tried again.
        this.#timers.set(name, { ...timer, dueMs: nowMs + this.#options.retryMs });
      }
      nextMs = Math.min(nextMs, this.#timers.get(name)?.dueMs ?? nextMs);
    }
    if (due.length > 0) {
      const [{ what, name, term } = { what: "", name: "", term: 0 }] = due;
      const facts = { leases: due.length, what, name, term };
      this.#portion = due;
      void this.#propose({ kind: "leasesDue", office, due }, facts, "The time of leases had run out.").then(
        () => {
          if (this.#portion !== due) return;
          this.#portion = undefined;
          this.#armBy(clock.bootMs());
        },
      );
    } else this.#armBy(nextMs);
  }

  /** When it is to be looked at again. */
  #endGraceBy(office: number, nowMs: number): number {
    const { graceMs } = this.#ports.store;
    if (graceMs === 0) this.#graceEndMs = Number.POSITIVE_INFINITY;
    if (nowMs < this.#graceEndMs) return this.#graceEndMs;
    void this.#propose({ kind: "endGrace", office }, { graceMs }, "Leases are granted from now on.");
    this.#graceEndMs = nowMs + this.#options.retryMs;
    return this.#graceEndMs;
  }

  /** What fails is tried again when its timer runs out the next time. */
  #propose(command: Command, facts: Readonly<Record<string, unknown>>, done: string): Promise<void> {
    const { node, logger } = this.#ports;
    return node.propose(encodeProposal({ origin: { kind: "anonymous" }, command })).then(
      () => logger.info(facts, done),
      (error: unknown) => {
        if (!(error instanceof QuorateError)) throw error;
        logger.debug({ ...facts, code: error.code }, "Timers of leases are tried again.");
      },
    );
  }
}
