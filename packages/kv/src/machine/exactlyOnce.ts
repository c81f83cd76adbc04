/**
 * Runs each command of a session once, however often and in whatever order its copies arrive (Dissertation §6.3).
 *
 * An answer is kept until the client says that it has it, and is never evicted before. So the table is bounded by
 * refusing what lies beyond the window, or finds no room for its answer, never by forgetting. A command of a session
 * that has ended is refused, since whether it ran before can no longer be known.
 */
import {
  answerBytes,
  type CommandResult,
  maxSessionAnswerBytes,
  type Origin,
  sessionWindow,
} from "@quorate/client/protocol";
import { sessionToChange } from "./sessionToChange.ts";
import type { SessionState, StoreState } from "./storeState.ts";

export type SessionOrigin = Extract<Origin, { kind: "session" }>;

const sessionEnded: CommandResult = { kind: "sessionEnded" };
const alreadyAcknowledged: CommandResult = { kind: "alreadyAcknowledged" };
const beyondWindow: CommandResult = { kind: "beyondWindow" };
const answersFull: CommandResult = { kind: "answersFull" };

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
  if (session.answerBytes >= maxSessionAnswerBytes) return answersFull;
  const answer = run();
  keepAnswer(session, origin.sequence, answer);
  return answer;
}

export function keepAnswer(session: SessionState, sequence: number, answer: CommandResult): void {
  dropAnswer(session, sequence);
  session.answers.set(sequence, answer);
  session.answerBytes += answerBytes(answer);
}

function dropAnswer(session: SessionState, sequence: number): void {
  const answer = session.answers.get(sequence);
  if (answer === undefined) return;
  session.answers.delete(sequence);
  session.answerBytes -= answerBytes(answer);
}

/** Copies arrive out of order: an older `ackedBelow` changes nothing. */
function raiseAcknowledged(session: SessionState, ackedBelow: number): void {
  const { answers } = session;
  if (ackedBelow <= session.ackedBelow) return;
  if (ackedBelow - session.ackedBelow <= answers.size) {
    for (let sequence = session.ackedBelow; sequence < ackedBelow; sequence += 1)
      dropAnswer(session, sequence);
  } else {
    for (const sequence of answers.keys()) if (sequence < ackedBelow) dropAnswer(session, sequence);
  }
  session.ackedBelow = ackedBelow;
}
