/**
 * The leases of a cluster object: acquired, waited for, given back. Who gets what is decided by the cluster; here it
 * is asked, waited for, and never believed before a renewal that names it is confirmed.
 *
 *     acquire ─► granted ──────────────────────────► renewal that names it ─► in hand
 *        └─────► queued ─► granted later ─► claimed ──────┘
 *
 * Whatever goes wrong on the way takes the acquire back, as often as it takes: a grant that nobody knows of would be
 * held for as long as this client lives.
 */
import { QuorateError } from "@quorate/raft";
import { backoffMs } from "./backoff.ts";
import type { ClientSession } from "./clientSession.ts";
import { HeldLease, type LeaseActs } from "./heldLease.ts";
import { patienceOptions } from "./kv.ts";
import type { Lease, LeaseOptions } from "./leaseApi.ts";
import { LeaseBid } from "./leaseBid.ts";
import { allowanceMs } from "./leaseDeadline.ts";
import { type AcquirePlan, planOf } from "./leasePlan.ts";
import { type Calls, type Patience, pause } from "./patience.ts";
import { type CommandResult, maxRequestTimeoutMs } from "./protocol/index.ts";
import type { Router } from "./router.ts";
import type { LeaseCounts } from "./seen/leaseCounts.ts";
import type { Session } from "./session.ts";
import { unexpected } from "./writer.ts";

export interface LeasePorts {
  readonly calls: Calls;
  readonly router: Router;
  readonly sessions: Session;
  readonly acts: LeaseActs;
  readonly counts: LeaseCounts;
}

type Attempt = HeldLease | "unavailable" | "again";
/** Granted by the acquire itself, or to a waiter, who has to claim it. */
interface Grant {
  readonly term: number;
  readonly isClaimed: boolean;
}

const pauses = { firstMs: 20, factor: 2, capMs: 500 };

export class LeaseAcquirer {
  readonly #ports: LeasePorts;

  constructor(ports: LeasePorts) {
    this.#ports = ports;
  }

  /** Undefined only where it was not to wait. */
  acquire(
    names: string | readonly string[],
    options: LeaseOptions,
    wait: boolean,
  ): Promise<Lease | undefined> {
    const plan = planOf(names, options, wait, this.#ports.sessions.ttlMs);
    const allowance = allowanceMs(plan.ttlMs, this.#ports.router.clock, options.renewDeadlineMs);
    const patient = patienceOptions(
      options,
      wait ? maxRequestTimeoutMs : this.#ports.sessions.requestTimeoutMs,
    );
    return this.#ports.calls.run(patient, async (patience) => {
      for (let tries = 0; ; tries += 1) {
        const attempt = await this.#attempt(plan, allowance, patience);
        if (attempt === "unavailable") return undefined;
        if (attempt !== "again") {
          this.#ports.counts.taken(attempt);
          return attempt;
        }
        const { clock, random } = this.#ports.router;
        await pause(clock, backoffMs(random, pauses, tries), patience);
      }
    });
  }

  async #attempt(plan: AcquirePlan, allowance: number, patience: Patience): Promise<Attempt> {
    if (!plan.ownsSession) {
      const session = await this.#ports.sessions.opened(patience);
      return session === undefined ? "again" : this.#acquireIn(session, plan, allowance, patience);
    }
    let lease: HeldLease | undefined;
    const session = await this.#ports.sessions.open(
      {
        ttlMs: plan.ttlMs,
        renewEveryMs: plan.renewEveryMs,
        mayRenew: () => lease === undefined || (lease.hasProgressed && !plan.isManual),
      },
      patience,
    );
    try {
      const attempt = await this.#acquireIn(session, plan, allowance, patience);
      if (attempt instanceof HeldLease) lease = attempt;
      return attempt;
    } finally {
      if (lease === undefined) void session.close();
    }
  }

  async #acquireIn(
    session: ClientSession,
    plan: AcquirePlan,
    allowance: number,
    patience: Patience,
  ): Promise<Attempt> {
    const sequence = await session.window.take(patience);
    if (sequence === undefined) throw this.#ports.sessions.ended(patience);
    const bid = new LeaseBid();
    session.join(sequence, bid);
    let lease: HeldLease | undefined;
    let outcome: Attempt | undefined;
    try {
      if (session.hasEnded) {
        session.window.finish(sequence);
        return "again";
      }
      const granted = await this.#granted(session, sequence, plan, bid, patience);
      if (typeof granted === "string") {
        outcome = granted;
        return granted;
      }
      lease = new HeldLease(this.#ports.router.clock, this.#ports.acts, {
        names: plan.shownNames,
        term: granted.term,
        sequence,
        session,
        allowanceMs: allowance,
        progressMs: plan.progressMs,
        isManual: plan.isManual,
        recentBootMs: () => this.#ports.router.recentBoot.readMs(),
      });
      session.join(sequence, lease);
      const isOurs = granted.isClaimed || (await this.#claimed(session, plan, granted.term, patience));
      outcome = isOurs ? await this.#confirmed(session, lease, patience) : "again";
      return outcome;
    } finally {
      session.leave(sequence, bid);
      if (outcome !== lease) lease?.discard();
      if (outcome === undefined) void session.insist({ kind: "cancelAcquire", sequence });
    }
  }

  async #granted(
    session: ClientSession,
    sequence: number,
    plan: AcquirePlan,
    bid: LeaseBid,
    patience: Patience,
  ): Promise<Grant | "unavailable" | "again"> {
    const result = await this.#sent(session, sequence, plan, patience);
    switch (result.kind) {
      case "leaseGranted":
        return { term: result.term, isClaimed: true };
      case "leaseUnavailable":
        return "unavailable";
      case "gracePeriod":
        throw new QuorateError("GRACE_PERIOD", graceSentence(plan.shownNames, result.forMs), {
          retryable: true,
        });
      case "leaseQueued":
        return this.#waited(session, plan, bid, patience);
      case "sessionEnded":
        // It holds nothing now, whatever became of earlier copies.
        session.end();
        return "again";
      case "acquireCancelled":
        return "again";
      default:
        throw unexpected(result, false);
    }
  }

  async #sent(
    session: ClientSession,
    sequence: number,
    plan: AcquirePlan,
    patience: Patience,
  ): Promise<CommandResult> {
    try {
      return (await session.send(sequence, plan.command, patience)).result;
    } finally {
      session.window.finish(sequence);
    }
  }

  async #waited(
    session: ClientSession,
    plan: AcquirePlan,
    bid: LeaseBid,
    patience: Patience,
  ): Promise<Grant | "again"> {
    await session.refresh(patience);
    if (!session.hasEnded) bid.refreshed();
    const state = await bid.outcome(patience);
    switch (state.kind) {
      case "waiting":
        if (patience.ended?.kind === "timedOut") throw notInTime(plan.shownNames, patience.timeoutMs);
        throw this.#ports.sessions.ended(patience);
      case "ended":
        throw new QuorateError(
          "SESSION_ENDED",
          `The session ended while it waited for ${plan.shownNames.join(", ")}, and its place with it. Acquire again.`,
          { retryable: true },
        );
      case "gone":
        return "again";
      case "granted":
        return { term: state.term, isClaimed: false };
    }
  }

  /** The renewal that it needs as well goes out beside it: it names the grant, whoever has claimed it. */
  async #claimed(
    session: ClientSession,
    plan: AcquirePlan,
    term: number,
    patience: Patience,
  ): Promise<boolean> {
    const lease = { name: plan.names[0] ?? "", term };
    try {
      const [executed] = await Promise.all([
        session.execute({ kind: "claimLease", lease }, patience),
        session.refresh(patience),
      ]);
      return executed?.result.kind === "leaseDone";
    } catch (error) {
      // Whatever became of the claim: the grant went with the session.
      if (session.hasEnded && patience.ended === undefined) return false;
      throw error;
    }
  }

  /** A renewal that was sent after the grant has been confirmed and named it. */
  async #confirmed(session: ClientSession, lease: HeldLease, patience: Patience): Promise<Attempt> {
    for (let tries = 0; !lease.isConfirmed && !lease.isOver; tries += 1) {
      if (patience.ended !== undefined) throw this.#ports.sessions.ended(patience);
      const { clock, random } = this.#ports.router;
      if (tries > 0) await pause(clock, backoffMs(random, pauses, tries - 1), patience);
      await session.refresh(patience);
      lease.refreshed();
    }
    lease.handOut();
    return lease.isOver ? "again" : lease;
  }
}

function notInTime(names: readonly string[], timeoutMs: number): QuorateError {
  const sentence =
    `${names.join(", ")} could not be had within ${timeoutMs} ms: others hold it, or come before. ` +
    "The place in the queue is given back.";
  return new QuorateError("TIMED_OUT", sentence, { retryable: true });
}

function graceSentence(names: readonly string[], forMs: number): string {
  return (
    `Nobody has ${names.join(", ")}, but no lease is granted until ${forMs} ms after the cluster's leader took office: ` +
    "its store was made of another cluster's, whose holders may believe in theirs until then. Wait with acquire()."
  );
}
