/**
 * The client's session: writes that are executed once, however often they have to be sent.
 *
 * Opened at the first write, renewed every TTL/4 through the leader, ended by `close`. A session that has ended is
 * never used again: a write that may have run under it is reported as unknown, and **never** sent again under another
 * session; a write that certainly did not run moves to a new one. An opening whose answer is lost leaves a session
 * that nobody renews, and that expires.
 */
import { type Cancel, type Logger, QuorateError } from "@quorate/raft";
import type { Caller, CallPolicy } from "./caller.ts";
import { Patience, within } from "./patience.ts";
import { type Command, encodeProposal, type Origin } from "./protocol/index.ts";
import type { Router } from "./router.ts";
import { SequenceWindow } from "./sequenceWindow.ts";
import { type Executed, executedOf, unexpected, type Writer } from "./writer.ts";

export interface SessionOptions {
  readonly ttlMs: number;
  readonly requestTimeoutMs: number;
  /** Writes that wait for a place in the window. */
  readonly maxWaiting: number;
  /** How long `close` may take to end the session at the server. */
  readonly closeTimeoutMs: number;
}

interface OpenSession {
  readonly id: number;
  readonly window: SequenceWindow;
  hasEnded: boolean;
  cancelRenewal: Cancel;
}

/** Recognized by the server when it comes twice, or harmless then. */
const repeatable: CallPolicy = { target: "leader", resend: "always", hasEffect: true };
const renewing: CallPolicy = { target: "leader", resend: "always", hasEffect: false };
const anonymous: Origin = { kind: "anonymous" };

export class Session implements Writer {
  readonly #caller: Caller;
  readonly #router: Router;
  readonly #logger: Logger;
  readonly #options: SessionOptions;
  #current: OpenSession | undefined;
  #opening: Promise<OpenSession> | undefined;
  /** What waits on the session's own behalf: its opening and a renewal. */
  readonly #own: Set<Patience> = new Set();
  #isClosed = false;

  constructor(caller: Caller, router: Router, logger: Logger, options: SessionOptions) {
    this.#caller = caller;
    this.#router = router;
    this.#logger = logger;
    this.#options = options;
  }

  async execute(command: Command, patience: Patience): Promise<Executed> {
    for (;;) {
      const session = await this.#opened(patience);
      const executed = session === undefined ? undefined : await this.#executeIn(session, command, patience);
      if (executed !== undefined) return executed;
    }
  }

  /** Ends the session, within its bound. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const patience of [...this.#own])
      patience.end({ kind: "closed", reason: "The session was closed." });
    const session = this.#current;
    if (session === undefined) return;
    this.#end(session);
    try {
      const proposal = encodeProposal({
        origin: anonymous,
        command: { kind: "closeSession", session: session.id },
      });
      await this.#withOwn(this.#options.closeTimeoutMs, (patience) =>
        this.#caller.call({ kind: "execute", proposal }, repeatable, patience),
      );
    } catch (error) {
      this.#logger.debug(
        { session: session.id, error: String(error) },
        "The session could not be ended and will expire.",
      );
    }
  }

  /** Undefined where the command certainly did not run and has to go on under a new session. */
  async #executeIn(
    session: OpenSession,
    command: Command,
    patience: Patience,
  ): Promise<Executed | undefined> {
    const sequence = await session.window.take(patience);
    if (sequence === undefined) return this.#giveUp(patience);
    try {
      if (session.hasEnded) return undefined;
      const executed = await this.#send(session, sequence, command, patience);
      if (executed.result.kind !== "sessionEnded") return executed;
      this.#end(session);
      if (!executed.earlierUnanswered) return undefined;
      throw new QuorateError(
        "SESSION_ENDED",
        "The session ended while the write was under way, so whether it took effect is not known any more. " +
          "Read the key to see.",
        { outcome: "unknown" },
      );
    } finally {
      session.window.finish(sequence);
    }
  }

  async #send(
    session: OpenSession,
    sequence: number,
    command: Command,
    patience: Patience,
  ): Promise<Executed> {
    const { ackedBelow } = session.window;
    const origin: Origin = { kind: "session", session: session.id, sequence, ackedBelow };
    const proposal = encodeProposal({ origin, command });
    return executedOf(await this.#caller.call({ kind: "execute", proposal }, repeatable, patience));
  }

  /** An alive session, as far as is known; undefined where one has ended and has to be opened anew. */
  async #opened(patience: Patience): Promise<OpenSession | undefined> {
    if (patience.ended !== undefined) return this.#giveUp(patience);
    if (this.#current !== undefined) return this.#current;
    this.#opening ??= this.#openNew().finally(() => {
      this.#opening = undefined;
    });
    try {
      const session = await within(this.#opening, patience);
      return session ?? this.#giveUp(patience);
    } catch (error) {
      // The opening has the usual patience; this caller may have a longer one.
      if (patience.ended !== undefined || !isTimeout(error)) throw error;
      return undefined;
    }
  }

  async #openNew(): Promise<OpenSession> {
    const { ttlMs, requestTimeoutMs, maxWaiting } = this.#options;
    const proposal = encodeProposal({ origin: anonymous, command: { kind: "openSession", ttlMs } });
    const answered = await this.#withOwn(requestTimeoutMs, (patience) =>
      this.#caller.call({ kind: "execute", proposal }, { ...repeatable, hasEffect: false }, patience),
    );
    const { result } = executedOf(answered);
    if (result.kind === "refused") throw new QuorateError("OVERLOADED", result.reason, { retryable: true });
    if (result.kind !== "sessionOpened") throw unexpected(result, false);
    const session: OpenSession = {
      id: result.session,
      window: new SequenceWindow(maxWaiting),
      hasEnded: false,
      cancelRenewal: () => {},
    };
    if (this.#isClosed) throw new QuorateError("CLOSED", "The cluster object was closed.");
    this.#current = session;
    this.#renewLater(session);
    return session;
  }

  #renewLater(session: OpenSession): void {
    if (session.hasEnded || this.#isClosed) return;
    session.cancelRenewal = this.#router.clock.after(
      this.#options.ttlMs / 4,
      () => void this.#renew(session),
    );
  }

  async #renew(session: OpenSession): Promise<void> {
    // The next renewal is due whether this one is answered or not: attempts never fold into each other.
    this.#renewLater(session);
    try {
      const { body } = await this.#withOwn(this.#options.ttlMs / 2, (patience) =>
        this.#caller.call({ kind: "keepAlive", session: session.id }, renewing, patience),
      );
      if (body.kind === "keptAlive" && !body.alive) this.#end(session);
    } catch (error) {
      // Not a verdict: the session is over when the server says so, and until then the next renewal may succeed.
      this.#logger.debug({ session: session.id, error: String(error) }, "A renewal of the session failed.");
    }
  }

  #end(session: OpenSession): void {
    session.hasEnded = true;
    session.cancelRenewal();
    if (this.#current === session) this.#current = undefined;
    session.window.release();
  }

  async #withOwn<T>(timeoutMs: number, body: (patience: Patience) => Promise<T>): Promise<T> {
    const patience = new Patience(this.#router.clock, { timeoutMs });
    this.#own.add(patience);
    try {
      return await body(patience);
    } finally {
      this.#own.delete(patience);
      patience.dispose();
    }
  }

  /** Nothing of the command was sent. */
  #giveUp(patience: Patience): never {
    throw this.#caller.ended(patience, false);
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof QuorateError && error.code === "TIMED_OUT";
}
