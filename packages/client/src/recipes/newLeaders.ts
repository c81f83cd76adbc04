/**
 * Tells a candidate of each new leader, itself too, once, in the order of their terms. A leader that goes is nothing
 * new. What cannot be asked for now is asked for again, as long as the candidate stands.
 *
 * What the callback throws, or rejects with, is kept for whoever campaigns, and nobody is told any more.
 */
import { type Clock, QuorateError } from "@quorate/raft";
import type { Election, Leader } from "./election.ts";
import { pauseFor } from "./pause.ts";

const pauseMs = 1_000;

export interface NewLeaders {
  /** Aborts with the first failure. */
  readonly failed: AbortSignal;
  /** Nobody is told any more. Gives all failures, once every call of the callback has settled. Never rejects. */
  end(): Promise<readonly unknown[]>;
}

/** Without `tell` nobody is asked. */
export function tellNewLeaders(
  clock: Clock,
  election: Pick<Election, "observe">,
  tell: ((leader: Leader) => unknown) | undefined,
): NewLeaders {
  const stopped = new AbortController();
  const failed = new AbortController();
  const failures: unknown[] = [];
  let allSettled: Promise<unknown> = Promise.resolve();
  const follow = (what: Promise<unknown>): void => {
    const settled = what.catch((error: unknown) => {
      failures.push(error);
      stopped.abort();
      failed.abort(error);
    });
    allSettled = Promise.all([allSettled, settled]);
  };
  if (tell !== undefined) {
    const heard = onlyNew((leader) => {
      if (!stopped.signal.aborted) follow(Promise.resolve(leader).then(tell));
    });
    follow(observe(clock, election, stopped.signal, heard));
  }
  return {
    failed: failed.signal,
    end: async () => {
      stopped.abort();
      await allSettled;
      return failures;
    },
  };
}

function onlyNew(tell: (leader: Leader) => void): (leader: Leader | undefined) => void {
  let lastTerm = 0;
  return (leader) => {
    if (leader === undefined || leader.term <= lastTerm) return;
    lastTerm = leader.term;
    tell(leader);
  };
}

async function observe(
  clock: Clock,
  election: Pick<Election, "observe">,
  signal: AbortSignal,
  heard: (leader: Leader | undefined) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const leader of election.observe({ signal })) heard(leader);
    } catch (error) {
      if (!(error instanceof QuorateError)) throw error;
      // The campaign meets the same, and says so.
      if (!error.retryable) return;
    }
    await pauseFor(clock, pauseMs, signal);
  }
}
