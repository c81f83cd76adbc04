/**
 * What the log that an opening keeps stands on: its boundary, and the snapshots that go with it.
 *
 * The state record's boundary is the pointer. A snapshot beyond the log's end was never installed, and does not count;
 * one below the boundary is of no use. One within counts where its chain value is the log's. Where the log is faulty
 * above a good snapshot, the log begins anew at that: what a snapshot holds is committed. Where the log begins above 0
 * and no good one is left, everything is given back by the peers.
 */
import { asIndex, asTerm, type Floor, type Index, QuorateError, type SnapshotFiles } from "@quorate/raft";
import { type FoundSnapshots, isIntact, type StoredSnapshot } from "../snapshots/findSnapshots.ts";
import { type Finding, loss } from "./finding.ts";
import type { Scan } from "./scan.ts";
import { origin, type Position, type StateRecord } from "./stateRecord.ts";
import { Tail } from "./tail.ts";

export interface Base {
  readonly boundary: Position;
  /** Of the log that is kept, from `boundary` on. */
  readonly scan: Scan;
  /** Entries after this one are removed. */
  readonly keepTo: Index;
  /** Newest first, at most two; the newest is intact. */
  readonly kept: readonly StoredSnapshot[];
  /** The state up to the boundary is gone, and the log with it. */
  readonly stateIsGone: boolean;
  readonly findings: readonly Finding[];
}

/** What there is to choose from. */
export interface Remains {
  readonly record: StateRecord;
  readonly scan: Scan;
  /** The end of the log that verifies. */
  readonly keepTo: Index;
  readonly found: FoundSnapshots;
  /** Undefined where the log does not hold it. */
  positionAt(index: Index): Promise<Position | undefined>;
}

export async function chooseBase(files: SnapshotFiles, remains: Remains): Promise<Base> {
  const { record, scan, keepTo } = remains;
  const { boundary } = record;
  const { kept, findings } = await usable(files, remains);
  const newest = kept[0];
  if (newest === undefined && boundary.index > 0) {
    const start: Position = { ...origin, chain: record.membership?.genesis ?? 0 };
    const gone = loss(`no intact snapshot is left, and the log begins after entry ${boundary.index}`);
    return { ...anew(start, scan), kept, stateIsGone: true, findings: [...findings, gone] };
  }
  if (newest !== undefined && newest.header.boundary.index > keepTo) {
    const { header } = newest;
    const start: Position = { ...header.boundary, chain: header.chain };
    return { ...anew(start, scan), kept: [newest], stateIsGone: false, findings };
  }
  return { boundary, scan, keepTo, kept, stateIsGone: false, findings };
}

/** A log that ends where it begins. */
function anew(start: Position, { fault }: Scan): Pick<Base, "boundary" | "scan" | "keepTo"> {
  const scan: Scan = { tail: new Tail(start), termRuns: [], configurations: [], fault, surplus: true };
  return { boundary: start, scan, keepTo: start.index };
}

/** The newest intact one, and the one before it. */
async function usable(
  files: SnapshotFiles,
  remains: Remains,
): Promise<{ readonly kept: readonly StoredSnapshot[]; readonly findings: readonly Finding[] }> {
  const kept: StoredSnapshot[] = [];
  const findings: Finding[] = [];
  for (const name of remains.found.unusable) findings.push(loss(`${name} is no snapshot that can be used`));
  for (const snapshot of remains.found.whole) {
    if (kept.length === 2) break;
    if (!(await fits(snapshot, remains))) continue;
    const damage = kept.length > 0 ? undefined : await damageOf(files, snapshot);
    if (damage === undefined) kept.push(snapshot);
    else findings.push(loss(`the snapshot at entry ${snapshot.header.boundary.index} ${damage}`));
  }
  return { kept, findings };
}

async function fits({ header }: StoredSnapshot, remains: Remains): Promise<boolean> {
  const { record, keepTo } = remains;
  const { index, term } = header.boundary;
  if (index < record.boundary.index || index > record.last.index) return false;
  if (index > keepTo) return true;
  const position = index === record.boundary.index ? record.boundary : await remains.positionAt(index);
  return position?.term === term && position.chain === header.chain;
}

/** As a clause; undefined where it is intact. A file that cannot be read is as good as damaged. */
async function damageOf(files: SnapshotFiles, snapshot: StoredSnapshot): Promise<string | undefined> {
  try {
    return (await isIntact(files, snapshot)) ? undefined : "is damaged";
  } catch (error) {
    // A node that runs may have removed it since: whoever examines its directory looks again.
    const isGone = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (error instanceof QuorateError || isGone) throw error;
    return `cannot be read (${error instanceof Error ? error.message : String(error)})`;
  }
}

/** The floor of a node whose state or log is gone: each part the larger, so that what reaches it reaches both. */
export function raisedFloor(floor: Floor | undefined, { last }: StateRecord): Floor {
  if (floor === undefined) return { lastIndex: last.index, lastTerm: last.term };
  return {
    lastIndex: asIndex(Math.max(last.index, floor.lastIndex)),
    lastTerm: asTerm(Math.max(last.term, floor.lastTerm)),
  };
}
