/**
 * The time in which a store that was made of another one grants nothing: whoever held a lease of the old one may
 * believe in it for a time to live after its last renewal, which no member of the new cluster has seen (NFSv4 has the
 * same for a server that lost its state: RFC 8881, §8.4.2.1). Bidders wait in queues meanwhile, and are granted when it
 * is over.
 *
 * The machine knows no time: the leader counts it, in full from when it took office, and says in a command that it is
 * over.
 */
import {
  boundedEntries,
  type CommandResult,
  defaultSessionTtlMs,
  versionOfCommand,
} from "@quorate/client/protocol";
import type { Change } from "./change.ts";
import { settleAll } from "./leaseQueues.ts";
import { setVersion } from "./machineVersion.ts";
import type { StoreState } from "./storeState.ts";

/**
 * The longest finite time to live of its sessions. Those that were opened after it was saved are not in it: they are
 * taken to have had the default at least.
 */
export function graceNeeded(state: StoreState): number {
  let longestMs = Math.max(defaultSessionTtlMs, state.graceMs);
  for (const { ttlMs } of state.sessions.values()) {
    if (ttlMs < Number.POSITIVE_INFINITY) longestMs = Math.max(longestMs, ttlMs);
  }
  return longestMs;
}

/**
 * For a new cluster that is made of an old one's store. 0: grants begin at once. It needs members that know of grace
 * periods, and has no others: so it begins in that version.
 */
export function beginGrace(state: StoreState, forMs: number): void {
  state.graceMs = forMs;
  setVersion(state, Math.max(state.version, versionOfCommand("endGrace")));
}

/** In the term of the leader that has counted it: another one counts from its own office. */
export function endGrace(change: Change, office: number): void {
  if (office === change.term) grantAtOnce(change);
}

/** An administrator knows that nobody believes in a lease of the old store any more. */
export function grantAtOnce(change: Change): CommandResult {
  const { graceMs, version } = change.state;
  if (graceMs > 0) {
    change.state.graceMs = 0;
    // Later ones leave it to the leader's timers: thousands of names in one entry would stop each node.
    if (version < boundedEntries) settleAll(change);
  }
  return { kind: "gracePeriod", forMs: graceMs };
}

/** For people; undefined where leases are granted. */
export function graceNotice({ graceMs }: StoreState): string | undefined {
  if (graceMs === 0) return undefined;
  return (
    `No lease is granted until ${graceMs} ms after its leader took office: the store was made of another cluster's, ` +
    "whose holders may believe in their leases until then. Whoever asks for one waits in its queue."
  );
}
