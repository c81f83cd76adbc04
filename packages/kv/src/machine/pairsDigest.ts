/**
 * A digest of all pairs that is kept from change to change: the sum of a hash of each, whatever their order. So members
 * can be compared at any time, at the cost of a hash for each change.
 *
 * Two sums of 32 bits over one hash of 32 bits a pair (MurmurHash3's mixing). It finds what faults make different; it
 * is no defence against someone who makes two states collide on purpose.
 */
import type { StoredPair } from "@quorate/client/protocol";
import type { StoreState } from "./storeState.ts";

export interface PairsDigest {
  first: number;
  second: number;
}

export function createDigest(): PairsDigest {
  return { first: 0, second: 0 };
}

export function addToDigest(digest: PairsDigest, pair: StoredPair): void {
  const hash = hashOf(pair);
  digest.first = (digest.first + finish(hash)) | 0;
  digest.second = (digest.second + finish(hash ^ 0x5bd1e995)) | 0;
}

export function takeFromDigest(digest: PairsDigest, pair: StoredPair): void {
  const hash = hashOf(pair);
  digest.first = (digest.first - finish(hash)) | 0;
  digest.second = (digest.second - finish(hash ^ 0x5bd1e995)) | 0;
}

/** The digest of the pairs, and with it the revision, the history and how much else there is. */
export function comparableDigest(state: StoreState): readonly [number, number] {
  const { revision, bytes, pairs, digest, history, limits, sessions, leases } = state;
  const { floor, size } = history;
  let hash = 0;
  const numbers = [revision, bytes, pairs.size, floor, size, history.bytes, sessions.size, leases.size];
  for (const number of [...numbers, limits.historyRevisions, limits.historyBytes, limits.quotaBytes]) {
    hash = mix(mix(hash, number | 0), Math.floor(number / 0x1_0000_0000));
  }
  // Members of releases that know no versions are compared, too: they are of the first.
  if (state.version > 1) hash = mix(mix(hash, state.version), state.graceMs);
  return [(digest.first + finish(hash)) >>> 0, (digest.second + finish(hash ^ 0x5bd1e995)) >>> 0];
}

function hashOf({
  key,
  value,
  format,
  createRevision,
  modRevision,
  version,
  session = 0,
}: StoredPair): number {
  let hash = key.length;
  for (let at = 0; at < key.length; at += 1) hash = mix(hash, key.charCodeAt(at));
  hash = mix(hash, value.length);
  const { length } = value;
  const words = length - (length % 4);
  // Words of four bytes, the lowest first: the hash of a value is most of what a write costs here.
  const view = new DataView(value.buffer, value.byteOffset, length);
  for (let at = 0; at < words; at += 4) hash = mix(hash, view.getInt32(at, true));
  for (let at = words; at < length; at += 1) hash = mix(hash, value[at] as number);
  hash = mix(hash, format.charCodeAt(0));
  for (const number of [createRevision, modRevision, version, session]) {
    hash = mix(mix(hash, number | 0), Math.floor(number / 0x1_0000_0000));
  }
  return hash;
}

function mix(hash: number, unit: number): number {
  let word = Math.imul(unit, 0xcc9e2d51);
  word = Math.imul((word << 15) | (word >>> 17), 0x1b873593);
  const mixed = hash ^ word;
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

function finish(hash: number): number {
  let word = hash ^ (hash >>> 16);
  word = Math.imul(word, 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
  return word ^ (word >>> 16);
}
