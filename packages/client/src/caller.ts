/**
 * Sends one request until it is answered, it may not be sent again, or its patience ends. This is the one place that
 * decides what is retried and what an error says about the outcome.
 *
 * An outcome is `none` only if **no** attempt of the request is without its answer.
 */
import { type ErrorCode, errorCodes, type Outcome, QuorateError } from "@quorate/raft";
import { type BackoffOptions, backoffMs } from "./backoff.ts";
import type { Attempt, Connection } from "./connection.ts";
import { type Patience, pause } from "./patience.ts";
import type { Failure, RequestBody, ResponseBody } from "./protocol/index.ts";
import type { Router, Target } from "./router.ts";
import { type RequestCounter, RequestCounts } from "./seen/requestCounts.ts";

/**
 * What may be sent again while an earlier attempt is unanswered: `always`, since it has no effect or is recognized
 * when it comes twice; or `ifNone`, only where no attempt can have had an effect.
 */
export interface CallPolicy {
  readonly target: Target;
  readonly resend: "always" | "ifNone";
  /** Reads have no effect: their outcome is always none. */
  readonly hasEffect: boolean;
  /** How to find out whether it took effect. Default: "read the key to see". */
  readonly advice?: string;
}

export type Answer = Exclude<ResponseBody, { readonly kind: "failed" }>;

export interface Answered {
  readonly body: Answer;
  /** An earlier attempt may have arrived too, and its answer is not known. */
  readonly earlierUnanswered: boolean;
  /** When the attempt that was answered was sent, or a little before; in `bootMs`. */
  readonly sentMs: number;
}

const lookAtKey = "read the key to see";
/** Refusals of a moment by a node that is the right one to ask. */
const passing: ReadonlySet<string> = new Set(["OVERLOADED", "CHANGE_REFUSED", "UPGRADE_PENDING"]);
const pauses: BackoffOptions = { firstMs: 10, factor: 2, capMs: 500 };

export class Caller {
  readonly counts: RequestCounts = new RequestCounts();
  readonly #router: Router;

  constructor(router: Router) {
    this.#router = router;
  }

  async call(body: RequestBody, policy: CallPolicy, patience: Patience): Promise<Answered> {
    const { clock } = this.#router;
    const counter = this.counts.of(body);
    if (counter === undefined) return this.#untilAnswered(body, policy, patience, undefined);
    const startMs = clock.nowMs();
    counter.underWay += 1;
    try {
      const answered = await this.#untilAnswered(body, policy, patience, counter);
      counter.note(clock.nowMs() - startMs);
      return answered;
    } catch (error) {
      this.counts.failed(counter, error instanceof QuorateError ? error.code : "INTERNAL");
      throw error;
    } finally {
      counter.underWay -= 1;
    }
  }

  async #untilAnswered(
    body: RequestBody,
    policy: CallPolicy,
    patience: Patience,
    counter: RequestCounter | undefined,
  ): Promise<Answered> {
    const { target } = policy;
    let unanswered = false;
    /** The last word of a node that is the right one to ask. */
    let refusal: Failure | undefined;
    for (let tries = 0; ; tries += 1) {
      if (tries > 1) {
        const { clock, random } = this.#router;
        await pause(clock, backoffMs(random, pauses, tries - 2), patience);
      }
      const connection = await this.#pick(target, patience, unanswered && policy.hasEffect);
      if (connection === undefined) throw this.#endedWith(refusal, patience, policy, unanswered);
      if (tries > 0 && counter !== undefined) counter.retries += 1;
      const sentMs = this.#router.recentBoot.readMs();
      const attempt = await connection.request(body, patience);
      if (attempt.kind === "answered" && attempt.body.kind !== "failed") {
        return { body: attempt.body, earlierUnanswered: unanswered, sentMs };
      }
      const failure = this.#learn(attempt, target, connection);
      if (failure.code === "NOT_LEADER" && counter !== undefined) counter.redirects += 1;
      unanswered ||= failure.outcome === "unknown";
      if (passing.has(failure.code)) refusal = failure;
      // What the end of the patience has cut off says nothing.
      else if (patience.ended === undefined) refusal = undefined;
      const outcome = unanswered && policy.hasEffect ? "unknown" : "none";
      // A patience that has ended speaks for itself, with the right code.
      if (patience.ended !== undefined) continue;
      // An upgrade takes its time: whoever asked decides whether to wait for it.
      if (!failure.retryable || failure.code === "UPGRADE_PENDING")
        throw errorOf(failure, outcome, policy.advice);
      if (outcome === "unknown" && policy.resend === "ifNone") throw errorOf(failure, outcome, policy.advice);
    }
  }

  async #pick(target: Target, patience: Patience, isUnknown: boolean): Promise<Connection | undefined> {
    try {
      return await this.#router.pick(target, patience);
    } catch (error) {
      if (!isUnknown || !(error instanceof QuorateError)) throw error;
      throw new QuorateError(error.code, error.message, { outcome: "unknown", cause: error });
    }
  }

  /** What an attempt without an answer means, as a failure; and where to look next. */
  #learn(attempt: Attempt, target: Target, connection: Connection): Failure {
    if (attempt.kind === "answered") {
      if (attempt.body.kind !== "failed") throw new Error("Only failures are learnt from.");
      const { failure } = attempt.body;
      if (!passing.has(failure.code) && failure.retryable) {
        this.#router.blame(target, connection, failure.message, failure.leaderEndpoint);
      }
      return failure;
    }
    return {
      code: attempt.kind === "unsent" ? "UNAVAILABLE" : "CONNECTION_FAILED",
      message: `${attempt.reason}.`,
      retryable: true,
      outcome: attempt.kind === "unsent" ? "none" : "unknown",
      leaderEndpoint: "",
    };
  }

  /** In time it may have been refused for a reason that people have to know: that is the answer, then. */
  #endedWith(
    refusal: Failure | undefined,
    patience: Patience,
    { hasEffect, advice }: CallPolicy,
    unanswered: boolean,
  ): QuorateError {
    const isUnknown = unanswered && hasEffect;
    const { ended } = patience;
    if (ended?.kind !== "timedOut" || refusal === undefined) return this.ended(patience, isUnknown, advice);
    const asked = ` It was asked for again and again for ${ended.timeoutMs} ms.`;
    if (!isUnknown) return errorOf({ ...refusal, message: refusal.message + asked }, "none");
    const { code, message, outcome, retryable } = this.ended(patience, true, advice);
    return new QuorateError(code, `${message} Refused at last: ${refusal.message}`, { outcome, retryable });
  }

  /** Why a call ended without its answer. */
  ended(patience: Patience, isUnknown: boolean, look: string = lookAtKey): QuorateError {
    const outcome: Outcome = isUnknown ? "unknown" : "none";
    const advice = isUnknown ? ` It may have taken effect: ${look}.` : "";
    const { ended } = patience;
    switch (ended?.kind) {
      case "aborted":
        return new QuorateError("ABORTED", `The caller's signal ended the request.${advice}`, {
          outcome,
          cause: ended.reason,
        });
      case "timedOut":
        return new QuorateError(
          "TIMED_OUT",
          `No answer within ${ended.timeoutMs} ms.${advice} Asked were ${this.#router.book.report()}.`,
          { outcome, retryable: true },
        );
      default:
        return new QuorateError("CLOSED", `${ended?.reason ?? "The request is over."}${advice}`, { outcome });
    }
  }
}

/** The node answered with what is no answer to `asked`: it is broken, or speaks another language. */
export function senseless(asked: string, answer: Answer, outcome: Outcome): QuorateError {
  const sentence = `The node answered ${asked} with "${answer.kind}", which makes no sense.`;
  return new QuorateError("REFUSED", sentence, { outcome });
}

/** The error that a server sent as data. A code that this version does not know is a refusal. */
export function errorOf(failure: Failure, outcome: Outcome, look: string = lookAtKey): QuorateError {
  const isKnown = (errorCodes as readonly string[]).includes(failure.code);
  const code: ErrorCode = isKnown ? (failure.code as ErrorCode) : "REFUSED";
  const advice = outcome === "unknown" ? ` It may have taken effect: ${look}.` : "";
  return new QuorateError(code, `${failure.message}${advice}`, { outcome, retryable: failure.retryable });
}
