/**
 * The client's session: writes that are executed once, however often they have to be sent.
 *
 * Opened at the first write, renewed every TTL/4 through the leader, ended by `close`. A session that has ended is
 * never used again: a write that may have run under it is reported as unknown, and **never** sent again under another
 * session; a write that certainly did not run moves to a new one. An opening whose answer is lost leaves a session
 * that nobody renews, and that expires; one without an end is opened by the session, as a write.
 */
import { QuorateError } from "@quorate/raft";
import type { CallPolicy } from "./caller.ts";
import { ClientSession, type ClientSessionOptions, type SessionPorts } from "./clientSession.ts";
import { Patience, within } from "./patience.ts";
import { type Command, type CommandResult, encodeProposal, maxRequestTimeoutMs } from "./protocol/index.ts";
import { Renewals } from "./renewals.ts";
import type { ClusterMetrics } from "./seen/clusterMetrics.ts";
import { type Executed, executedOf, unexpected, type Writer } from "./writer.ts";

export type SessionOptions = Pick<
  ClientSessionOptions,
  "ttlMs" | "requestTimeoutMs" | "maxWaiting" | "closeTimeoutMs"
>;

/** What a session of a lease's own has besides. */
export type OwnSessionOptions = Pick<ClientSessionOptions, "ttlMs" | "renewEveryMs" | "mayRenew">;

const opening: CallPolicy = { target: "leader", resend: "always", hasEffect: false };

export class Session implements Writer {
  readonly #ports: SessionPorts;
  readonly #options: SessionOptions;
  /** The one for writes, and those of leases: all that are open, and those whose end the cluster is yet to be told. */
  readonly #sessions: Set<ClientSession> = new Set();
  #current: ClientSession | undefined;
  #opening: Promise<ClientSession> | undefined;
  readonly #own: Set<Patience> = new Set();
  readonly #shared: WeakSet<ClientSession> = new WeakSet();
  #isClosed = false;
  #openedCount = 0;
  #expiredCount = 0;

  constructor(ports: Omit<SessionPorts, "renewals">, options: SessionOptions) {
    const { caller, router, logger } = ports;
    this.#ports = { ...ports, renewals: new Renewals({ caller, clock: router.clock, logger }) };
    this.#options = options;
  }

  get ttlMs(): number {
    return this.#options.ttlMs;
  }

  get requestTimeoutMs(): number {
    return this.#options.requestTimeoutMs;
  }

  /** How many were opened, and how many the cluster has ended; and what is left of those that are open. */
  metrics(): ClusterMetrics["sessions"] {
    const alive = [...this.#sessions].filter(({ hasEnded }) => !hasEnded);
    const open = alive.map(({ id, options, remainingMs }) => ({ id, ttlMs: options.ttlMs, remainingMs }));
    return { open, opened: this.#openedCount, expired: this.#expiredCount };
  }

  /** The one for writes, and for all leases that have none of their own. */
  isShared(session: ClientSession): boolean {
    return this.#shared.has(session);
  }

  /** Why a call ended of which nothing was sent. */
  ended(patience: Patience): QuorateError {
    return this.#ports.caller.ended(patience, false);
  }

  async execute(command: Command, patience: Patience): Promise<Executed> {
    for (;;) {
      const session = await this.opened(patience);
      const executed = await session?.execute(command, patience);
      if (executed !== undefined) return executed;
    }
  }

  /** Ends the sessions, within their bound. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const patience of [...this.#own])
      patience.end({ kind: "closed", reason: "The session was closed." });
    this.#ports.renewals.close();
    await Promise.all([...this.#sessions].map((session) => session.closeSoon()));
  }

  /** An alive session, as far as is known; undefined where one has ended and has to be opened anew. */
  async opened(patience: Patience): Promise<ClientSession | undefined> {
    if (patience.ended !== undefined) throw this.ended(patience);
    if (this.#current !== undefined) return this.#current;
    this.#opening ??= this.#openCurrent().finally(() => {
      this.#opening = undefined;
    });
    try {
      const session = await within(this.#opening, patience);
      if (session === undefined) throw this.ended(patience);
      return session;
    } catch (error) {
      // The opening has the usual patience; this caller may have a longer one.
      if (patience.ended !== undefined || !isTimeout(error)) throw error;
      return undefined;
    }
  }

  /** One more, for whoever closes it. */
  async open(options: OwnSessionOptions, patience: Patience): Promise<ClientSession> {
    const { ttlMs } = options;
    if (ttlMs === Number.POSITIVE_INFINITY) return this.#openEndless(options, patience);
    const proposal = encodeProposal({
      origin: { kind: "anonymous" },
      command: { kind: "openSession", ttlMs },
    });
    const answered = await this.#ports.caller.call({ kind: "execute", proposal }, opening, patience);
    return this.#made(executedOf(answered).result, options, answered.sentMs);
  }

  /**
   * Opened twice, or for nobody, it would stay for ever. So it is opened by the session for writes, which does that
   * once, and closed where nobody waits for it any more when it is there.
   */
  async #openEndless(options: OwnSessionOptions, patience: Patience): Promise<ClientSession> {
    const { clock } = this.#ports.router;
    const command: Command = { kind: "openSession", ttlMs: options.ttlMs };
    const made = this.#onOwnBehalf(maxRequestTimeoutMs, async (own) => {
      for (;;) {
        try {
          const { result } = await this.execute(command, own);
          return this.#made(result, options, clock.bootMs());
        } catch (error) {
          // The session for writes ended meanwhile. One may be left behind, and the caller is not to suffer for it.
          if (!(error instanceof QuorateError) || error.code !== "SESSION_ENDED") throw error;
        }
      }
    });
    const session = await within(made, patience);
    if (session !== undefined) return session;
    made.then(
      (late) => late.close(),
      (error: unknown) =>
        this.#ports.logger.debug({ error: String(error) }, "A session that nobody waits for was not opened."),
    );
    throw this.ended(patience);
  }

  #made(result: CommandResult, options: OwnSessionOptions, openedMs: number): ClientSession {
    if (result.kind === "refused") throw new QuorateError("OVERLOADED", result.reason, { retryable: true });
    if (result.kind !== "sessionOpened") throw unexpected(result, false);
    if (this.#isClosed) throw new QuorateError("CLOSED", "The cluster object was closed.");
    const session: ClientSession = new ClientSession(this.#ports, result.session, {
      ...this.#options,
      ...options,
      openedMs,
      onEnd: (why) => {
        if (why === "expired") this.#expiredCount += 1;
        if (this.#current === session) this.#current = undefined;
      },
      onSettled: () => this.#sessions.delete(session),
    });
    this.#sessions.add(session);
    this.#openedCount += 1;
    return session;
  }

  #openCurrent(): Promise<ClientSession> {
    const { ttlMs, requestTimeoutMs } = this.#options;
    return this.#onOwnBehalf(requestTimeoutMs, async (patience) => {
      const options = { ttlMs, renewEveryMs: ttlMs / 4, mayRenew: () => true };
      const session = await this.open(options, patience);
      this.#shared.add(session);
      this.#current = session;
      return session;
    });
  }

  async #onOwnBehalf<T>(timeoutMs: number, body: (patience: Patience) => Promise<T>): Promise<T> {
    const patience = new Patience(this.#ports.router.clock, { timeoutMs });
    this.#own.add(patience);
    try {
      return await body(patience);
    } finally {
      this.#own.delete(patience);
      patience.dispose();
    }
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof QuorateError && error.code === "TIMED_OUT";
}
