/**
 * Where every message goes: at once when its truth does not hang on a write, else it waits for the write that
 * backs it.
 *
 * A vote and a request for votes need term and vote on disk; every other message needs its term there. Acks
 * are built from durable indexes only. Nothing else in the core decides when something may leave.
 */
import type { Envelope } from "./contract.ts";
import { writeThatHolds } from "./disk.ts";
import type { Message } from "./messages.ts";
import type { Outbox, RaftState, WaitingEnvelope } from "./state.ts";
import type { MemberId } from "./types.ts";

export function post(state: RaftState, to: MemberId, message: Message): void {
  const sequence = writeThatHolds(state.disk, state.currentTerm, state.vote, promisesVote(message));
  const envelope: Envelope = { to, message };
  if (sequence === 0) state.outbox.sendNow.push(envelope);
  else if (message.kind !== "readIndexResponse") wait(state.outbox, sequence, envelope);
  // A refused read index is a courtesy: without it the asker's own time limit or the new term ends the read.
}

function promisesVote(message: Message): boolean {
  return message.kind === "voteRequest" || (message.kind === "voteResponse" && message.granted);
}

/**
 * While a write takes its time, the newest message of a kind replaces the one before: what waits is bounded.
 */
function wait(outbox: Outbox, sequence: number, envelope: Envelope): void {
  const { kind } = envelope.message;
  if (kind !== "readIndexRequest") {
    const kept = outbox.sendAfterPersist.filter(
      (other) => other.envelope.to !== envelope.to || other.envelope.message.kind !== kind,
    );
    outbox.sendAfterPersist = kept;
  }
  outbox.sendAfterPersist.push({ sequence, envelope });
}

/** The write `sequence` is durable: what waited for it, or for one before it, may leave. */
export function releaseAfter(outbox: Outbox, sequence: number): void {
  const still: WaitingEnvelope[] = [];
  for (const waiting of outbox.sendAfterPersist) {
    if (waiting.sequence <= sequence) outbox.sendNow.push(waiting.envelope);
    else still.push(waiting);
  }
  outbox.sendAfterPersist = still;
}
