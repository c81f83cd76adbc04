/**
 * What an opening will do about what it found: which entries stay, which floor is set, and in which
 * standing the node comes up. It reads and decides; it changes nothing, so that `quorate doctor` can say
 * the same words.
 */
import {
  type BatchStore,
  type Birth,
  type Floor,
  type Index,
  type MemberId,
  reachesFloor,
  type Seen,
  type SnapshotFiles,
  type Term,
} from "@quorate/raft";
import { findSnapshots, type StoredSnapshot } from "../snapshots/findSnapshots.ts";
import { type Base, chooseBase, raisedFloor } from "./base.ts";
import { decodeBirth } from "./birthRecord.ts";
import type { Evidence } from "./evidence.ts";
import { type Finding, loss, note } from "./finding.ts";
import type { Judgement } from "./judgement.ts";
import { positionAt } from "./readEntries.ts";
import { keptEnd, type Scan, scanLog } from "./scan.ts";
import { decodeSeen } from "./seenRecord.ts";
import type { Position, StateRecord } from "./stateRecord.ts";

export type OpenJudgement = Extract<Judgement, { kind: "open" }>;

export interface Recovery {
  /** As it comes up: `mute` is born with a floor that the kept log does not reach. */
  readonly outcome: "unborn" | "lost" | "mute" | "voter";
  readonly record: StateRecord;
  readonly birth: Birth | undefined;
  /** Where the kept log begins: the record's boundary, or where it begins anew. */
  readonly boundary: Position;
  readonly scan: Scan;
  /** Entries after this one are removed. */
  readonly keepTo: Index;
  readonly floor: Floor | undefined;
  /** Anything lies in the store that does not belong to the kept log. */
  readonly cleanUp: boolean;
  /** Newest first, at most two. */
  readonly snapshots: readonly StoredSnapshot[];
  /** Names of snapshot files that are none of them. */
  readonly leftovers: readonly string[];
  readonly seen: Map<MemberId, Seen>;
  readonly findings: readonly Finding[];
}

/** What an opening reads from. */
export interface Sources {
  readonly batches: BatchStore;
  readonly snapshots: SnapshotFiles;
}

export async function planRecovery(
  { batches, snapshots }: Sources,
  evidence: Evidence,
  judgement: OpenJudgement,
): Promise<Recovery> {
  const { record } = judgement;
  const { membership, last } = record;
  const scan = await scanLog(batches, record.boundary, last);
  const born = membership !== undefined;
  const birth = born && evidence.birth ? decodeBirth(evidence.birth, membership.genesis) : undefined;
  const faulty = scan.fault !== undefined;
  const lost = born && birth === undefined;
  const verifiedTo = faulty ? keptEnd(scan, last.index, last.term, record.boundary) : last.index;
  const found = await findSnapshots(snapshots, membership);
  const base = await chooseBase(snapshots, {
    record,
    scan,
    keepTo: verifiedTo,
    found,
    positionAt: (index) => positionAt(batches, scan.tail, index),
  });
  const floor = faulty || lost || base.stateIsGone ? raisedFloor(record.floor, record) : record.floor;
  const seen = decodeSeen(evidence.seen, record.seen);
  const kept = new Set(base.kept.map(({ name }) => name));
  return {
    outcome: !born ? "unborn" : lost ? "lost" : isMute(base, floor) ? "mute" : "voter",
    record,
    birth,
    boundary: base.boundary,
    scan: base.scan,
    keepTo: base.keepTo,
    floor,
    cleanUp: faulty || base.scan.surplus || (!born && evidence.birth !== undefined),
    snapshots: base.kept,
    leftovers: found.names.filter((name) => !kept.has(name)),
    seen: seen ?? new Map<MemberId, Seen>(),
    findings: [
      ...batchFindings(evidence, judgement),
      ...logFindings(scan, record, base),
      ...base.findings,
      ...(lost ? [loss("the record of its birth is gone")] : []),
      ...(seen === undefined ? [loss("what it had seen of its peers is gone, and is learnt anew")] : []),
    ],
  };
}

function isMute({ scan, keepTo, boundary }: Base, floor: Floor | undefined): boolean {
  return floor !== undefined && !reachesFloor(floor, keepTo, termAt(scan, keepTo, boundary.term));
}

/** The term of a scanned entry. */
export function termAt(scan: Scan, index: Index, boundaryTerm: Term): Term {
  return scan.termRuns.findLast((run) => run.firstIndex <= index)?.term ?? boundaryTerm;
}

function batchFindings(evidence: Evidence, { record, lostBatches, unwitnessed }: OpenJudgement): Finding[] {
  const findings: Finding[] = [];
  const torn = evidence.slots?.indexOf(undefined) ?? -1;
  if (torn >= 0) {
    findings.push(note(`slot ${torn} of the witness was torn; write ${record.k} is whole in the database`));
  } else if (unwitnessed) {
    findings.push(note(`write ${record.k} was not yet witnessed when the node stopped; it is kept`));
  }
  if (lostBatches > 0 && evidence.database === undefined) {
    findings.push(loss(`the database holds no state record, though write ${record.k} was witnessed`));
  } else if (lostBatches > 0) {
    findings.push(
      loss(`the database lost its last writes (${lostBatches}); write ${record.k} was witnessed`),
    );
  }
  return findings;
}

function logFindings({ fault, surplus }: Scan, { boundary, last }: StateRecord, base: Base): Finding[] {
  if (fault !== undefined) {
    const first = boundary.index + 1;
    return [
      base.keepTo > base.boundary.index || base.boundary.index === boundary.index
        ? loss(`${fault}; of entries ${first} to ${last.index}, those after ${base.keepTo} cannot be trusted`)
        : loss(`${fault}; the log begins anew after entry ${base.boundary.index}, whose snapshot is intact`),
    ];
  }
  if (surplus) return [loss("entries that had been replaced have reappeared beyond the log's end")];
  return [];
}

/** What the node will do, as a sentence. */
export function outcomeSentence(recovery: Recovery): string {
  const { outcome, floor, record } = recovery;
  switch (outcome) {
    case "voter":
      return "It starts as a voter with everything that it acknowledged.";
    case "unborn":
      return "It is not yet a member of any cluster, and starts as such.";
    case "lost":
      return (
        `It was a member of cluster ${record.membership?.clusterId}; it stays mute (no votes) until its peers ` +
        "have given it back its birth and its log, which they do by themselves. Nothing is to be done."
      );
    case "mute":
      return (
        `It stays mute (no votes) until its peers have given it back its log up to entry ` +
        `${floor?.lastIndex}, which they do by themselves. Nothing is to be done.`
      );
  }
}
