/**
 * What a leader remembers of a transfer under way: for whom it is, who asked, and the proposals that wait meanwhile.
 *
 * It is a part of `LeadingState`, so that nothing of it outlives the office: a flag that did would make a later leader
 * refuse all writes (hashicorp/raft#696). Whoever waits is answered when it ends.
 */
import type { TransferAbort, TransferRefusal } from "./contract.ts";
import { type HeldProposals, refuse, release } from "./heldProposals.ts";
import type { RaftState } from "./state.ts";
import type { MemberId } from "./types.ts";

export interface TransferState {
  readonly target: MemberId;
  readonly deadlineMs: number;
  /** Those who asked. Empty where the leader itself wants to go. */
  readonly ids: number[];
  /** When the target was last told to campaign. */
  toldMs: number | undefined;
  /** Meanwhile nothing is appended: the target could never be told that it has all (hashicorp/raft#581). */
  readonly held: HeldProposals;
}

/** The office goes, by this transfer or not. `isSucceeded`: to a newer term. Nothing that waited was appended. */
export function endWithOffice(state: RaftState, transfer: TransferState, isSucceeded: boolean): void {
  const isHandedOver = isSucceeded && transfer.toldMs !== undefined;
  const reason = isHandedOver ? "handedOver" : "notLeader";
  refuse(state, release(transfer.held), reason);
  for (const id of transfer.ids) {
    if (isHandedOver) state.outbox.transfers.push({ kind: "handedOver", id });
    else answerAborted(state, id, "leadershipLost");
  }
}

export function answerAborted(state: RaftState, id: number, reason: TransferAbort): void {
  state.outbox.transfers.push({ kind: "aborted", id, reason });
}

export function answerRefused(state: RaftState, id: number, reason: TransferRefusal): void {
  state.outbox.transfers.push({ kind: "refused", id, reason });
}
