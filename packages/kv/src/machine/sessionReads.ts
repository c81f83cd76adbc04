/** What can be read of sessions, by anyone. Nothing here changes the state. */
import type { SessionReport } from "@quorate/client/protocol";
import type { SessionState, StoreState } from "./storeState.ts";

/** In the order in which they were opened, from the id `from` on. */
export function listSessions(
  state: StoreState,
  from: number,
  limit: number,
): { readonly sessions: readonly SessionReport[]; readonly more: boolean } {
  const sessions: SessionReport[] = [];
  for (const [id, session] of state.sessions.entries(from)) {
    if (sessions.length >= limit) return { sessions, more: true };
    sessions.push(reportOf(id, session));
  }
  return { sessions, more: false };
}

function reportOf(session: number, { ttlMs, silentMs, acquisitions, keys }: SessionState): SessionReport {
  let held = 0;
  let holder = "";
  for (const acquisition of acquisitions.values()) {
    if (acquisition.term > 0) held += 1;
    if (holder === "") holder = acquisition.holder;
  }
  return { session, ttlMs, silentMs, held, waiting: acquisitions.size - held, keys: keys.size, holder };
}
