/**
 * The limits of the protocol and of the store, and the checks of keys, values and time-to-live against them.
 *
 * These are constants of the protocol's version, the same on every node: `apply` may therefore use them. A limit that
 * an operator can set is checked before proposing, never here.
 */
import type { ByteString } from "./commands.ts";

export const maxKeyBytes = 4_096;

/** A bound of a range may lie just after the longest key: the key and one zero byte. */
export const maxRangeBoundBytes: number = maxKeyBytes + 1;

export const maxValueBytes = 1_048_576;

/** An encoded proposal, and so an entry. Above the largest key and value together, with room for what comes later. */
export const maxRequestBytes = 1_572_864;

/** Content of a snapshot in one response. */
export const maxSnapshotPartBytes = 1_048_576;

export const maxListLimit = 10_000;
export const defaultListLimit = 1_000;

/** A page of a list ends before its pairs would exceed this, but has one pair at least. */
export const maxPageBytes = 1_048_576;

/** A page of leases, as of a list: their data may be much more than a frame holds. */
export const maxLeasePageBytes = 4_194_304;

/** Counted for each pair of a page besides the bytes of its key and value. */
export const pairOverheadBytes = 64;

/**
 * What a transaction may answer, in bytes of the keys and values that it reads and their overhead; of values alone a
 * page at most. It is one answer, kept until its client has it.
 */
export const maxTransactionAnswerBytes = 4_194_304;

/** Compares of a transaction, and operations of each of its branches. */
export const maxTransactionOps = 128;

/**
 * What one transaction deletes by ranges, in keys and in bytes of what they hold: it is one revision, and one revision
 * reaches a watch whole. Above it the transaction is refused, and has to be done in parts.
 */
export const maxRangeDeletes = 10_000;
export const maxRangeDeleteBytes = 16_777_216;

/**
 * Four times the default maximal election timeout (300 ms): a session outlives one change of leader. The server
 * checks it, against its own election timeout; the state machine, which may not know that, takes any TTL from 1 ms.
 */
export const minSessionTtlMs = 1_200;
export const maxSessionTtlMs = 86_400_000;
export const defaultSessionTtlMs = 15_000;

/** Sessions alive at once in one store. */
export const maxSessions = 100_000;

/**
 * Bytes of a session's kept answers, of which none is forgotten before its client has it: from here on new commands of
 * the session are refused until it says that it has some. One answer may exceed it, by one of a transaction at most.
 */
export const maxSessionAnswerBytes = 8_388_608;

/** Keys attached to one session, all of which go in the entry that ends it. */
export const maxKeysOfSession = 10_000;

/** Leases that the store knows: held, waited for, in their delay, or remembered for the count of their grants. */
export const maxLeases = 200_000;
/** Leases that nobody holds or waits for: above this, those are forgotten that have been so for the longest. */
export const maxIdleLeases = 10_000;
/** Past grants that a name remembers. */
export const maxPastGrantsOfName = 16;
/** Past grants that all names remember: above this, a name remembers only its last one. */
export const maxPastGrants = 65_536;
/** Names in one acquire. */
export const maxNamesAtOnce = 32;
/** Places in the queue of one name. */
export const maxPlacesOfName = 10_000;
/** Leases and places of one session. */
export const maxAcquisitionsOfSession = 10_000;
export const maxLeaseNameBytes = 512;
export const maxHolderBytes = 256;
export const maxLeaseDataBytes = 65_536;
export const maxLockDelayMs = 3_600_000;
/** How long a break may let its holder go on. */
export const maxBreakAfterMs = 86_400_000;
/** Of a candidate's version, and of its zone. */
export const maxCandidateWordBytes = 64;
export const maxPreference = 1_023;
/** In absolute value. */
export const maxPriority = 2_147_483_647;
/** Sessions, or leases, in one command of the leader's. */
export const maxBatchedItems = 1_024;
/** Sessions in one request that renews them. */
export const maxRenewalsAtOnce = 1_024;

/** The longest delay that timers of Node.js take. */
export const maxRequestTimeoutMs = 2_147_483_647;

export const maxIdChars = 128;
export const maxEndpointChars = 2_048;
export const maxCodeChars = 64;
/** Longer sentences are cut off by the sender. */
export const maxMessageChars = 4_096;
export const maxReportedMembers = 256;
export const maxComplaints = 256;
/** Changes of membership in one request. */
export const maxMembershipChanges = 32;

/** A key is 1 to 4,096 bytes. */
export function isKey(key: ByteString): boolean {
  return key.length >= 1 && key.length <= maxKeyBytes && isByteString(key);
}

/** Each character is one byte. */
export function isByteString(text: string): boolean {
  return !/[\u0100-\uffff]/.test(text);
}

/** Infinity: it does not end by itself. */
export function isSessionTtl(ttlMs: number): boolean {
  return isFiniteTtl(ttlMs) || ttlMs === Number.POSITIVE_INFINITY;
}

export function isFiniteTtl(ttlMs: number): boolean {
  return Number.isSafeInteger(ttlMs) && ttlMs >= 1 && ttlMs <= maxSessionTtlMs;
}

/** As a whole number, for bytes: 0 stands for a time to live without an end. */
export function ttlToWire(ttlMs: number): number {
  return ttlMs === Number.POSITIVE_INFINITY ? 0 : ttlMs;
}

export function ttlFromWire(number: number): number {
  return number === 0 ? Number.POSITIVE_INFINITY : number;
}
