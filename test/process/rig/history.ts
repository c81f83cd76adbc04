/**
 * What clients asked and were told, and what must follow from it. Pure: verdicts about data.
 *
 * Every key is written once, so that each promise can be checked by itself: an acknowledged write is there, with its
 * value and the revision that was told; an unknown one is there at most once; a refused one is not there at all.
 */

export type WriteOutcome =
  | { readonly kind: "acknowledged"; readonly revision: number }
  /** `none`: certainly without effect; `unknown`: perhaps. */
  | { readonly kind: "failed"; readonly outcome: "none" | "unknown"; readonly code: string };

export interface WriteRecord {
  readonly key: string;
  readonly value: string;
  /** Monotonic, of the process that asked. */
  readonly invokedMs: number;
  readonly completedMs: number;
  readonly outcome: WriteOutcome;
}

export interface FoundPair {
  readonly value: unknown;
  readonly modRevision: number;
  readonly version: number;
}

function acknowledged(records: readonly WriteRecord[]): { record: WriteRecord; revision: number }[] {
  return records.flatMap((record) =>
    record.outcome.kind === "acknowledged" ? [{ record, revision: record.outcome.revision }] : [],
  );
}

/** Whether one node has everything that was promised; complaints, at most ten of them. */
export function durabilityComplaints(
  records: readonly WriteRecord[],
  found: ReadonlyMap<string, FoundPair>,
): string[] {
  const complaints: string[] = [];
  const written = new Set(records.map((record) => record.key));
  for (const { key, value, outcome } of records) {
    const pair = found.get(key);
    if (outcome.kind === "acknowledged") {
      if (pair === undefined)
        complaints.push(`${key}: acknowledged at revision ${outcome.revision}, and gone`);
      else if (pair.modRevision !== outcome.revision) {
        complaints.push(`${key}: acknowledged at ${outcome.revision}, read back at ${pair.modRevision}`);
      }
    } else if (outcome.outcome === "none" && pair !== undefined) {
      complaints.push(`${key}: failed for certain (${outcome.code}), and yet written`);
    }
    if (pair !== undefined && pair.value !== value)
      complaints.push(`${key}: ${String(pair.value)}, not ${value}`);
    if (pair !== undefined && pair.version !== 1) complaints.push(`${key}: executed ${pair.version} times`);
  }
  for (const key of found.keys()) if (!written.has(key)) complaints.push(`${key}: nobody wrote it`);
  return complaints.slice(0, 10);
}

/** Whether acknowledged revisions are unique and rise with real time. */
export function orderComplaints(records: readonly WriteRecord[]): string[] {
  const complaints: string[] = [];
  const byRevision = new Map<number, string>();
  for (const { record, revision } of acknowledged(records)) {
    const other = byRevision.get(revision);
    if (other !== undefined)
      complaints.push(`${record.key} and ${other} were both given revision ${revision}`);
    byRevision.set(revision, record.key);
  }
  const byCompletion = acknowledged(records).sort((a, b) => a.record.completedMs - b.record.completedMs);
  const byInvocation = acknowledged(records).sort((a, b) => a.record.invokedMs - b.record.invokedMs);
  let completed = 0;
  let highest = 0;
  for (const { record, revision } of byInvocation) {
    for (; completed < byCompletion.length; completed += 1) {
      const earlier = byCompletion[completed] as (typeof byCompletion)[number];
      if (earlier.record.completedMs >= record.invokedMs) break;
      highest = Math.max(highest, earlier.revision);
    }
    if (revision <= highest) {
      complaints.push(
        `${record.key}: revision ${revision}, but ${highest} was acknowledged before it was asked`,
      );
    }
  }
  return complaints.slice(0, 10);
}

/** The longest time without an acknowledged write that touches [fromMs, toMs]. */
export function longestGapMs(records: readonly WriteRecord[], fromMs: number, toMs: number): number {
  const times = acknowledged(records)
    .map(({ record }) => record.completedMs)
    .sort((a, b) => a - b);
  let longest = 0;
  for (let i = 1; i < times.length; i += 1) {
    const start = times[i - 1] as number;
    const end = times[i] as number;
    if (end >= fromMs && start <= toMs) longest = Math.max(longest, end - start);
  }
  const last = times.at(-1) ?? fromMs;
  return last < toMs ? Math.max(longest, toMs - last) : longest;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export interface Tally {
  readonly acknowledged: number;
  readonly failed: number;
  readonly unknown: number;
}

export function tally(records: readonly WriteRecord[]): Tally {
  const count = (test: (outcome: WriteOutcome) => boolean): number =>
    records.filter((record) => test(record.outcome)).length;
  return {
    acknowledged: count((outcome) => outcome.kind === "acknowledged"),
    failed: count((outcome) => outcome.kind === "failed" && outcome.outcome === "none"),
    unknown: count((outcome) => outcome.kind === "failed" && outcome.outcome === "unknown"),
  };
}
