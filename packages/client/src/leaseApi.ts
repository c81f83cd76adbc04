/**
 * Leases as their users see them: who holds a role, by which term, and until when they may believe it.
 *
 * A lease lives as long as its session, which the client keeps alive. Its holder's deadline is computed here, from when
 * renewals that were answered had been **sent**, so that it is over before the cluster can grant the lease to anybody
 * else. Whoever acts without `check()`, or on a resource that does not check the term, can act late.
 */
import type { RequestOptions, Value } from "./cluster.ts";
import type { GrantEnd } from "./protocol/index.ts";
import type { Sequencer } from "./sequencer.ts";

/** `held`; `jeopardy`: renewals fail, or it was asked to end, and it may be lost soon; then one of the last two. */
export type LeaseStatus = "held" | "jeopardy" | "lost" | "released";

export interface LeaseCheck {
  /** The reading of `cluster.clock.bootMs()` that it was decided on. */
  readonly nowMs: number;
  /** From then on. */
  readonly remainingMs: number;
}

export interface LeaseOptions extends RequestOptions {
  /**
   * How long after its last sign of life it may go to somebody else. Default: the cluster object's `sessionTtlMs`, and
   * its session with it; another one opens a session for this lease alone. `Infinity`: never; only its holder ends it,
   * or a break by force, also when its process is gone for good.
   */
  readonly ttlMs?: number;
  /** Who holds it, for people, at most 256 bytes. Default: empty. */
  readonly holder?: string;
  /** What everybody can read of it. At most 64 KiB. */
  readonly data?: Value;
  /** Higher ones come first; within one, first come, first served. An integer. Default 0. */
  readonly priority?: number;
  /** Compared before `priority`: an integer from 0 to 1,023, the higher ones first. Default 0. */
  readonly preference?: number;
  /** Asks a holder that comes after this one to hand over. Default false. */
  readonly asksHandover?: boolean;
  /**
   * Takes the lease from a holder that comes after this one: it has up to a time to live to finish, and loses it then
   * with the reason `preempted`. Default false.
   */
  readonly preempts?: boolean;
  /** For people, at most 64 bytes each: what runs here, and where. `candidates` shows them. Default: empty. */
  readonly version?: string;
  readonly zone?: string;
  /** After an unclean loss, it is granted to nobody for so long. Default 0. */
  readonly lockDelayMs?: number;
  /** It is renewed only as long as `progress()` was called within so long. Opens a session of its own. */
  readonly progressMs?: number;
  /**
   * Between renewals. Default: a quarter of the time to live. `Infinity`: once it is held, only `renew` and `ensure`
   * renew it.
   */
  readonly renewEveryMs?: number;
  /** Its deadline is no later than so long after the sending of a confirmed renewal. Default: no such bound. */
  readonly renewDeadlineMs?: number;
}

export interface Lease extends AsyncDisposable {
  /** The first of `names`. */
  readonly name: string;
  readonly names: readonly string[];
  /** The fencing token: rises with every grant of the name, whoever gets it. An integer below 2^53. */
  readonly term: number;
  readonly status: LeaseStatus;
  /**
   * Aborts when it is lost or released, and before its deadline; its reason is a `LeaseLostError`. A thread that is
   * blocked sees it late: that is why there is `check`.
   */
  readonly signal: AbortSignal;
  /** Aborts when somebody asked for it, or it was broken: finish, and release. */
  readonly handoverSignal: AbortSignal;
  /** Throws `LeaseLostError` where it is not held any more. Call it before each effect. */
  check(): LeaseCheck;
  /** 0 where it is not held. */
  remainingMs(): number;
  /** Checks, runs `fn`, and checks again: rejects `LeaseLostError` where it was lost meanwhile. */
  run<Result>(fn: (lease: Lease) => Result | Promise<Result>): Promise<Result>;
  /** For a lease with `progressMs`. */
  progress(): void;
  /**
   * Calls `fn` each time that it comes into jeopardy. The result removes `fn`. What it throws or rejects with is an
   * unhandled rejection of the process, for there is nobody else to tell, and does nothing to the lease.
   */
  onJeopardy(fn: () => unknown): () => void;
  /** What everybody reads of it from now on. */
  proclaim(data: Value, options?: RequestOptions): Promise<void>;
  /** Leaves a note for whoever holds it next, under this term: refused where it is lost. */
  checkpoint(data: Value, options?: RequestOptions): Promise<void>;
  /** The last note that any holder left; undefined where there is none. */
  lastCheckpoint(options?: RequestOptions): Promise<unknown>;
  /**
   * Renews it now, and resolves when that is confirmed. Rejects `LeaseLostError` where it is lost, and as every request
   * does where the cluster cannot be asked: then it may still be held. Counts as progress.
   */
  renew(options?: RequestOptions): Promise<LeaseCheck>;
  /**
   * Resolves at once where at least `ms` remain, and otherwise when it was renewed so that they do. Rejects as `renew`,
   * and `REFUSED` where fewer remain all the same: it is about to end, or the renewal was long on its way.
   */
  ensure(ms: number, options?: RequestOptions): Promise<LeaseCheck>;
  /** `name:exclusive:term`, for a service that asks the cluster whether it is still so (`cluster.lease.verify`). */
  sequencer(): string;
  /** `check()` throws from now on. Resolves when the cluster has it back. Idempotent. */
  release(options?: RequestOptions): Promise<void>;
}

export interface LeaseInfo {
  readonly name: string;
  /** `granted`: to a waiter that does not know yet; `delayed`: kept back after an unclean loss or in a grace period. */
  readonly state: "free" | "granted" | "held" | "ending" | "delayed";
  /** Of the last grant; null where there was none that is remembered. */
  readonly term: number | null;
  /** Grants, as long as the store remembers the name. */
  readonly transitions: number;
  readonly holder: string | null;
  readonly session: number | null;
  /** What its holder proclaimed. */
  readonly data: unknown;
  readonly handoverRequested: boolean;
  readonly waiting: number;
}

/** One grant of a lease. */
export interface LeaseTenure {
  /** The store's revision at which it was granted, too. */
  readonly term: number;
  readonly holder: string;
  readonly session: number;
  /** The store's revision when it ended; null where it is in force. */
  readonly toRevision: number | null;
  /**
   * How it ended; null where it is in force. `released`, `closed` and `cancelled` by its own process; `lost`: by its
   * holder's own deadline, while its session lived on (`released` as long as the cluster has members of a release that
   * does not know this); `expired`: the cluster had not heard of it for its time to live; `revoked`: broken, and over
   * when its holder could not believe in it any more; `preempted`: the same, by one that comes first; `forced`: by a
   * break, at once; `unclaimed`: its holder never learnt of it.
   */
  readonly end: GrantEnd | null;
}

/** One who holds a lease, or waits for it. */
export interface LeaseCandidate {
  /** `granted`: and does not know it yet. */
  readonly state: "waiting" | "granted" | "held" | "ending";
  readonly holder: string;
  readonly session: number;
  readonly preference: number;
  readonly priority: number;
  readonly version: string;
  readonly zone: string;
}

export interface BreakOptions extends RequestOptions {
  /**
   * How long its holder may go on, after it was asked; of several breaks the one counts that leaves it the least.
   * Default 0: it is told at its next renewal that it is over.
   */
  readonly afterMs?: number;
  /**
   * Grants it to the next one at once, though its holder may not know for a TTL: only fencing protects then. Without it
   * a lease with a TTL of Infinity goes on until its holder, which is told, releases it.
   */
  readonly force?: boolean;
}

export interface LeaseListOptions extends RequestOptions {
  /** Of names. Default: all. */
  readonly prefix?: string;
  /** At most 10,000; default 1,000. */
  readonly limit?: number;
}

export interface CandidateOptions extends RequestOptions {
  /** At most 10,000; default 1,000. */
  readonly limit?: number;
}

export interface LeaseStore {
  /** Waits until it is granted; several names are granted together or not at all. `signal` takes the place back. */
  acquire(names: string | readonly string[], options?: LeaseOptions): Promise<Lease>;
  /**
   * Undefined where somebody has it, or is before us. Rejects `GRACE_PERIOD`, retryable, where the cluster was made of
   * another one's store and grants nothing yet; its message says how long that may take.
   */
  tryAcquire(names: string | readonly string[], options?: LeaseOptions): Promise<Lease | undefined>;
  /** Linearizable, as are all reads here. */
  get(name: string, options?: RequestOptions): Promise<LeaseInfo>;
  /** By name. Where they are more than four megabytes with their data, in pages, each of which is of one moment. */
  list(options?: LeaseListOptions): Promise<readonly LeaseInfo[]>;
  /** Who holds it, then who waits for it, in the order in which they would be granted it. */
  candidates(name: string, options?: CandidateOptions): Promise<readonly LeaseCandidate[]>;
  /**
   * For a service that was sent a `lease.sequencer()`: resolves where that lease is held under that term now, and
   * rejects `StaleTermError` where it is not, `INVALID_ARGUMENT` where it is no sequencer. It may be lost right after:
   * give what it gives to a write as its `fence`, or remember the highest term.
   */
  verify(sequencer: string, options?: RequestOptions): Promise<Sequencer>;
  /**
   * Who held it, by which term, and how that ended: the oldest first, the grant in force as the last one. A name
   * remembers its last 16 grants that are over.
   */
  history(name: string, options?: RequestOptions): Promise<readonly LeaseTenure[]>;
  /** What there is of it now, and each change that is seen from then on; fast ones are skipped. Ends with `signal`. */
  watch(name: string, options?: { readonly signal?: AbortSignal }): AsyncIterable<LeaseInfo>;
  /** For administrators. False where nobody held it. */
  break(name: string, options?: BreakOptions): Promise<boolean>;
  /**
   * For administrators of a cluster that was made of another one's store: nobody believes in a lease of the old one any
   * more, and grants begin at once. False where they had begun.
   */
  grantAtOnce(options?: RequestOptions): Promise<boolean>;
  /** Asks its holder to finish and release. False where nobody held it. */
  requestHandover(name: string, options?: RequestOptions): Promise<boolean>;
}
