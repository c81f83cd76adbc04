/**
 * The replicated state machine: one committed entry in, one result out.
 *
 *     entry ─► decode ─► exactly once, by (session, sequence) ─► run ─► settle queues of leases ─► record ─► result
 *
 * Total and deterministic: it reads the entry and the state, nothing else, and a command that makes no sense gets the
 * same answer on every node. It throws in one case alone: the log goes on in a version that this release does not know.
 */
import {
  type ByteString,
  type Command,
  type CommandResult,
  decodeProposal,
  type LeaderCommand,
  unreachable,
  type VersionRaise,
} from "@quorate/client/protocol";
import { type Change, changeOf, type EndedGrant } from "./change.ts";
import { answerOnce } from "./exactlyOnce.ts";
import { endGrace, grantAtOnce } from "./grace.ts";
import { settleQueues } from "./leaseQueues.ts";
import {
  acquireLease,
  breakLease,
  cancelAcquire,
  claimLease,
  describeLease,
  leaseDue,
  loseLease,
  releaseLease,
  requestHandover,
} from "./leases.ts";
import { isTooNew, raiseVersion } from "./machineVersion.ts";
import { deletePair, putPair } from "./pairs.ts";
import {
  closeSession,
  expireSession,
  expireSessions,
  markSilence,
  openSession,
  renewSessions,
} from "./sessions.ts";
import { limitStore } from "./storeLimits.ts";
import type { AppliedEntry, StoreState } from "./storeState.ts";
import { runTransaction } from "./transaction.ts";
import { recordWrites } from "./writes.ts";

/** What an entry has answered, and what those who wait for changes have to look at. */
export interface Applied {
  readonly result: CommandResult;
  readonly leases: ReadonlySet<ByteString>;
  /** Ended, or with other leases than before. */
  readonly sessions: ReadonlySet<number>;
  readonly ended: readonly EndedGrant[];
  /** How many sessions it ended since they were silent. */
  readonly expired: number;
}

const nothing: CommandResult = { kind: "nothing" };
/** As of a release that does not know its number. */
const unknownCommand: CommandResult = {
  kind: "malformed",
  reason: "The command is malformed: its command is unknown.",
};
const none: ReadonlySet<never> = new Set();
const untouched: Omit<Applied, "result"> = { leases: none, sessions: none, ended: [], expired: 0 };

/** Entries are applied in the order of the log, each exactly once. */
export function applyEntry(state: StoreState, entry: AppliedEntry): CommandResult {
  return applyAndTell(state, entry).result;
}

export function applyAndTell(state: StoreState, entry: AppliedEntry): Applied {
  if (entry.kind !== "command") return { result: nothing, ...untouched };
  const decoded = decodeProposal(entry.data);
  if (decoded.kind === "malformed") return { result: decoded, ...untouched };
  const { origin, command } = decoded.proposal;
  if (isTooNew(state, command)) return { result: unknownCommand, ...untouched };
  const change = changeOf(state, entry, origin.kind === "anonymous" ? undefined : origin);
  const run = (): CommandResult => {
    const result = runCommand(change, command);
    settleQueues(change);
    recordWrites(change);
    return result;
  };
  const result = origin.kind === "anonymous" ? run() : answerOnce(state, origin, run);
  const { touched: leases, sessions, ended, expired } = change;
  return { result, leases, sessions, ended, expired };
}

function runCommand(change: Change, command: Command): CommandResult {
  switch (command.kind) {
    case "put":
      return putPair(change, command);
    case "delete":
      return deletePair(change, command);
    case "transaction":
      return runTransaction(change, command);
    case "limitStore":
      return limitStore(change, command.limits);
    case "compareStates":
      return nothing;
    case "grantAtOnce":
      return grantAtOnce(change);
    case "openSession":
      return openSession(change, command.ttlMs);
    case "closeSession":
      return closeSession(change, command.session);
    case "expireSession":
      return expireSession(change, command);
    case "acquireLease":
      return acquireLease(change, command);
    case "cancelAcquire":
      return cancelAcquire(change, command.sequence);
    case "claimLease":
      return claimLease(change, command.lease);
    case "releaseLease":
      return releaseLease(change, command.lease);
    case "loseLease":
      return loseLease(change, command.lease);
    case "describeLease":
      return describeLease(change, command);
    case "breakLease":
      return breakLease(change, command);
    case "requestHandover":
      return requestHandover(change, command.name);
    default:
      runLeaderCommand(change, command);
      return nothing;
  }
}

function runLeaderCommand(change: Change, command: LeaderCommand | VersionRaise): void {
  switch (command.kind) {
    case "expireSessions":
      expireSessions(change, command);
      return;
    case "markSilence":
      markSilence(change, command);
      return;
    case "renewSessions":
      renewSessions(change, command.sessions);
      return;
    case "leasesDue":
      if (command.office === change.term) for (const due of command.due) leaseDue(change, due);
      return;
    case "raiseVersion":
      raiseVersion(change, command);
      return;
    case "endGrace":
      endGrace(change, command.office);
      return;
    default:
      unreachable(command);
  }
}
