/**
 * Proposals that wait in the core for what is decided within milliseconds: whether a transfer comes about, or who leads
 * next. They are bounded like entries that are not committed, were not appended, and each is answered in the end.
 */
import type { RefusalReason } from "./contract.ts";
import type { RaftState } from "./state.ts";
import type { EntryKind } from "./types.ts";

export interface HeldProposal {
  readonly id: number;
  readonly kind: EntryKind;
  readonly data: Uint8Array;
}

export interface HeldProposals {
  items: HeldProposal[];
  bytes: number;
}

export function noneHeld(): HeldProposals {
  return { items: [], bytes: 0 };
}

export function hold(state: RaftState, held: HeldProposals, proposal: HeldProposal): void {
  const { maxUncommittedBytes, maxUncommittedEntries } = state.options;
  const bytes = held.bytes + proposal.data.length;
  const fits = held.items.length === 0 || bytes <= maxUncommittedBytes;
  if (held.items.length < maxUncommittedEntries && fits) {
    held.items.push(proposal);
    held.bytes = bytes;
  } else refuse(state, [proposal], "overloaded");
}

/** Nobody holds them any more: they are for whoever asked to answer. */
export function release(held: HeldProposals): readonly HeldProposal[] {
  const { items } = held;
  held.items = [];
  held.bytes = 0;
  return items;
}

export function refuse(
  { outbox }: RaftState,
  proposals: readonly HeldProposal[],
  reason: RefusalReason,
): void {
  for (const { id } of proposals) outbox.proposals.push({ kind: "refused", id, reason });
}
