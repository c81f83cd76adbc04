/**
 * Where every message goes: at once when its truth does not hang on a write, else it waits for the write that
 * backs it.
 *
 * A vote that is given needs term and vote on disk, a request for votes the log that it claims, and every other message
 * its term. Acks are built from durable indexes only. Nothing else in the core decides when something may leave.
 */
import type { Envelope } from "./contract.ts";
import { isLogDurable, writeThatHolds } from "./disk.ts";
import type { Message } from "./messages.ts";
import type { Outbox, RaftState, WaitingEnvelope } from "./state.ts";
import type { MemberId } from "./types.ts";

export function post(state: RaftState, to: MemberId, message: Message): void {
  const sequence = backingWrite(state, message);
  const envelope: Envelope = { to, message };
  if (sequence === 0) state.outbox.sendNow.push(envelope);
  else if (message.kind !== "readIndexResponse") wait(state.outbox, sequence, envelope);
  // A refused read index is a courtesy: without it the asker's own time limit or the new term ends the read.
}

/**
 * The write that a message waits for; 0: none.
 *
 * A request for votes promises nothing of its sender's own vote, which counts once it is durable, like any other. What
 * a crash must not take back is the log that voters judge it by: the candidate may ask in the same term again, and a
 * late grant to the longer log would count for the shorter one. Of a term that is new the write brings log and vote.
 */
function backingWrite({ disk, log, currentTerm, vote }: RaftState, message: Message): number {
  if (message.kind === "voteRequest" && isLogDurable(disk, log)) return 0;
  return writeThatHolds(disk, currentTerm, vote, message.kind === "voteResponse" && message.granted);
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
export function releaseAfter(state: RaftState, sequence: number): void {
  const { outbox } = state;
  const still: WaitingEnvelope[] = [];
  for (const waiting of outbox.sendAfterPersist) {
    if (waiting.sequence > sequence) still.push(waiting);
    else if (!isVain(state, waiting.envelope.message)) outbox.sendNow.push(waiting.envelope);
  }
  outbox.sendAfterPersist = still;
}

/** A candidacy that was over before its log was durable asks nobody: the log may be another one by now. */
function isVain({ role, currentTerm }: RaftState, message: Message): boolean {
  return message.kind === "voteRequest" && !(role === "candidate" && message.term === currentTerm);
}
