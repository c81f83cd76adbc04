/**
 * Puts and deletes, each under a condition and a fence. A write that changes a key raises the store's revision; a
 * write that was refused, or had nothing to delete, does not.
 */
import type { ByteString, Command, CommandResult, Condition, LeaseAt } from "@quorate/client/protocol";
import { type Change, raisedRevision } from "./change.ts";
import { holdsLease, termInForce } from "./leaseReads.ts";
import { sessionToChange } from "./sessionToChange.ts";
import type { StoreState } from "./storeState.ts";

type Put = Extract<Command, { kind: "put" }>;
type Delete = Extract<Command, { kind: "delete" }>;

export function putPair(change: Change, command: Put): CommandResult {
  const { state, sender } = change;
  const { key, value, format, condition, fence, attached = false } = command;
  if (attached && sender === undefined) return noSession;
  const before = state.pairs.get(key);
  const refusal = refusalOf(state, condition, fence, before?.modRevision ?? 0);
  if (refusal !== undefined) return refusal;
  const revision = raisedRevision(change);
  detach(state, key, before?.session);
  const session = attached ? sender?.session : undefined;
  state.pairs.set(key, {
    key,
    value,
    format,
    createRevision: before?.createRevision ?? revision,
    modRevision: revision,
    version: (before?.version ?? 0) + 1,
    ...(session === undefined ? {} : { session }),
  });
  if (session !== undefined) sessionToChange(state, session)?.keys.add(key);
  return { kind: "put", revision };
}

export function deletePair(change: Change, { key, condition, fence }: Delete): CommandResult {
  const { state } = change;
  const refusal = refusalOf(state, condition, fence, state.pairs.get(key)?.modRevision ?? 0);
  if (refusal !== undefined) return refusal;
  const existed = removePair(change, key);
  return { kind: "deleted", revision: state.revision, existed };
}

/** False where there was no such key. */
export function removePair(change: Change, key: ByteString): boolean {
  const { state } = change;
  const before = state.pairs.get(key);
  if (before === undefined) return false;
  raisedRevision(change);
  detach(state, key, before.session);
  state.pairs.delete(key);
  return true;
}

const noSession: CommandResult = {
  kind: "malformed",
  reason: "The command is malformed: it attaches a key to its session, and names none.",
};

function detach(state: StoreState, key: ByteString, session: number | undefined): void {
  if (session !== undefined) sessionToChange(state, session)?.keys.delete(key);
}

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
