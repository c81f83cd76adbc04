/**
 * A digest of the whole state, for comparing replicas: equal states have equal digests, whatever the order in which
 * their maps were filled.
 *
 * Two lanes of 32 bits, the first FNV-1a. It finds differences that faults make; it is no defence against someone who
 * makes two states collide on purpose.
 */
import { type ByteString, resultToWire } from "@quorate/client/protocol";
import type { SessionState, StoreState } from "./storeState.ts";

/** 16 hexadecimal digits. */
export function hashState(state: StoreState): string {
  const digest: Digest = { first: 0x811c9dc5, second: 0x9e3779b9 };
  addNumber(digest, state.revision);
  addNumber(digest, state.pairs.size);
  for (const pair of state.pairs.values()) {
    addText(digest, pair.key);
    addBytes(digest, pair.value);
    addText(digest, pair.format);
    for (const number of [pair.createRevision, pair.modRevision, pair.version]) addNumber(digest, number);
  }
  addNumber(digest, state.sessions.size);
  for (const [id, session] of state.sessions.entries()) {
    addNumber(digest, id);
    addSession(digest, session);
  }
  return hexadecimal(digest.first) + hexadecimal(digest.second);
}

interface Digest {
  first: number;
  second: number;
}

function addSession(digest: Digest, session: SessionState): void {
  addNumber(digest, session.ttlMs);
  addNumber(digest, session.ackedBelow);
  addNumber(digest, session.answers.size);
  for (const [sequence, answer] of byNumber(session.answers)) {
    addNumber(digest, sequence);
    for (const field of resultToWire(answer)) addText(digest, String(field));
  }
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
