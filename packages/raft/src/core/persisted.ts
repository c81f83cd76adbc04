/**
 * A write became durable: the moment at which promises may be made, and our own vote and match count.
 */
import { commitByCount } from "./commit.ts";
import { completeWrite } from "./disk.ts";
import { countOwnVote } from "./election.ts";
import { oweAck } from "./follower.ts";
import { releaseAfter } from "./outbox.ts";
import { clearReachedFloor, type RaftState } from "./state.ts";
import { armElectionTimer } from "./timers.ts";

export function onPersisted(state: RaftState, sequence: number): void {
  const before = state.disk.durable;
  if (!completeWrite(state.disk, sequence)) return;
  releaseAfter(state, sequence);
  clearReachedFloor(state);
  const { durable } = state.disk;
  const isVoteNews =
    durable.vote !== undefined && (durable.term !== before.term || durable.vote !== before.vote);
  switch (state.role) {
    case "leader":
      if (state.leading !== undefined) commitByCount(state, state.leading);
      break;
    case "candidate":
      if (durable.term === state.currentTerm) countOwnVote(state);
      break;
    case "follower":
      oweAck(state);
      // The candidate gets a whole timeout from the moment at which it can have our vote (RATIS-980).
      if (isVoteNews && durable.term === state.currentTerm) armElectionTimer(state);
      break;
    case "preCandidate":
      break;
  }
}
