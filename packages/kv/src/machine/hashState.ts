/**
 * A digest of the whole state, for comparing replicas: equal states have equal digests, whatever the order in which
 * their maps were filled.
 *
 * Two lanes of 32 bits, the first FNV-1a. It finds differences that faults make; it is no defence against someone who
 * makes two states collide on purpose.
 */
import {
  type ByteString,
  resultToWire,
  type StoredPair,
  storeLimitNames,
  ttlToWire,
} from "@quorate/client/protocol";
import { recordsAfter } from "./history.ts";
import type { Acquisition, LeaseState } from "./leaseState.ts";
import type { SessionState, StoreState } from "./storeState.ts";

/** 16 hexadecimal digits. */
export function hashState(state: StoreState): string {
  const digest: Digest = { first: 0x811c9dc5, second: 0x9e3779b9 };
  addNumber(digest, state.revision);
  addNumber(digest, state.pairs.size);
  for (const pair of state.pairs.pairs()) addPair(digest, pair);
  for (const name of storeLimitNames) addNumber(digest, state.limits[name]);
  addHistory(digest, state);
  addNumber(digest, state.graceMs);
  addNumber(digest, state.version);
  addNumber(digest, state.sessions.size);
  for (const [id, session] of state.sessions.entries()) {
    addNumber(digest, id);
    addSession(digest, session);
  }
  addNumber(digest, state.leases.size);
  for (const lease of state.leases.values()) addLease(digest, lease);
  return hexadecimal(digest.first) + hexadecimal(digest.second);
}

interface Digest {
  first: number;
  second: number;
}

function addPair(digest: Digest, pair: StoredPair): void {
  addText(digest, pair.key);
  addBytes(digest, pair.value);
  addText(digest, pair.format);
  const { createRevision, modRevision, version, session = 0 } = pair;
  for (const number of [createRevision, modRevision, version, session]) addNumber(digest, number);
}

function addHistory(digest: Digest, { history, pairs }: StoreState): void {
  addNumber(digest, history.floor);
  addNumber(digest, history.size);
  for (const { revision, changes } of recordsAfter(history, pairs, history.floor)) {
    addNumber(digest, revision);
    addNumber(digest, changes.length);
    for (const { key, before, after } of changes) {
      addText(digest, key);
      for (const pair of [before, after]) {
        add(digest, pair === undefined ? 0 : 1);
        if (pair !== undefined) addPair(digest, pair);
      }
    }
  }
}

function addSession(digest: Digest, session: SessionState): void {
  const { ttlMs, ackedBelow, renewals, silentMs, version } = session;
  for (const number of [ttlToWire(ttlMs), ackedBelow, renewals, silentMs, version]) addNumber(digest, number);
  addNumber(digest, session.answers.size);
  for (const [sequence, answer] of byNumber(session.answers)) {
    addNumber(digest, sequence);
    addWire(digest, resultToWire(answer));
  }
}

/** The keys and acquisitions of a session are those that name it: they are counted with the keys and the leases. */
function addLease(digest: Digest, lease: LeaseState): void {
  addText(digest, lease.name);
  for (const number of [lease.term, lease.transitions, lease.changed, lease.delayMs])
    addNumber(digest, number);
  addNumber(digest, lease.queue.length);
  for (const place of lease.queue) addAcquisition(digest, place);
  addNumber(digest, lease.past.length);
  for (const { term, session, holder, toRevision, end } of lease.past) {
    for (const number of [term, session, toRevision]) addNumber(digest, number);
    for (const text of [holder, end]) addText(digest, text);
  }
  addNumber(digest, lease.grant === undefined ? 0 : 1);
  if (lease.grant !== undefined) addAcquisition(digest, lease.grant);
}

function addAcquisition(digest: Digest, acquisition: Acquisition): void {
  const { session, sequence, ticket, priority, lockDelayMs, term, breakAfterMs = -1 } = acquisition;
  for (const number of [session, sequence, ticket, priority, lockDelayMs, term, breakAfterMs]) {
    addNumber(digest, number);
  }
  addNumber(digest, acquisition.names.length);
  for (const name of acquisition.names) addText(digest, name);
  addText(digest, acquisition.holder);
  addBytes(digest, acquisition.data);
  for (const word of [acquisition.format, acquisition.ending]) addText(digest, word);
  const { preference, version, zone } = acquisition.candidate;
  addNumber(digest, preference);
  for (const word of [version, zone]) addText(digest, word);
  for (const flag of [acquisition.claimed, acquisition.handover]) addNumber(digest, flag ? 1 : 0);
}

/** Numbers, truths, texts, bytes and lists of such. */
function addWire(digest: Digest, value: unknown): void {
  if (value instanceof Uint8Array) addBytes(digest, value);
  else if (Array.isArray(value)) {
    addNumber(digest, value.length);
    for (const item of value as readonly unknown[]) addWire(digest, item);
  } else addText(digest, String(value));
}

function byNumber<Item>(items: ReadonlyMap<number, Item>): readonly [number, Item][] {
  return [...items].sort(([a], [b]) => a - b);
}

/** One unit of 32 bits or fewer. The second lane rotates, so that the two never fall together. */
function add(digest: Digest, unit: number): void {
  digest.first = Math.imul(digest.first ^ unit, 0x01000193);
  const mixed = Math.imul(digest.second ^ unit, 0x85ebca6b);
  digest.second = (mixed << 13) | (mixed >>> 19);
}

function addNumber(digest: Digest, value: number): void {
  add(digest, value | 0);
  add(digest, Math.floor(value / 0x1_0000_0000));
}

function addText(digest: Digest, text: ByteString): void {
  addNumber(digest, text.length);
  for (let at = 0; at < text.length; at += 1) add(digest, text.charCodeAt(at));
}

function addBytes(digest: Digest, bytes: Uint8Array): void {
  addNumber(digest, bytes.length);
  for (let at = 0; at < bytes.length; at += 1) add(digest, bytes[at] ?? 0);
}

function hexadecimal(lane: number): string {
  return (lane >>> 0).toString(16).padStart(8, "0");
}
