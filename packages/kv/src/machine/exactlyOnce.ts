/**
 * Runs each command of a session once, however often and in whatever order its copies arrive (Dissertation §6.3).
 *
 * An answer is kept until the client says that it has it, and is never evicted before. So the table is bounded by
 * refusing what lies beyond the window, never by forgetting. A command of a session that has ended is refused, since
 * whether it ran before can no longer be known.
 */
import { type CommandResult, type Origin, sessionWindow } from "@quorate/client/protocol";
import { sessionToChange } from "./sessionToChange.ts";
import type { SessionState, StoreState } from "./storeState.ts";

export type SessionOrigin = Extract<Origin, { kind: "session" }>;

const sessionEnded: CommandResult = { kind: "sessionEnded" };
const alreadyAcknowledged: CommandResult = { kind: "alreadyAcknowledged" };
const beyondWindow: CommandResult = { kind: "beyondWindow" };

export function answerOnce(
  state: StoreState,
  origin: SessionOrigin,
  run: () => CommandResult,
): CommandResult {
  const session = sessionToChange(state, origin.session);
  if (session === undefined) return sessionEnded;
  raiseAcknowledged(session, origin.ackedBelow);
  if (origin.sequence < session.ackedBelow) return alreadyAcknowledged;
  const stored = session.answers.get(origin.sequence);
  if (stored !== undefined) return stored;
  if (origin.sequence - session.ackedBelow >= sessionWindow) return beyondWindow;
  const answer = run();
  session.answers.set(origin.sequence, answer);
  return answer;
}

/** Copies arrive out of order: an older `ackedBelow` changes nothing. */
function raiseAcknowledged(session: SessionState, ackedBelow: number): void {
  const { answers } = session;
  if (ackedBelow <= session.ackedBelow) return;
  if (ackedBelow - session.ackedBelow <= answers.size) {
    for (let sequence = session.ackedBelow; sequence < ackedBelow; sequence += 1) answers.delete(sequence);
  } else {
    for (const sequence of answers.keys()) if (sequence < ackedBelow) answers.delete(sequence);
  }
  session.ackedBelow = ackedBelow;
}
