/**
 * Puts and deletes, each under a condition. A write that changes a key raises the store's revision by one; a write
 * that was refused, or had nothing to delete, does not.
 */
import type { Command, CommandResult, Condition } from "@quorate/client/protocol";
import type { StoreState } from "./storeState.ts";

type Put = Extract<Command, { kind: "put" }>;
type Delete = Extract<Command, { kind: "delete" }>;

export function putPair(state: StoreState, { key, value, format, condition }: Put): CommandResult {
  const before = state.pairs.get(key);
  const current = before?.modRevision ?? 0;
  if (!conditionHolds(condition, current)) return { kind: "conflict", modRevision: current };
  const revision = state.revision + 1;
  state.revision = revision;
  state.pairs.set(key, {
    key,
    value,
    format,
    createRevision: before?.createRevision ?? revision,
    modRevision: revision,
    version: (before?.version ?? 0) + 1,
  });
  return { kind: "put", revision };
}

export function deletePair(state: StoreState, { key, condition }: Delete): CommandResult {
  const current = state.pairs.get(key)?.modRevision ?? 0;
  if (!conditionHolds(condition, current)) return { kind: "conflict", modRevision: current };
  const existed = state.pairs.delete(key);
  if (existed) state.revision += 1;
  return { kind: "deleted", revision: state.revision, existed };
}

/** A key that is absent has modRevision 0, here and in a conflict's answer; so revision 0 means absent, as in etcd. */
function conditionHolds(condition: Condition, modRevision: number): boolean {
  if (condition.kind === "none") return true;
  return modRevision === (condition.kind === "absent" ? 0 : condition.revision);
}
