/**
 * The one way to change keys. What an entry writes is of one revision, and becomes one record of the history; the bytes
 * that the store holds, the digest of its pairs and the keys of sessions are kept in step.
 */
import {
  type ByteString,
  boundedEntries,
  type CommandResult,
  type Format,
  maxKeysOfSession,
  pairOverheadBytes,
  type StoredPair,
} from "@quorate/client/protocol";
import { type Change, raisedRevision } from "./change.ts";
import { addRecord, cutHistory } from "./history.ts";
import { addToDigest, takeFromDigest } from "./pairsDigest.ts";
import { sessionToChange } from "./sessionToChange.ts";
import type { StoreState } from "./storeState.ts";

/** Of a key that the entry has not written before. */
export interface Write {
  readonly key: ByteString;
  /** The pair as it is now. */
  readonly before: StoredPair | undefined;
  /** Undefined: the key is deleted. */
  readonly put: NewValue | undefined;
}

export interface NewValue {
  readonly value: Uint8Array;
  readonly format: Format;
  /** The session that the key is attached to. */
  readonly session: number | undefined;
}

/** Gives back the revision that it is part of. */
export function writePair(change: Change, { key, before, put }: Write): number {
  const { state } = change;
  const revision = raisedRevision(change);
  const after = put === undefined ? undefined : pairOf(key, before, put, revision);
  if (before?.session !== undefined) sessionToChange(state, before.session)?.keys.delete(key);
  if (after?.session !== undefined) sessionToChange(state, after.session)?.keys.add(key);
  if (before !== undefined) {
    state.bytes -= bytesOfPair(before);
    takeFromDigest(state.digest, before);
  }
  if (after === undefined) state.pairs.delete(key);
  else {
    state.bytes += bytesOfPair(after);
    addToDigest(state.digest, after);
    state.pairs.set(key, after);
  }
  change.writes.push({ key, before, puts: after !== undefined });
  return revision;
}

function pairOf(
  key: ByteString,
  before: StoredPair | undefined,
  { value, format, session }: NewValue,
  revision: number,
): StoredPair {
  return {
    key,
    value,
    format,
    createRevision: before?.createRevision ?? revision,
    modRevision: revision,
    version: (before?.version ?? 0) + 1,
    ...(session === undefined ? {} : { session }),
  };
}

/** False where there was no such key. */
export function removePair(change: Change, key: ByteString): boolean {
  const before = change.state.pairs.get(key);
  if (before !== undefined) writePair(change, { key, before, put: undefined });
  return before !== undefined;
}

/** When all else of the entry is done. */
export function recordWrites({ state, revision, writes }: Change): void {
  if (revision === undefined || writes.length === 0) return;
  addRecord(state.history, revision, writes);
  cutHistory(state.history, state.limits);
}

/** What a pair counts against the quota. */
export function bytesOfPair({ key, value }: StoredPair): number {
  return pairOverheadBytes + key.length + value.length;
}

/** By how many bytes the store grows; negative where it shrinks. */
export function growthOf({ key, before, put }: Write): number {
  const freed = before === undefined ? 0 : bytesOfPair(before);
  return (put === undefined ? 0 : pairOverheadBytes + key.length + put.value.length) - freed;
}

/** Why no more keys may be attached to the sender's session: all of them go in one entry. */
export function attachmentRefusal(
  { state, sender }: Change,
  writes: readonly Write[],
): CommandResult | undefined {
  if (sender === undefined || state.version < boundedEntries) return undefined;
  const { session } = sender;
  const more = writes.filter(({ before, put }) => put?.session === session && before?.session !== session);
  const attached = more.length + (state.sessions.get(session)?.keys.size ?? 0);
  if (more.length === 0 || attached <= maxKeysOfSession) return undefined;
  const reason =
    `The session would have ${attached} keys attached to it, above its limit of ${maxKeysOfSession}. ` +
    "Delete some, or attach them to more sessions.";
  return { kind: "refused", reason };
}

/** Why the store may not grow by so much. What does not grow it is never refused, even above the quota. */
export function quotaRefusal(state: StoreState, growth: number): CommandResult | undefined {
  const neededBytes = state.bytes + growth;
  const { quotaBytes } = state.limits;
  return growth > 0 && neededBytes > quotaBytes
    ? { kind: "quotaExceeded", neededBytes, quotaBytes }
    : undefined;
}
