/**
 * The bounds of liveness, in virtual time: multiples of the longest election timeout, and what the links need on top.
 *
 * A round of elections is split with a chance of a quarter at most, so ten rounds in a row fail less than once in a
 * million runs.
 */
import type { FaultySimulation } from "../simulation.ts";

/** Links are dialled again at a pace of up to a second, refused ones of a few. */
const linksMs = 8_000;
const defaultElectionTimeoutMaxMs = 300;
const defaultHeartbeatMs = 50;

/** The longest election timeout of any node that runs. */
export function electionTimeoutMaxMs({ cluster, profile }: FaultySimulation): number {
  const drawn = profile.options.electionTimeoutMaxMs ?? defaultElectionTimeoutMaxMs;
  return cluster.hosts.reduce(
    (longest, host) => Math.max(longest, host.member?.state?.options.electionTimeoutMaxMs ?? 0),
    drawn,
  );
}

export function heartbeatMs({ profile }: FaultySimulation): number {
  return profile.options.heartbeatMs ?? defaultHeartbeatMs;
}

/** So many of the longest election timeouts, without time for links. */
export function timeoutsMs(simulation: FaultySimulation, timeouts: number): number {
  return timeouts * electionTimeoutMaxMs(simulation);
}

/** So many of the longest election timeouts, after links that may have to be dialled first. */
export function boundMs(simulation: FaultySimulation, timeouts: number): number {
  return timeoutsMs(simulation, timeouts) + linksMs;
}
