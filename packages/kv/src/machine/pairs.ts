/**
 * Puts and deletes, each under a condition and a fence. A write that changes a key raises the store's revision; a
 * write that was refused, or had nothing to delete, does not.
 */
import type { Command, CommandResult, Condition, LeaseAt } from "@quorate/client/protocol";
import type { Change } from "./change.ts";
import { holdsLease, termInForce } from "./leaseReads.ts";
import type { StoreState } from "./storeState.ts";
import { attachmentRefusal, growthOf, quotaRefusal, removePair, type Write, writePair } from "./writes.ts";

type Put = Extract<Command, { kind: "put" }>;
type Delete = Extract<Command, { kind: "delete" }>;

export function putPair(change: Change, command: Put): CommandResult {
  const { state, sender } = change;
  const { key, value, format, condition, fence, attached = false } = command;
  if (attached && sender === undefined) return noSession;
  const before = state.pairs.get(key);
  const session = attached ? sender?.session : undefined;
  const write: Write = { key, before, put: { value, format, session } };
  const refusal =
    refusalOf(state, condition, fence, before?.modRevision ?? 0) ??
    quotaRefusal(state, growthOf(write)) ??
    attachmentRefusal(change, [write]);
  return refusal ?? { kind: "put", revision: writePair(change, write) };
}

export function deletePair(change: Change, { key, condition, fence }: Delete): CommandResult {
  const { state } = change;
  const refusal = refusalOf(state, condition, fence, state.pairs.modRevisionOf(key));
  if (refusal !== undefined) return refusal;
  const existed = removePair(change, key);
  return { kind: "deleted", revision: state.revision, existed };
}

/** Of a key that is to be attached, without a session to attach it to. */
export const noSession: CommandResult = {
  kind: "malformed",
  reason: "The command is malformed: it attaches a key to its session, and names none.",
};

/** The fence first: whoever does not hold the lease has no business with the key. */
function refusalOf(
  state: StoreState,
  condition: Condition,
  fence: LeaseAt | undefined,
  modRevision: number,
): CommandResult | undefined {
  if (fence !== undefined && !holdsLease(state, fence)) {
    return { kind: "staleFence", term: termInForce(state, fence.name) };
  }
  return conditionHolds(condition, modRevision) ? undefined : { kind: "conflict", modRevision };
}

/** A key that is absent has modRevision 0, here and in a conflict's answer; so revision 0 means absent, as in etcd. */
function conditionHolds(condition: Condition, modRevision: number): boolean {
  if (condition.kind === "none") return true;
  return modRevision === (condition.kind === "absent" ? 0 : condition.revision);
}
