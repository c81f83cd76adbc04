/**
 * Opening sessions, their silence, and their ends.
 *
 * The machine knows no time: the leader's session clock decides that a session has been silent for too long, and says
 * so in a command, which counts only in the term that it was proposed in. A leader that was deposed meanwhile ends
 * nobody, since its successor counts from when it took office, less the silence that is logged here.
 *
 * At a session's end its attached keys, its leases and its places in queues go, in one revision; of several that end in
 * one entry, all go before anything is granted.
 */
import {
  type Command,
  type CommandResult,
  type GrantEnd,
  type LeaderCommand,
  maxSessions,
  type SessionAt,
} from "@quorate/client/protocol";
import type { Change } from "./change.ts";
import { dropAll } from "./leaseQueues.ts";
import type { Acquisition } from "./leaseState.ts";
import { sessionToChange } from "./sessionToChange.ts";
import { createSession, type StoreState } from "./storeState.ts";
import { removePair } from "./writes.ts";

type Expire = Extract<Command, { kind: "expireSession" }>;
type Silences = Extract<LeaderCommand, { kind: "expireSessions" | "markSilence" }>;

const nothing: CommandResult = { kind: "nothing" };

/** The session's id is its entry's index: unique in the log, so never used twice. */
export function openSession({ state, index }: Change, ttlMs: number): CommandResult {
  if (state.sessions.size >= maxSessions) {
    const reason = `The store has ${maxSessions} sessions, its limit. Close some, or wait until some have ended.`;
    return { kind: "refused", reason };
  }
  state.sessions.set(index, createSession(ttlMs, state.generation));
  return { kind: "sessionOpened", session: index };
}

/**
 * By its own process, which knows that its leases are over. Anybody else may close only a session that holds none and
 * waits for none: its process would go on believing in them.
 */
export function closeSession(change: Change, session: number): CommandResult {
  const found = change.state.sessions.get(session);
  if (found === undefined) return { kind: "sessionClosed", existed: false };
  if (change.sender?.session !== session && found.acquisitions.size > 0) {
    const reason =
      `Session ${session} holds or waits for ${found.acquisitions.size} leases, so only its own process may close it. ` +
      "Break the leases, or wait until they are released.";
    return { kind: "refused", reason };
  }
  endSessions(change, [session], "closed");
  return { kind: "sessionClosed", existed: true };
}

export function expireSession(change: Change, { session, term }: Expire): CommandResult {
  if (term !== change.term) return nothing;
  const existed = change.state.sessions.has(session);
  endSessions(change, [session], "expired");
  return { kind: "sessionClosed", existed };
}

export function expireSessions(change: Change, { office, sessions }: Silences): void {
  if (office !== change.term) return;
  const silent = sessions.filter((one) => isUpToDate(change.state, one));
  endSessions(
    change,
    silent.map(({ session }) => session),
    "expired",
  );
}

/** Two fifths of its TTL, as the leader has seen it; a later leader need not wait for those again. */
export function silenceOf(ttlMs: number): number {
  return Math.floor((ttlMs * 2) / 5);
}

export function markSilence({ state, term }: Change, { office, sessions }: Silences): void {
  if (office !== term) return;
  for (const one of sessions) {
    const session = sessionToChange(state, one.session);
    if (session === undefined || !isUpToDate(state, one)) continue;
    session.silentMs = Math.min(session.ttlMs, session.silentMs + silenceOf(session.ttlMs));
  }
}

export function renewSessions({ state }: Change, sessions: readonly number[]): void {
  for (const id of sessions) {
    const session = sessionToChange(state, id);
    if (session === undefined) continue;
    session.renewals += 1;
    session.silentMs = 0;
  }
}

/** And silence means anything for it. */
function isUpToDate(state: StoreState, { session, renewals }: SessionAt): boolean {
  const found = state.sessions.get(session);
  return found?.renewals === renewals && found.ttlMs < Number.POSITIVE_INFINITY;
}

/** A session that no silence ends, and that has lost its last lease by a break: else it would stay for ever. */
export function endBroken(change: Change, session: number): void {
  const found = change.state.sessions.get(session);
  if (found?.ttlMs === Number.POSITIVE_INFINITY && found.acquisitions.size === 0) {
    endSessions(change, [session], "forced");
  }
}

/** Their stored answers go with them. */
function endSessions(change: Change, ids: readonly number[], end: GrantEnd): void {
  const { state } = change;
  const gone: Acquisition[] = [];
  for (const id of ids) {
    const session = state.sessions.get(id);
    if (session === undefined) continue;
    state.sessions.delete(id);
    change.sessions.add(id);
    if (end === "expired") change.expired += 1;
    gone.push(...session.acquisitions.values());
    for (const key of [...session.keys].sort()) removePair(change, key);
  }
  dropAll(change, gone, end);
}
