/**
 * Opening and ending sessions. None of it raises the store's revision.
 *
 * The machine knows no time: the leader's session clock decides that a session has been silent for too long, and says
 * so in a command, which counts only in the term that it was proposed in. A leader that was deposed meanwhile ends
 * nobody, since its successor counts from when it took office.
 */
import { type Command, type CommandResult, maxSessions } from "@quorate/client/protocol";
import type { SessionState, StoreState } from "./storeState.ts";

type Expire = Extract<Command, { kind: "expireSession" }>;

/** The session's id is its entry's index: unique in the log, so never used twice. */
export function openSession(state: StoreState, index: number, ttlMs: number): CommandResult {
  if (state.sessions.size >= maxSessions) {
    const reason = `The store has ${maxSessions} sessions, its limit. Close some, or wait until some have ended.`;
    return { kind: "refused", reason };
  }
  const { generation } = state;
  state.sessions.set(index, { generation, ttlMs, ackedBelow: 1, answers: new Map() });
  return { kind: "sessionOpened", session: index };
}

/** Its stored answers go with it. */
export function closeSession(state: StoreState, session: number): CommandResult {
  return { kind: "sessionClosed", existed: state.sessions.delete(session) };
}

export function expireSession(
  state: StoreState,
  entryTerm: number,
  { session, term }: Expire,
): CommandResult {
  return term === entryTerm ? closeSession(state, session) : { kind: "nothing" };
}

/**
 * The session, to be written to: a copy of its own where a view still shares it. So a view costs nothing when it is
 * taken, and each session one copy when it is next used.
 */
export function sessionToChange(state: StoreState, id: number): SessionState | undefined {
  const session = state.sessions.get(id);
  if (session === undefined || session.generation === state.generation) return session;
  const copy: SessionState = {
    ...session,
    generation: state.generation,
    answers: new Map(session.answers),
  };
  state.sessions.set(id, copy);
  return copy;
}
