/** Sessions that a view may share are copied before they are written to. */
import type { SessionState, StoreState } from "./storeState.ts";

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
    acquisitions: new Map(session.acquisitions),
    keys: new Set(session.keys),
  };
  state.sessions.set(id, copy);
  return copy;
}
