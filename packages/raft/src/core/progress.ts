/**
 * What a leader knows of one follower: how far its log is equal, what is on its way, when it was last heard.
 *
 * `probe` finds where the logs agree, one append in flight; `replicate` sends ahead inside a window; `snapshot` sends
 * what is compacted away. Always `match < next`, and `match` never falls within a session. Pure bookkeeping: nothing
 * here sends.
 */
import type { ChunkLoad, CoreOptions, Load } from "./contract.ts";
import { invariant } from "./invariant.ts";
import { asIndex, type Index, type MemberId, type SnapshotHeader } from "./types.ts";

export interface InflightAppend {
  /** The last entry that the append carried, or its `prevIndex`. */
  readonly lastIndex: Index;
  readonly bytes: number;
  readonly sentMs: number;
}

/** A snapshot on its way to a follower. */
export interface SnapshotTransfer {
  readonly header: SnapshotHeader;
  /** Bytes of content that the follower has, once it has answered at all. */
  offset: number;
  isAnswered: boolean;
  /** The chunk that an answer is awaited to. */
  asked: { readonly offset: number } | undefined;
  load: ChunkLoad | undefined;
  /** Since the last answer. */
  attempts: number;
  /** So often all was there, and the follower began anew. */
  restarts: number;
  /** When something is to be done next. */
  dueMs: number;
  /** No chunk leaves before, so that the link is left to others. */
  notBeforeMs: number;
}

export interface Progress {
  readonly id: MemberId;
  session: number;
  mode: "probe" | "replicate" | "snapshot";
  /** The follower's log is durably equal to ours up to here, as this session learnt. */
  match: Index;
  /** The next entry to send. */
  next: Index;
  /** Appends that are not covered by an ack, oldest first. */
  inflight: InflightAppend[];
  inflightBytes: number;
  /** The commit index that the follower can have learnt from what was sent. */
  sentCommit: Index;
  /** An empty append is due: something sent seems to be lost. */
  emptyOwed: boolean;
  /** Entries asked for from the log store, at most once at a time. */
  load: Load | undefined;
  loadSentMs: number;
  /** Set exactly while `mode` is snapshot. */
  transfer: SnapshotTransfer | undefined;
  /** It was sent a snapshot of `from` and is not up to date yet; since then `newer` ones were taken here. */
  hold: { readonly from: Index; newer: number } | undefined;
  /** A promotion goes by rounds: this one ends when the follower has what the log held when it began. */
  roundEnd: Index;
  roundStartMs: number;
  /** When an answer in our own term last came, or is taken to have come: a new leader, and one after a pause, waits. */
  heardMs: number;
  /** When one really came; -Infinity: none did yet. */
  answeredMs: number;
  /** The newest read token answered. */
  token: number;
}

export function createProgress(id: MemberId, session: number, next: Index, nowMs: number): Progress {
  return {
    id,
    session,
    mode: "probe",
    match: asIndex(0),
    next,
    inflight: [],
    inflightBytes: 0,
    sentCommit: asIndex(0),
    emptyOwed: false,
    load: undefined,
    loadSentMs: 0,
    transfer: undefined,
    hold: undefined,
    roundEnd: asIndex(next),
    roundStartMs: nowMs,
    heardMs: nowMs,
    answeredMs: Number.NEGATIVE_INFINITY,
    token: 0,
  };
}

/** An answer in our own term came. */
export function noteAnswer(peer: Progress, nowMs: number): void {
  peer.heardMs = nowMs;
  peer.answeredMs = nowMs;
}

/** Starts anew: answers to what was sent before are dropped, and nothing is known to be equal. */
export function beginSession(peer: Progress, session: number): void {
  invariant(session > peer.session, "sessions rise", { session, before: peer.session });
  peer.session = session;
  peer.next = asIndex(peer.match + 1);
  peer.match = asIndex(0);
  enterProbe(peer, peer.next);
}

export function enterProbe(peer: Progress, next: Index): void {
  invariant(next > peer.match, "match < next", { match: peer.match, next });
  peer.mode = "probe";
  peer.next = next;
  peer.sentCommit = asIndex(0);
  peer.emptyOwed = false;
  peer.load = undefined;
  peer.transfer = undefined;
  clearInflight(peer);
}

export function clearInflight(peer: Progress): void {
  peer.inflight.length = 0;
  peer.inflightBytes = 0;
}

/** The follower acknowledged up to `match`. True when that is news. */
export function raiseMatch(peer: Progress, match: Index): boolean {
  const news = match > peer.match;
  if (news) peer.match = match;
  if (peer.mode === "snapshot") return news;
  while (peer.mode === "replicate" && peer.inflight.length > 0 && peer.inflight[0]!.lastIndex <= peer.match) {
    peer.inflightBytes -= peer.inflight.shift()!.bytes;
  }
  if (peer.mode === "replicate") {
    if (peer.next <= peer.match) peer.next = asIndex(peer.match + 1);
  } else if (match >= peer.next - 1) {
    enterReplicate(peer);
  }
  return news;
}

/**
 * The probe's previous entry is matched. What the probe carried counts as sent; if it was lost, that is found
 * out.
 */
function enterReplicate(peer: Progress): void {
  const sent = peer.inflight[0]?.lastIndex ?? 0;
  peer.mode = "replicate";
  peer.next = asIndex(Math.max(peer.match, sent) + 1);
  if (sent <= peer.match) clearInflight(peer);
}

export function recordSent(peer: Progress, lastIndex: Index, bytes: number, nowMs: number): void {
  peer.inflight.push({ lastIndex, bytes, sentMs: nowMs });
  peer.inflightBytes += bytes;
  if (peer.mode === "replicate") peer.next = asIndex(lastIndex + 1);
}

export function hasRoom(peer: Progress, options: CoreOptions): boolean {
  return peer.inflight.length < options.maxInflightAppends && peer.inflightBytes < options.maxInflightBytes;
}

/** True when an append has been without an ack for longer than `patienceMs`. */
export function isOverdue(peer: Progress, nowMs: number, patienceMs: number): boolean {
  const oldest = peer.inflight[0];
  return oldest !== undefined && nowMs - oldest.sentMs >= patienceMs;
}
