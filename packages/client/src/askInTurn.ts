/**
 * Asks endpoints one after the other and takes the first good answer. The next one is asked when those before have
 * failed, or are slow: one dead node must not keep a client waiting, and one client must not bother every node.
 */
import type { Cancel, Clock } from "@quorate/raft";

export interface TurnOptions<Answer> {
  readonly clock: Clock;
  readonly candidates: readonly string[];
  /** So many of the first ones are asked at the same time. Default 1. */
  readonly together?: number;
  /** How long an endpoint may take before the next one is asked too. */
  readonly staggerMs: number;
  /** How long the whole may take; answers under way are then left to whoever asks next. */
  readonly limitMs: number;
  /** Must not reject. */
  readonly ask: (endpoint: string) => Promise<Answer>;
  readonly isGood: (answer: Answer) => boolean;
  /** An endpoint that an answer points to, to be asked at once. */
  readonly hintOf?: (answer: Answer) => string | undefined;
}

/** Undefined where all have answered and no answer was good, or the time is over. */
export function askInTurn<Answer>(options: TurnOptions<Answer>): Promise<Answer | undefined> {
  const { clock, ask, isGood, staggerMs, limitMs, together = 1 } = options;
  const waiting = [...options.candidates];
  const asked = new Set<string>();
  let underWay = 0;
  let isOver = false;
  let cancelStagger: Cancel | undefined;

  return new Promise((resolve) => {
    const cancelLimit = clock.after(limitMs, () => finish(undefined));

    function finish(answer: Answer | undefined): void {
      isOver = true;
      cancelLimit();
      cancelStagger?.();
      resolve(answer);
    }

    function next(): void {
      cancelStagger?.();
      cancelStagger = undefined;
      const endpoint = waiting.shift();
      if (endpoint !== undefined) start(endpoint);
      else if (underWay === 0) finish(undefined);
    }

    function start(endpoint: string): void {
      if (asked.has(endpoint)) {
        next();
        return;
      }
      asked.add(endpoint);
      underWay += 1;
      void ask(endpoint).then((answer) => answered(answer));
      if (waiting.length > 0) {
        cancelStagger?.();
        cancelStagger = clock.after(staggerMs, next);
      }
    }

    function answered(answer: Answer): void {
      underWay -= 1;
      if (isOver) return;
      if (isGood(answer)) {
        finish(answer);
        return;
      }
      const hint = options.hintOf?.(answer);
      if (hint !== undefined && !asked.has(hint)) waiting.unshift(hint);
      next();
    }

    next();
    for (let more = together - 1; more > 0 && waiting.length > 0; more -= 1) next();
  });
}
