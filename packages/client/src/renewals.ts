/**
 * When the sessions of one cluster object are renewed: each in its time, and those that are due together by one
 * request, however many they are. What an answer extends counts from when that very request was sent, and a session's
 * next renewal is due whether the one before was answered or not: attempts are never folded into each other.
 *
 * A session that such an answer leaves out asks by itself: it has ended, has other leases, or is renewed by the log.
 */
import { type Cancel, type Clock, type Logger, QuorateError } from "@quorate/raft";
import { type Caller, type CallPolicy, senseless } from "./caller.ts";
import { Patience } from "./patience.ts";
import { type LeaseSet, maxRenewalsAtOnce } from "./protocol/index.ts";

export interface Renewable {
  readonly id: number;
  readonly options: {
    readonly ttlMs: number;
    readonly renewEveryMs: number;
    /** Renewals are left out as long as this is false. */
    readonly mayRenew: () => boolean;
  };
  /** As far as is known. */
  readonly leases: LeaseSet;
  /** By itself, for `timeoutMs`. Never rejects. */
  renewAlone(timeoutMs: number): Promise<void>;
  /** A renewal that was sent at `sentMs` (`bootMs`) has been confirmed, with these leases. */
  renewed(sentMs: number, leases: LeaseSet): void;
}

export interface RenewalPorts {
  readonly caller: Caller;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Harmless when it comes twice. */
export const renewing: CallPolicy = { target: "leader", resend: "always", hasEffect: false };
/** Renewals are gathered into so many instants of the time between two of a session. */
const renewalSteps = 16;
/** Of half a day, or of a time to live without an end, nobody waits for so long. */
const longestMs = 60_000;

export class Renewals {
  readonly #ports: RenewalPorts;
  readonly #dueMs: Map<Renewable, number> = new Map();
  readonly #dueAt: Map<number, Set<Renewable>> = new Map();
  /** The keys of `#dueAt`, the latest first. */
  readonly #instants: number[] = [];
  readonly #underWay: Set<Patience> = new Set();
  #cancel: Cancel | undefined;
  #armedMs: number = Number.POSITIVE_INFINITY;

  constructor(ports: RenewalPorts) {
    this.#ports = ports;
  }

  /** From now on it is renewed. */
  add(session: Renewable): void {
    const { renewEveryMs } = session.options;
    // A little early, with others: they travel in one frame, and share one confirmation.
    const stepMs = renewEveryMs / renewalSteps;
    const dueMs = Math.floor((this.#ports.clock.nowMs() + renewEveryMs) / stepMs) * stepMs;
    this.#dueMs.set(session, dueMs);
    const others = this.#dueAt.get(dueMs);
    if (others !== undefined) others.add(session);
    else {
      this.#dueAt.set(dueMs, new Set([session]));
      this.#instants.splice(this.#placeOf(dueMs), 0, dueMs);
    }
    this.#arm();
  }

  /** Renewals under way may still be answered. */
  remove(session: Renewable): void {
    const dueMs = this.#dueMs.get(session);
    if (dueMs === undefined) return;
    this.#dueMs.delete(session);
    const others = this.#dueAt.get(dueMs);
    others?.delete(session);
    if (others?.size !== 0) return;
    this.#dueAt.delete(dueMs);
    this.#instants.splice(this.#placeOf(dueMs), 1);
    this.#arm();
  }

  close(): void {
    for (const patience of [...this.#underWay]) {
      patience.end({ kind: "closed", reason: "The sessions are over." });
    }
  }

  /** Where it stands in `#instants`, or would. */
  #placeOf(instantMs: number): number {
    let [low, high] = [0, this.#instants.length];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((this.#instants[middle] as number) > instantMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #arm(): void {
    const nextMs = this.#instants.at(-1) ?? Number.POSITIVE_INFINITY;
    if (nextMs === this.#armedMs) return;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#armedMs = nextMs;
    if (nextMs === Number.POSITIVE_INFINITY) return;
    const { clock } = this.#ports;
    this.#cancel = clock.after(Math.max(0, nextMs - clock.nowMs()), () => this.#run());
  }

  #run(): void {
    this.#cancel = undefined;
    this.#armedMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#ports.clock.nowMs();
    const due: Renewable[] = [];
    for (
      let atMs = this.#instants.at(-1);
      atMs !== undefined && atMs <= nowMs;
      atMs = this.#instants.at(-1)
    ) {
      this.#instants.pop();
      due.push(...(this.#dueAt.get(atMs) ?? []));
      this.#dueAt.delete(atMs);
    }
    for (const session of due) this.add(session);
    this.#arm();
    const renewed = due.filter(({ options }) => options.mayRenew());
    for (const [ttlMs, some] of byTtl(renewed)) {
      for (let from = 0; from < some.length; from += maxRenewalsAtOnce) {
        void this.#renew(some.slice(from, from + maxRenewalsAtOnce), timeoutOf(ttlMs));
      }
    }
  }

  async #renew(sessions: readonly Renewable[], timeoutMs: number): Promise<void> {
    const [first] = sessions;
    if (first !== undefined && sessions.length === 1) {
      await first.renewAlone(timeoutMs);
      return;
    }
    const patience = new Patience(this.#ports.clock, { timeoutMs });
    this.#underWay.add(patience);
    try {
      await this.#renewTogether(sessions, patience);
    } catch (error) {
      if (!(error instanceof QuorateError)) throw error;
      // An older node, which does not know this request.
      if (error.code === "REFUSED")
        for (const session of sessions) void session.renewAlone(patience.remainingMs);
      // Not a verdict: a session is over when the server says so, and until then the next renewal may succeed.
      const facts = { sessions: sessions.length, error: String(error) };
      this.#ports.logger.debug(facts, "A renewal of sessions failed.");
    } finally {
      this.#underWay.delete(patience);
      patience.dispose();
    }
  }

  async #renewTogether(sessions: readonly Renewable[], patience: Patience): Promise<void> {
    // As of when they are sent; what is known when they are answered may be newer.
    const known = sessions.map(({ leases }) => leases);
    const { body, sentMs } = await this.#ports.caller.call(
      {
        kind: "renewAll",
        sessions: sessions.map(({ id }) => id),
        versions: known.map(({ version }) => version),
      },
      renewing,
      patience,
    );
    if (body.kind !== "renewedAll") throw senseless("a renewal", body, "none");
    const apart = new Set(body.apart);
    for (const [at, session] of sessions.entries()) {
      if (apart.has(session.id)) void session.renewAlone(patience.remainingMs);
      else session.renewed(sentMs, known[at] as LeaseSet);
    }
  }
}

/** How long a renewal is tried: after half of a time to live others have taken its place. */
function timeoutOf(ttlMs: number): number {
  return Math.min(ttlMs / 2, longestMs);
}

function byTtl(sessions: readonly Renewable[]): Map<number, Renewable[]> {
  const groups = new Map<number, Renewable[]>();
  for (const session of sessions) {
    const { ttlMs } = session.options;
    const group = groups.get(ttlMs);
    if (group === undefined) groups.set(ttlMs, [session]);
    else group.push(session);
  }
  return groups;
}
