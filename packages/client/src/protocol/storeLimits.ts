/**
 * The limits of the store that change what a command comes to. They are part of the replicated state, the same on
 * every node, and changed by a command; a node's own options never decide a result.
 */

export interface StoreLimits {
  /** Revisions kept for past reads and watches. */
  readonly historyRevisions: number;
  /** Bytes of what those revisions replaced or deleted, with their keys and an overhead a change. */
  readonly historyBytes: number;
  /** Bytes of all keys and values, with an overhead a pair: a write that would exceed it is refused. */
  readonly quotaBytes: number;
}

export type StoreLimitName = keyof StoreLimits;

export const storeLimitNames: readonly StoreLimitName[] = ["historyRevisions", "historyBytes", "quotaBytes"];

/** What a store starts with. All of it is in memory, several times over while a snapshot is written. */
export const defaultStoreLimits: StoreLimits = {
  historyRevisions: 100_000,
  historyBytes: 67_108_864,
  quotaBytes: 536_870_912,
};

/** From and to, both inclusive. The longest walk of a past read is over `historyRevisions`. */
export const storeLimitBounds: Readonly<Record<StoreLimitName, readonly [min: number, max: number]>> = {
  historyRevisions: [1, 1_000_000],
  historyBytes: [4_096, 1_073_741_824],
  quotaBytes: [65_536, 1_099_511_627_776],
};

export function isStoreLimit(name: StoreLimitName, value: number): boolean {
  const [min, max] = storeLimitBounds[name];
  return Number.isSafeInteger(value) && value >= min && value <= max;
}

export function storeLimitProblem(limits: Partial<StoreLimits>): string | undefined {
  for (const name of storeLimitNames) {
    const value = limits[name];
    if (value === undefined || isStoreLimit(name, value)) continue;
    const [min, max] = storeLimitBounds[name];
    return `its ${name} is ${value}, and has to be an integer from ${min} to ${max}`;
  }
  return undefined;
}
