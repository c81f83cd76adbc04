/**
 * Tells a candidate of each new leader, itself too, once, in the order of their terms. A leader that goes is nothing
 * new. What cannot be asked for now is asked for again, as long as the candidate stands.
 *
 * What the callback throws is an uncaught exception of the process, as with every listener: it is nobody's to handle.
 */
import { type Clock, QuorateError } from "@quorate/raft";
import type { Election, Leader } from "./election.ts";

const pauseMs = 1_000;

/** The result ends it. */
export function tellNewLeaders(
  clock: Clock,
  election: Pick<Election, "observe">,
  tell: ((leader: Leader) => void) | undefined,
): () => void {
  const stopped = new AbortController();
  if (tell !== undefined) void observe(clock, election, stopped.signal, onlyNew(tell));
  return () => stopped.abort();
}

function onlyNew(tell: (leader: Leader) => void): (leader: Leader | undefined) => void {
  let lastTerm = 0;
  return (leader) => {
    if (leader === undefined || leader.term <= lastTerm) return;
    lastTerm = leader.term;
    void Promise.resolve(leader).then(tell);
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
    if (!signal.aborted) await pause(clock, signal);
  }
}

function pause(clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(pauseMs, end);
    signal.addEventListener("abort", end, { once: true });
  });
}
